"""Errors of requests, each with its HTTP status; the message is a sentence for the user."""

from __future__ import annotations

from typing import Any

from discreet.errors import DiscreetError


class WebError(DiscreetError):
    """Base class: a request that cannot be fulfilled."""

    status = 400

    def __init__(self, message: str, **detail: Any) -> None:
        super().__init__(message)
        self.detail = detail


class InvalidRequest(WebError):
    """The request is invalid."""

    status = 422


class Unauthenticated(WebError):
    """Nobody is logged in, or the token is invalid."""

    status = 401


class Forbidden(WebError):
    """The user is not allowed to do this."""

    status = 403


class LoginRefused(Forbidden):
    """Somebody could not be logged in through the provider of single sign-on."""


class ProviderUnavailable(WebError):
    """The provider of single sign-on cannot be reached, or its answer cannot be used."""

    status = 502


class NotFound(WebError):
    """The object does not exist, or the user is not allowed to see it."""

    status = 404


class TimedOut(WebError):
    """The request did not arrive in time."""

    status = 408


class Conflict(WebError):
    """Somebody else changed the object, or the name is taken; ``detail`` says what and by whom."""

    status = 409


class TooLarge(WebError):
    """The upload exceeds the size limit."""

    status = 413


class TooManyRequests(WebError):
    """Too many attempts; ``detail['seconds']`` is the time to wait."""

    status = 429


class DiskFull(WebError):
    """The server's disk, or the room that a quota leaves, is full."""

    status = 507
