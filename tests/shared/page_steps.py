"""Steps in the browser that many walks begin with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from patience import browser_wait, wait_until
from playwright.sync_api import Page

from discreet.web.auth import accounts
from discreet.web.serving import open_transaction

LONG = browser_wait(120)


def add_person(server: Any, name: str) -> str:
    """An account that has set its password."""
    with open_transaction(server.home, None) as connection:
        _, secret = accounts.add(connection, name)
        accounts.set_password_with_link(connection, secret, server.password)
    return name


def make_project(page: Page, url: str, name: str) -> str:
    """Create a project; returns its address."""
    page.goto(f"{url}/projects/new")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Create project").click()
    page.wait_for_url(re.compile(r"/projects/\d+/data$"))
    return page.url.removesuffix("/data")


def import_file(page: Page, file: Path) -> None:
    """Choose a file on the data page, wait for its preview, and import it as it was recognised."""
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Upload", exact=True).click()
    page.wait_for_url(re.compile(r"/data/preview/[0-9a-f]{32}"), timeout=LONG)
    page.get_by_role("button", name="Import", exact=True).click(timeout=LONG)
    page.wait_for_url(re.compile(r"/data$"), timeout=LONG)


def wait_for_image(page: Page, selector: str, least_width: int) -> None:
    """Wait until the first such image is drawn, wider than so many pixels.

    Not by ``wait_for_function``, which the pages' content security policy forbids as soon as it has to look twice.
    """
    image = page.locator(selector).first
    image.scroll_into_view_if_needed()
    wait_until(lambda: image.evaluate("image => image.naturalWidth") > least_width, f"{selector} is not drawn", pause=0.2)
