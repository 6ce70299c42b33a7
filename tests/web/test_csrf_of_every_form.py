"""Every form of every page is refused without the session's CSRF token: a form that is added later is found here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from discreet.web.projects.projects import Project

BEFORE_LOGIN = ("/login", "/login/code", "/login/enrol", "/welcome/{secret}", "/rescue/{secret}")
"""Forms of people who have no session yet."""
SHOWS_ONLY = ("/kept",)
"""Shows a form again, which then needs the token itself."""


def post_routes(router: Any) -> Iterator[str]:
    """The paths of pages that accept POST, of all routers that are included."""
    for route in router.routes:
        inner = getattr(route, "original_router", None) or getattr(route, "router", None)
        if "POST" in (getattr(route, "methods", None) or ()):
            yield route.path
        elif inner is not None and hasattr(inner, "routes"):
            yield from post_routes(inner)


@pytest.mark.trust("Nobody in", "Every form of every page is refused without the token of its session")
def test_every_form_needs_the_token_of_the_session(logged_in: TestClient, project: Project, record_property: Any) -> None:
    from discreet.web.pages import routes

    paths = sorted(set(post_routes(routes.router)) - set(BEFORE_LOGIN) - set(SHOWS_ONLY))
    record_property("forms tried", len(paths))
    assert len(paths) > 20, paths
    logged_in.headers.pop("x-csrf-token")
    accepted = {}
    for path in paths:
        address = re.sub(r"\{number[^}]*\}", str(project.id), path)
        address = re.sub(r"\{[^}]+\}", "1", address)
        for sent in ({}, {"csrf": ""}, {"csrf": "x" * 43}):
            answer = logged_in.post(address, data={**sent, "name": "x"})
            if answer.status_code != 403:
                accepted[f"{path} {sent}"] = answer.status_code
    assert accepted == {}
