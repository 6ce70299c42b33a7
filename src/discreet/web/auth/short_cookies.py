"""Cookies that live for minutes, while somebody logs in."""

from __future__ import annotations

from fastapi import Response

from discreet.web.settings import Settings


def set_short_cookie(response: Response, name: str, value: str, seconds: float, settings: Settings) -> None:
    """Set a cookie that scripts cannot read and that other sites' pages cannot send, except by a link."""
    response.set_cookie(
        name, value, max_age=int(seconds), httponly=True, samesite="lax", secure=settings.secure, path=settings.path or "/"
    )  # fmt: skip


def delete_short_cookie(response: Response, name: str, settings: Settings) -> None:
    """Delete such a cookie."""
    response.delete_cookie(name, httponly=True, samesite="lax", secure=settings.secure, path=settings.path or "/")
