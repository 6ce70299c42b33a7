"""Charts as SVG images: the risk-utility map of the releases, and of the plans of a search."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from fastapi import APIRouter, Response

from discreet import registry
from discreet.assessment.limit_sentences import field_words
from discreet.report.maps import INCOMPLETE, MET, NOT_MET, risk_utility_map, standalone_svg
from discreet.web.auth.security import CurrentSession, ServerCore
from discreet.web.errors import NotFound
from discreet.web.jobs import queue
from discreet.web.pages.frontier import read_search
from discreet.web.projects import projects, releases
from discreet.web.workspace.drafts_map import choose_axis, list_axes, map_points

router = APIRouter(prefix="/projects/{number}/charts", include_in_schema=False)
SVG_HEADERS = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
"""An SVG image carries its own style for light and dark mode."""
_WIDE, _NARROW = 560, 250
"""Widths of a plot in pixels: on a page, and on a phone, whose axes have short titles."""


@router.get("/map.svg")
def releases_map(
    core: ServerCore, session: CurrentSession, number: int, risk: str = "", loss: str = "", narrow: bool = False
) -> Response:
    """Draw the releases by one risk measure and one loss measure; ``narrow``: so that the text is readable on a phone."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        all_releases = releases.list_summaries(connection, project)
        axes = list_axes(all_releases)
        risk, loss = choose_axis(axes, "risk", risk, all_releases), choose_axis(axes, "loss", loss, all_releases)
        if not risk or not loss:
            raise NotFound("nothing has been measured yet, so there is no chart")
        points = map_points(all_releases, risk, loss)
    rows = [
        {
            "label": f"release {point['release']}", "risk": point["risk"], "loss": point["loss"], "dominated": point["dominated"],
            "verdict": INCOMPLETE if point["status"] == "incomplete" else MET if point["status"] == "met" else NOT_MET,
        }
        for point in points
    ]  # fmt: skip
    return _svg_response(rows, risk, loss, "Releases by risk and loss", narrow)


@router.get("/searches/{job}.svg")
def search_map(core: ServerCore, session: CurrentSession, number: int, job: str) -> Response:
    """Draw the plans that were measured on the whole table, or on a sample while there are no others."""
    with core.store.read() as connection:
        search = read_search(queue.get(connection, projects.get(connection, session.user, number), job))
    plans = [plan for plan in search.plans if plan.whole_table] or search.plans
    if not plans:
        raise NotFound("nothing has been measured yet, so there is no chart")
    rows = [
        {
            "label": str(plan.number) if not plan.dominated else "", "risk": plan.displayed_risk, "loss": plan.loss,
            "dominated": plan.dominated, "verdict": MET if plan.meets_limits else NOT_MET,
        }
        for plan in plans
    ]  # fmt: skip
    return _svg_response(rows, search.risk_name, search.loss_name, "Plans by risk and loss")


def _svg_response(rows: list[dict[str, Any]], risk: str, loss: str, title: str, narrow: bool = False) -> Response:
    titles = ("Risk", "Loss") if narrow else (_axis_title(risk), _axis_title(loss))
    svg = _draw_map(json.dumps(rows), *titles, title, _NARROW if narrow else _WIDE)
    return Response(svg, media_type="image/svg+xml", headers=SVG_HEADERS)


def _axis_title(name: str) -> str:
    if name.count(".") != 1:
        return name
    words = field_words(name)[0]
    better = "higher is safer" if registry.resolve_limit(name)[3] == "high" else "lower is better"
    return f"{words[:1].upper()}{words[1:]} ({better})"


@lru_cache(maxsize=64)
def _draw_map(rows: str, risk: str, loss: str, title: str, width: int) -> str:
    points = json.loads(rows)
    return standalone_svg(
        risk_utility_map(points, risk, loss, width=width),
        title,
        f"{len(points)} points; the table next to the chart lists the values.",
    )
