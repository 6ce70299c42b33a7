"""A real browser opens the report: nothing leaves the machine, nothing is complained of, every chart is drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def file(page: str, tmp_path: Path) -> str:
    path = tmp_path / "report.html"
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_opens_without_a_request_a_complaint_or_a_barrier(
    scheme: str, file: str, watched: Callable[..., Any], axe_faults: Callable[..., list[str]]
) -> None:
    seen = watched(color_scheme=scheme)
    seen.page.goto(file)
    assert "Release report" in seen.page.inner_text("h1")
    assert seen.requests == [file]
    assert not seen.complaints
    assert not axe_faults(seen.page)
