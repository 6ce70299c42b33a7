"""The pages of a second factor in a real browser: accessible, and the picture that an app scans is there."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from discreet.web.auth import accounts, second_factor, totp
from discreet.web.serving import open_transaction


def test_a_user_of_whom_it_is_required_sets_it_up_and_logs_in_with_it(
    server: Any, watched: Callable[..., Any], check_page: Callable[..., None]
) -> None:
    with open_transaction(server.home, None) as connection:
        user, secret = accounts.add(connection, "Frida Factor")
        accounts.set_password_with_link(connection, secret, server.password)
        second_factor.set_required(connection, user.name, True, by="test")
    seen = watched(viewport={"width": 1280, "height": 900})
    page = seen.page

    def log_in() -> None:
        page.goto(f"{server.url}/login")
        page.get_by_label("Name").fill(user.name)
        page.get_by_label("Password").fill(server.password)
        page.get_by_role("button", name="Log in").click()

    log_in()
    page.get_by_role("img", name="QR code").wait_for()
    check_page(seen, "second-factor-enrol")
    key = page.locator("li code").inner_text().replace(" ", "")
    page.get_by_label("Code that the app shows").fill(totp.compute_code(key, int(time.time() // 30) - 1))
    page.get_by_role("button", name="Turn on").click()
    page.get_by_role("heading", name="Recovery codes").wait_for()
    check_page(seen, "second-factor-recovery")
    page.get_by_role("link", name="I have stored them").click()
    page.wait_for_url(f"{server.url}/")
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url(f"{server.url}/login")
    log_in()
    page.get_by_role("heading", name="Enter your code").wait_for()
    check_page(seen, "second-factor-code")
    page.get_by_label("Code").fill(totp.compute_code(key, int(time.time() // 30)))
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{server.url}/")
