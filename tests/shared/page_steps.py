"""Steps in the browser that many walks begin with."""

from __future__ import annotations

import re
from pathlib import Path

from patience import browser_wait
from playwright.sync_api import Page

LONG = browser_wait(120)


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
