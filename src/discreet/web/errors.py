"""What a request can fail with, each with its HTTP status; the text is a sentence for a person."""

from __future__ import annotations

from typing import Any

from discreet.errors import DiscreetError


class WebError(DiscreetError):
    """Base: a request that cannot be answered as asked."""

    status = 400

    def __init__(self, message: str, **detail: Any) -> None:
        super().__init__(message)
        self.detail = detail


class Invalid(WebError):
    """What was sent breaks a rule."""

    status = 422


class Unknown(WebError):
    """Nobody is logged in, or the token is not one."""

    status = 401


class Forbidden(WebError):
    """The person may not do this."""

    status = 403


class NotFound(WebError):
    """There is no such thing, or this person may not know of it."""

    status = 404


class Conflict(WebError):
    """Somebody else changed it, or it is taken; ``detail`` says what and by whom."""

    status = 409


class TooLarge(WebError):
    """More bytes than are allowed."""

    status = 413


class TooMany(WebError):
    """Too many tries; ``detail['seconds']`` says how long to wait."""

    status = 429
