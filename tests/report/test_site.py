"""The documentation site is built without a warning, loads nothing from other sites, and opens in a browser."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "index.html", "tutorials/five_commands.html", "theory/certified_bounds.html", "how-to/report.html", "methods/known_sets.html",
    "reference/package.html", "reference/command_line.html",
)  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_of_the_documentation_is_in_the_site(site: Path) -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs")).with_suffix(".html").exists(), f"{page.name} is not in the site"


def test_no_page_loads_anything_from_another_site(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="(https?:)?//[^"]*"', page.read_text())
        assert not loaded, f"{page.name} loads from another site"


def test_no_formula_is_left_as_its_source(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = re.sub(r"<(pre|code)\b.*?</\1>", "", page.read_text(), flags=re.DOTALL)
        assert not re.findall(r"\\(?:sum|frac|mathrm|prod|le|subseteq)\b", text), f"{page.name} shows LaTeX"


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """The site on a server of this machine."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    handler.func.log_message = lambda *_: None  # type: ignore[method-assign]
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_site_opens_without_requests_errors_or_accessibility_faults(
    scheme: str, address: str, watched: Callable[..., Any], axe_faults: Callable[..., list[str]]
) -> None:
    for name in PAGES if scheme == "light" else PAGES[::3]:  # only colours differ
        seen = watched(color_scheme=scheme)
        seen.page.goto(f"{address}/{name}")
        seen.page.wait_for_load_state("networkidle")
        assert seen.page.get_attribute("html", "data-bs-theme") == scheme
        assert not seen.outside(address), name
        assert not seen.complaints, name
        assert not axe_faults(seen.page), name


def test_on_a_phone_no_page_is_wider_than_the_screen(site: Path, address: str, watched: Callable[..., Any]) -> None:
    seen = watched(viewport={"width": 390, "height": 844})
    formulas = [f"theory/{page.name}" for page in (site / "theory").glob("*.html")]
    for name in {*PAGES, *formulas}:
        seen.page.goto(f"{address}/{name}")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390, name


def test_every_image_of_the_site_is_loaded(site: Path, address: str, watched: Callable[..., Any]) -> None:
    pages = [page.relative_to(site) for page in site.rglob("*.html") if "<img " in page.read_text()]
    assert pages
    seen = watched()
    for page in pages:
        seen.page.goto(f"{address}/{page}")
        sizes = seen.page.evaluate("[...document.images].map(image => image.complete && image.naturalWidth)")
        assert all(size > 50 for size in sizes), page
    assert not seen.complaints


def test_formulas_are_rendered_as_mathml(address: str, watched: Callable[..., Any]) -> None:
    seen = watched()
    seen.page.goto(f"{address}/theory/certified_bounds.html")
    assert seen.page.locator("math").count() > 40


def test_no_heading_begins_with_a_digit_because_the_theme_cannot_link_to_it(site: Path) -> None:
    for page in site.rglob("*.html"):
        wrong = re.findall(r'<h[1-6] id="(\d[^"]*)"', page.read_text()) if page.name != "404.html" else []
        assert not wrong, f"{page.name}: begin these headings with a word: {wrong}"
