"""The page of the REST API in a browser: accessible, and it can send a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def test_the_api_reference_is_accessible_and_sends_a_request(
    visit: Callable[..., Any], check_page: Callable[[Any, str], None], server: Any
) -> None:
    seen = visit()
    seen.page.goto(f"{server.url}/api/docs")
    check_page(seen, "api")
    request = seen.page.locator('details[data-path="/api/v1/me"]')
    request.locator("summary").click()
    request.get_by_role("button", name="Try it").click()
    answer = request.locator("pre")
    answer.wait_for()
    assert '"name": "admin"' in answer.inner_text()
    check_page(seen, "api-tried")
    seen.page.get_by_role("link", name="openapi.json").click()
    assert seen.page.url.endswith("/api/openapi.json")
