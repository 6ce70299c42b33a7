"""What the routers share: how failures are documented, and numbers in addresses."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path

from discreet.web.api.models import Failure

ProjectId = Annotated[int, Path(ge=1, le=2**31 - 1, description="The project's number.")]
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]

FAILURES: dict[int | str, dict[str, Any]] = {
    400: {"model": Failure, "description": "What was sent is not a request."},
    401: {"model": Failure, "description": "Nobody is logged in, or the token is not one."},
    403: {"model": Failure, "description": "The token's scopes or the person's role do not allow it."},
    404: {"model": Failure, "description": "There is no such thing that you may see."},
    409: {"model": Failure, "description": "Somebody else changed it, or it is taken; detail says what and by whom."},
    413: {"model": Failure, "description": "More bytes than are allowed."},
    422: {"model": Failure, "description": "What was sent breaks a rule, which message says."},
    429: {"model": Failure, "description": "Too many; Retry-After says when to try again."},
    507: {"model": Failure, "description": "The server's disk is full."},
}


def router(tag: str) -> APIRouter:
    """A router whose failures are documented."""
    return APIRouter(tags=[tag], responses=FAILURES)
