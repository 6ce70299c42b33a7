"""A form that arrives after its session has expired is kept, so that the user can send it after the login.

The fields travel through the login page and back; the server stores nothing for somebody who is not logged in. Only a short form
of a browser that had a session is kept; files have to be chosen again.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Self

from fastapi import Request
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from discreet.web.auth.security import SESSION_COOKIE

MAX_BYTES = 256 << 10
"""Longest body of a form that is kept."""
MAX_TEXT = 4 * MAX_BYTES
"""Longest text of a kept form on the login page."""
MAX_SECONDS = 5.0
"""Longest time to wait for a form that is kept."""
_FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")
_SECRETS = ("csrf", "password", "again", "old")


@dataclass(frozen=True)
class KeptForm:
    """The address that a form was sent to, and its fields."""

    action: str
    fields: tuple[tuple[str, str], ...]

    def to_text(self) -> str:
        """The form as a hidden field of the login page."""
        return json.dumps([self.action, self.fields])

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        """The form that the login page sent back; None if there is none, or if it is not one for this server."""
        try:
            action, fields = json.loads(text)
            pairs = tuple((str(name), str(value)) for name, value in fields)
        except (ValueError, TypeError, RecursionError):
            return None
        is_local = isinstance(action, str) and action.startswith("/") and not action.startswith(("//", "/\\"))
        return cls(action, pairs) if is_local else None


async def read_form(request: Request) -> KeptForm | None:
    """The form of a request whose session has expired; None if it is not to be kept."""
    length = request.headers.get("content-length", "")
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if (
        SESSION_COOKIE not in request.cookies
        or content_type not in _FORM_TYPES
        or not length.isdecimal()
        or int(length) > MAX_BYTES
    ):
        return None
    try:
        async with asyncio.timeout(MAX_SECONDS), request.form(max_fields=5_000, max_part_size=MAX_BYTES) as form:
            return KeptForm(request.url.path, _text_fields(form))
    except (HTTPException, TimeoutError, ClientDisconnect):  # malformed, or not sent in time
        return None


def _text_fields(form: FormData) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in form.multi_items() if isinstance(value, str) and name not in _SECRETS)
