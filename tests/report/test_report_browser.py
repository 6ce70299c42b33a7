"""A real browser opens the report: no requests, no console errors, every chart is drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discreet.model.results import Release
from discreet.report.evidence import gather
from discreet.report.page import render

LIVE = "html.live-page"
MARKS = ".mark-rect path, .mark-rect rect, .mark-symbol path"
OUR_COLOURS = {"rgb(213, 94, 0)", "rgb(0, 114, 178)", "rgb(0, 158, 115)"}
OUR_COLOURS_IN_THE_DARK = {"rgb(240, 128, 60)", "rgb(86, 180, 233)", "rgb(47, 199, 154)"}


@pytest.fixture
def file(page: str, tmp_path: Path) -> str:
    path = tmp_path / "report.html"
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_opens_without_requests_errors_or_accessibility_faults(
    scheme: str, file: str, watched: Callable[..., Any], axe_faults: Callable[..., list[str]]
) -> None:
    seen = watched(color_scheme=scheme)
    seen.page.goto(file)
    seen.page.wait_for_selector(LIVE)
    assert "Release report" in seen.page.inner_text("h1")
    assert seen.requests == [file]
    assert not seen.complaints
    assert not axe_faults(seen.page)


@pytest.mark.parametrize(("scheme", "colours"), [("light", OUR_COLOURS), ("dark", OUR_COLOURS_IN_THE_DARK)])
def test_every_chart_is_drawn_in_colours_of_the_scheme(
    scheme: str, colours: set[str], file: str, page: str, watched: Callable[..., Any]
) -> None:
    seen = watched(color_scheme=scheme)
    seen.page.goto(file)
    seen.page.wait_for_selector(LIVE)
    charts = seen.page.locator(".chart")
    assert charts.count() == page.count('class="chart"') >= 8
    for chart in charts.all():
        assert not chart.locator(".still").is_visible()
        marks = chart.locator(".live").locator(MARKS)
        sizes = [mark.bounding_box() for mark in marks.all()]
        assert any(size and size["width"] > 1 and size["height"] > 1 for size in sizes), f"{chart.get_attribute('id')} is blank"
        fills = set(marks.evaluate_all("all => all.map(mark => getComputedStyle(mark).fill)"))
        assert fills <= colours, chart.get_attribute("id")


def test_a_bar_has_a_tooltip_and_the_legend_selects_one_series(file: str, watched: Callable[..., Any]) -> None:
    seen = watched()
    seen.page.goto(file)
    seen.page.wait_for_selector(LIVE)
    live = seen.page.locator("#risk0 .live")
    live.locator(".mark-rect path:visible").first.hover()
    seen.page.wait_for_selector("#vg-tooltip-element.visible")
    assert "records" in seen.page.inner_text("#vg-tooltip-element")
    read_opacity = "all => all.map(mark => mark.getAttribute('opacity'))"
    assert set(live.locator(".mark-rect path").evaluate_all(read_opacity)) <= {None, "1"}
    live.locator(".role-legend-label text").first.click()
    assert "0.15" in live.locator(".mark-rect path").evaluate_all(read_opacity)
    assert not seen.complaints


def test_static_charts_are_visible_without_scripts_and_in_print(file: str, watched: Callable[..., Any]) -> None:
    without_scripts = watched(java_script_enabled=False)
    without_scripts.page.goto(file)
    drawings = without_scripts.page.locator(".chart > .still")
    assert drawings.count() >= 8
    assert all(drawing.is_visible() for drawing in drawings.all())
    paper = watched()
    paper.page.goto(file)
    paper.page.wait_for_selector(LIVE)
    paper.page.emulate_media(media="print")
    assert all(drawing.is_visible() for drawing in paper.page.locator(".chart > .still").all())
    assert not any(drawing.is_visible() for drawing in paper.page.locator(".chart > .live").all())
    paper.page.emulate_media(media="print", color_scheme="dark")
    assert paper.page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 31, 36)", "paper is white"


def test_on_a_phone_nothing_is_wider_than_the_screen(file: str, watched: Callable[..., Any]) -> None:
    seen = watched(viewport={"width": 360, "height": 740})
    seen.page.goto(file)
    seen.page.wait_for_selector(LIVE)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_value_that_is_a_script_is_displayed_and_never_executed(
    release: Release, secrets: dict[str, Any], watched: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "revealed.html"
    path.write_text(render(gather(release.original, release, internal=True)), encoding="utf-8")
    seen = watched()
    dialogs: list[str] = []
    seen.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    seen.page.goto(path.as_uri())
    seen.page.wait_for_selector(LIVE)
    assert secrets["town"] in seen.page.inner_text("main")
    assert not dialogs
    assert not seen.complaints
