"""Shared by the routers: documented error responses and path parameters."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path

from discreet.web.api.models import Failure

ProjectId = Annotated[int, Path(ge=1, le=2**31 - 1, description="The project's number.")]
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]

PREFIX = "/api/v1"

FAILURES: dict[int | str, dict[str, Any]] = {
    400: {"model": Failure, "description": "Malformed request."},
    401: {"model": Failure, "description": "Not logged in, or invalid token."},
    403: {"model": Failure, "description": "The token's scopes or the user's role do not allow it."},
    404: {"model": Failure, "description": "Does not exist, or not visible to you."},
    409: {"model": Failure, "description": "Changed by somebody else, or name taken; detail says what and by whom."},
    413: {"model": Failure, "description": "The upload exceeds the size limit."},
    422: {"model": Failure, "description": "Invalid request; message says why."},
    429: {"model": Failure, "description": "Too many requests; see Retry-After."},
    507: {"model": Failure, "description": "The server's disk is full."},
}


def create_router(tag: str) -> APIRouter:
    """Create a router that documents the error responses."""
    return APIRouter(prefix=PREFIX, tags=[tag], responses=FAILURES)
