"""Charts as images: the releases of a project on the risk-utility map, and the plans of a search."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from fastapi import APIRouter, Response

from discreet import registry
from discreet.report.maps import KEPT, MISSED, OPEN, image, map_of
from discreet.web.auth.security import Here, LoggedIn
from discreet.web.errors import NotFound
from discreet.web.jobs import queue
from discreet.web.pages.assess import chosen, offered, placed
from discreet.web.pages.frontier import search_of
from discreet.web.projects import projects, releases

router = APIRouter(prefix="/projects/{number}/charts")
HEADERS = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
"""An image has its own style inside, for light and dark."""


@router.get("/map.svg")
def releases_map(core: Here, session: LoggedIn, number: int, risk: str = "", loss: str = "") -> Response:
    """The releases by a risk and a loss."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        made = releases.all_of(connection, project)
        axes = offered(made)
        risk, loss = chosen(axes, "risk", risk, made), chosen(axes, "loss", loss, made)
        if not risk or not loss:
            raise NotFound("there is nothing to draw yet")
        points = placed(connection, project, risk, loss)
    rows = [
        {
            "label": f"release {one['release']}", "risk": one["risk"], "loss": one["loss"], "dominated": one["dominated"],
            "verdict": OPEN if one["status"] == "incomplete" else KEPT if one["status"] == "met" else MISSED,
        }
        for one in points
    ]  # fmt: skip
    return _image(rows, risk, loss, "Releases by risk and loss")


@router.get("/searches/{job}.svg")
def search_map(core: Here, session: LoggedIn, number: int, job: str) -> Response:
    """The plans of a search that were tried on the whole table, or on its sample while there are no others."""
    with core.store.read() as connection:
        search = search_of(queue.get(connection, projects.get(connection, session.user, number), job))
    points = [one for one in search.points if one.whole] or search.points
    if not points:
        raise NotFound("there is nothing to draw yet")
    rows = [
        {
            "label": str(one.number) if not one.dominated else "", "risk": one.shown_risk, "loss": one.loss,
            "dominated": one.dominated, "verdict": KEPT if one.kept else MISSED,
        }
        for one in points
    ]  # fmt: skip
    return _image(rows, search.risk, search.loss, "Plans by risk and loss")


def _image(rows: list[dict[str, Any]], risk: str, loss: str, title: str) -> Response:
    drawn = _drawn(json.dumps(rows), _axis(risk), _axis(loss), title)
    return Response(drawn, media_type="image/svg+xml", headers=HEADERS)


def _axis(name: str) -> str:
    if name.count(".") != 1:
        return name
    return f"{name} ({'more is safer' if registry.direction(name)[3] == 'high' else 'less is better'})"


@lru_cache(maxsize=64)
def _drawn(rows: str, risk: str, loss: str, title: str) -> str:
    points = json.loads(rows)
    return image(map_of(points, risk, loss), title, f"{len(points)} points; the table beside the chart holds the numbers.")
