"""The index finds the same route as the router that tries them one after the other."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi.routing import APIRoute
from hypothesis import given
from hypothesis import strategies as st
from starlette.routing import Match

from discreet.web import api
from discreet.web.pages import routes
from discreet.web.route_index import RouteIndex

EVERY = [route for route in [*api.router.routes, *routes.router.routes] if isinstance(route, APIRoute)]
ROUTES = [route for route in EVERY if ":path}" not in route.path]
"""Without those whose last parameter spans segments: they stay with the router."""
SEGMENTS = sorted({segment for route in ROUTES for segment in route.path.split("/") if "{" not in segment})


async def note_request(scope: Any, _receive: Any, _send: Any) -> None:
    """In place of the router: note that it was asked."""
    scope["asked"] = True


INDEX = RouteIndex(EVERY, note_request)


def fill(path: str, value: str) -> str:
    """An address of a route, with a value in place of each parameter."""
    return "/".join(value if "{" in segment else segment for segment in path.split("/"))


addresses = st.one_of(
    st.builds(
        fill, st.sampled_from([route.path for route in ROUTES]), st.sampled_from(["1", "a.b", "", "0" * 32, "preview", "%2F"])
    ),
    st.lists(st.sampled_from([*SEGMENTS, "7", "x", ""]), max_size=6).map(lambda parts: "/" + "/".join(parts)),
)


def first_match(routes: list[APIRoute], scope: dict[str, Any]) -> APIRoute | None:
    """The first route that matches an address and a method."""
    return next((route for route in routes if route.matches(dict(scope))[0] is Match.FULL), None)


@given(addresses, st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "BREW"]))
def test_the_index_finds_the_route_that_the_router_finds(address: str, method: str) -> None:
    scope = {"type": "http", "path": address, "method": method, "root_path": ""}
    router_answer = first_match(EVERY, scope)
    assert (first_match(INDEX.find(address), scope) or router_answer) is router_answer
    if router_answer in ROUTES:
        assert first_match(INDEX.find(address), scope) is router_answer


def test_every_route_is_in_the_index() -> None:
    assert all(route in INDEX.find(fill(route.path, "1")) for route in ROUTES)


def test_what_no_route_answers_goes_to_the_router() -> None:
    for scope in ({"type": "lifespan"}, {"type": "http", "path": "/nowhere", "method": "GET"}):
        asyncio.run(INDEX(scope, None, None))  # type: ignore[arg-type]
        assert scope["asked"]
