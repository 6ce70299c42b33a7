"""Shared by the routers: documented error responses and path parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Response

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


@dataclass(frozen=True)
class Paging:
    """Which part of a list a request asks for."""

    offset: int
    limit: int

    @property
    def stop(self) -> int:
        """The end of what to fetch: one entry more than is sent, to know whether there is a next page."""
        return self.offset + self.limit + 1

    def send(self, response: Response, fetched: Sequence[Any]) -> list[Any]:
        """The entries of the page; the header Link names the next one where there are more."""
        if len(fetched) > self.limit:
            response.headers["Link"] = f'<?offset={self.offset + self.limit}&limit={self.limit}>; rel="next"'
        return list(fetched[: self.limit])


def read_paging(
    offset: Annotated[int, Query(ge=0, le=10**9, description="Entries to leave out at the beginning.")] = 0,
    limit: Annotated[int, Query(ge=1, le=500, description="Most entries; the header Link names the next page, if any.")] = 100,
) -> Paging:
    """The page that a request asks for."""
    return Paging(offset, limit)


PageOf = Annotated[Paging, Depends(read_paging)]
PAGED: dict[int | str, dict[str, Any]] = {
    200: {
        "headers": {
            "Link": {"description": 'The next page, as rel="next"; absent on the last one.', "schema": {"type": "string"}}
        }
    }
}


def create_router(tag: str) -> APIRouter:
    """Create a router that documents the error responses."""
    return APIRouter(prefix=PREFIX, tags=[tag], responses=FAILURES)
