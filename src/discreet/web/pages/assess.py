"""Assess: the verdict limit by limit, before and after, and the releases of a project on the risk-utility map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection

from discreet import registry
from discreet.model.results import RELEASE_ALONE
from discreet.selection.frontier import Placed, place
from discreet.web.auth.security import Here, LoggedIn
from discreet.web.pages.downloads import SUFFIXES
from discreet.web.pages.forms import catalogue
from discreet.web.pages.rendering import page
from discreet.web.projects import projects, releases
from discreet.web.projects.projects import Project
from discreet.web.projects.releases import Release

router = APIRouter(prefix="/projects/{number}")


@router.get("/assess")
def show(
    request: Request, core: Here, session: LoggedIn, number: int, release: int | None = None, risk: str = "", loss: str = ""
) -> Response:
    """One release, the newest unless another is named, and all of them on the map."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        made = releases.all_of(connection, project)
        found = releases.get(connection, project, release) if made else None
        axes = offered(made)
        risk, loss = chosen(axes, "risk", risk, made), chosen(axes, "loss", loss, made)
        points = placed(connection, project, risk, loss) if risk and loss else []
    return page(
        request, "assess.html", session, project, "assess", releases=made, release=found, suffixes=SUFFIXES, axes=axes, risk=risk,
        loss=loss, points=points, limits=_limits(found), adversaries=_adversaries(found), losses=_losses(found),
        high=bool(risk) and registry.direction(risk)[3] == "high", title_of=catalogue.title,
    )  # fmt: skip


def offered(made: list[Release]) -> dict[str, list[dict[str, str]]]:
    """The numbers that releases have in common with the map's axes: MEASURE.FIELD with its meaning, by kind."""
    found: dict[str, list[dict[str, str]]] = {"risk": [], "loss": []}
    for kind, part in (("risk", "after"), ("loss", "losses")):
        names = dict.fromkeys(
            f"{measure}.{field}"
            for one in made
            for measure, fields in one.assessment.get(part, {}).items()
            for field, value in fields.items()
            if isinstance(value, int | float)
        )
        for name in names:
            said = catalogue.meaning(name)
            if said["word"]:
                found[kind].append({"name": name, **said})
    return found


def chosen(axes: Mapping[str, list[dict[str, str]]], kind: str, said: str, made: list[Release]) -> str:
    """The axis that was asked for where there is one, else the first that a limit names, else the first."""
    names = [one["name"] for one in axes[kind]]
    limited = [limit for one in made[:1] for limit in one.policy.get("limits", {})]
    wanted = [said, *limited, "known_sets.mean" if kind == "risk" else "ncp.loss"]
    return next((one for one in wanted if one in names), names[0] if names else "")


def placed(connection: Connection, project: Project, risk: str, loss: str) -> list[dict[str, Any]]:
    """The releases on a map, dominated ones marked."""
    found = releases.points(connection, project, risk, loss)
    signs = [-1.0 if registry.direction(name)[3] == "high" else 1.0 for name in (risk, loss)]
    marked = place([Placed(str(one["release"]), signs[0] * one["risk"], signs[1] * one["loss"]) for one in found])
    return [one | {"dominated": spot.dominated} for one, spot in zip(found, marked, strict=True)]


_EARLIER = {"intruder": RELEASE_ALONE, "measured_informed": None, "status": "incomplete"}
"""What an earlier version did not store with a limit: it judged the release alone."""


def _limits(release: Release | None) -> list[dict[str, Any]]:
    if release is None:
        return []
    stored = release.assessment.get("verdict", {}).get("limits", [])
    return [_EARLIER | {"measured_release": one.get("found")} | one | catalogue.meaning(one["limit"]) for one in stored]


def _adversaries(release: Release | None) -> list[dict[str, Any]]:
    """A measure each: its fields before and after, and whether that is better or worse."""
    made = []
    for one in release.assessment.get("adversaries", []) if release else ():
        rows = [field | {"change": _change(field)} for field in one["fields"]]
        made.append(one | {"rows": rows, "title": catalogue.heading(one["measure"]), "what": catalogue.said(one["what"])})
    return made


def _change(field: Mapping[str, Any]) -> str:
    before, after = field.get("before"), field.get("after")
    if not isinstance(before, int | float) or not isinstance(after, int | float) or not field.get("better"):
        return ""
    if before == after:
        return "unchanged"
    return "safer" if (after < before) == (field["better"] == "low") else "riskier"


def _losses(release: Release | None) -> list[dict[str, Any]]:
    made = []
    for one in release.assessment.get("loss", []) if release else ():
        summary = catalogue.summary("loss", one["measure"])
        made.append(one | {"title": catalogue.heading(one["measure"]), "what": summary})
    return made
