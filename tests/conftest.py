"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from hypothesis import settings
from playwright.sync_api import Browser, Page, sync_playwright

from discreet.report.browser import chromium

# a busy machine is slow now and then, which says nothing about the code
settings.register_profile("discreet", deadline=None, print_blob=True)
settings.load_profile("discreet")

# one answer to how wide a terminal is and whether it has colours, whoever runs the tests
os.environ["COLUMNS"] = "120"
os.environ["NO_COLOR"] = "1"
os.environ.pop("FORCE_COLOR", None)


INSTALL = "these tests open pages in a real browser; as root run:  apt-get update && apt-get install -y chromium"
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
)  # fmt: skip
_AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """This machine's Chromium; a test that cannot have it fails.

    A module's own, because Playwright holds the thread's event loop while it runs, and nothing else could have one.
    """
    path = chromium()
    assert path, INSTALL
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield opened
        opened.close()


@dataclass
class Watched:
    """A page with everything it asked for and complained of since it was made."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def outside(self, home: str = "") -> list[str]:
        """What was asked for beyond files and data of the page's own, and the address ``home``."""
        own = ("file:", "data:", "blob:", "about:", *([home] if home else []))
        return [address for address in self.requests if not address.startswith(own)]


@pytest.fixture
def watched(browser: Browser) -> Iterator[Callable[..., Watched]]:
    """Make an empty page that is watched: ``watched(color_scheme="dark", viewport={"width": 390, "height": 844})``."""
    contexts = []

    def make(**options: Any) -> Watched:
        context = browser.new_context(**options)
        contexts.append(context)
        made = Watched(context.new_page())
        made.page.on("request", lambda request: made.requests.append(request.url))
        made.page.on("pageerror", lambda error: made.complaints.append(str(error)))
        made.page.on("console", lambda said: said.type in ("error", "warning") and made.complaints.append(said.text))
        return made

    yield make
    for context in contexts:
        context.close()


def _axe_faults(page: Page) -> list[str]:
    # a devtools evaluation is not bound by the page's own content security policy, a script tag would be
    page.evaluate(_AXE.read_text(encoding="utf-8"))
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{fault['impact']} {fault['id']}: {fault['help']} at {node['html'][:160]}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


@pytest.fixture(scope="session")
def axe_faults() -> Callable[[Page], list[str]]:
    """The serious and critical accessibility faults that axe-core finds in a page, one sentence each."""
    return _axe_faults
