"""Assess: the verdict per limit, risk before and after masking, and the risk-utility map of all releases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response

from discreet import registry
from discreet.assessment.limit_sentences import field_words
from discreet.model.results import RELEASE_ALONE
from discreet.report.criteria import describe_gauges
from discreet.web.auth.security import CurrentSession, ServerCore
from discreet.web.pages.downloads import DOWNLOAD_FORMATS
from discreet.web.pages.forms import catalogue
from discreet.web.pages.forms.limit_choice import describe_in_words
from discreet.web.pages.rendering import render_page
from discreet.web.projects import access_log, projects, releases
from discreet.web.projects.releases import Release
from discreet.web.workspace.drafts_map import choose_axis, list_axes, map_points

router = APIRouter(prefix="/projects/{number}", include_in_schema=False)


@router.get("/assess")
def show(
    request: Request,
    core: ServerCore,
    session: CurrentSession,
    number: int,
    release: int | None = None,
    risk: str = "",
    loss: str = "",
    against: int | None = None,
) -> Response:
    """Show one release (default: the newest), beside another one where ``against`` names it, and the map of all releases."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        all_releases = releases.list_summaries(connection, project)
        selected = releases.get(connection, project, release) if all_releases else None
        other = releases.get(connection, project, against) if all_releases and against is not None else None
        axes = list_axes(all_releases)
        risk, loss = choose_axis(axes, "risk", risk, all_releases), choose_axis(axes, "loss", loss, all_releases)
        points = map_points(all_releases, risk, loss) if risk and loss else []
    if selected is not None:
        access_log.record_release(core.store, session.user, project, selected, page="assess")
    return render_page(
        request,
        "assess.html",
        session,
        project,
        "assess",
        releases=all_releases,
        release=selected,
        suffixes=DOWNLOAD_FORMATS,
        axes=axes,
        risk=risk,
        loss=loss,
        points=points,
        limits=_limit_rows(selected),
        criteria=_gauges(selected),
        adversaries=_adversary_sections(selected),
        losses=_loss_sections(selected),
        higher_is_safer=bool(risk) and registry.resolve_limit(risk)[3] == "high",
        title_of=catalogue.title,
        spell_out=catalogue.spell_out,
        words_of=lambda name: _capitalize(field_words(name)[0]),
        explanation_of=lambda name: field_words(name)[1],
        other=other,
        differences=compare_releases(selected, other) if selected and other else [],
    )


def compare_releases(release: Release, other: Release) -> list[dict[str, Any]]:
    """The numbers of two releases side by side, with which of them is the better one: what differs first, risks before losses."""
    rows = []
    for kind, part in (("risk", "after"), ("loss", "losses")):
        for measure, fields in release.assessment.get(part, {}).items():
            others = other.assessment.get(part, {}).get(measure, {})
            for field, value in fields.items():
                better = catalogue.describe_limit(f"{measure}.{field}")["comparison"]
                second = others.get(field)
                if not better or not isinstance(value, int | float) or not isinstance(second, int | float):
                    continue
                first_is_better = (value < second) == (better == "at most")
                verdict = "the same" if value == second else f"release {(release if first_is_better else other).number} is better"
                rows.append({"kind": kind, "name": f"{measure}.{field}", "first": value, "second": second, "verdict": verdict})
    return sorted(rows, key=lambda row: row["verdict"] == "the same")


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


_DEFAULTS_OF_OLD_RELEASES = {"intruder": RELEASE_ALONE, "measured_informed": None, "status": "incomplete"}
"""Fields that an earlier version did not store with a limit, because it judged the release alone."""


def _limit_rows(release: Release | None) -> list[dict[str, Any]]:
    if release is None:
        return []
    stored = release.assessment.get("verdict", {}).get("limits", [])
    return [
        _DEFAULTS_OF_OLD_RELEASES
        | {"measured_release": limit.get("found")}
        | limit
        | catalogue.describe_limit(limit["limit"])
        | {"words": describe_in_words(limit["limit"], limit["wanted"])}
        for limit in stored
    ]


def _gauges(release: Release | None) -> list[dict[str, Any]]:
    """The three criteria of WP216 as gauges."""
    if release is None:
        return []
    return describe_gauges(release.assessment.get("adversaries", []), _limit_rows(release))


def _adversary_sections(release: Release | None) -> list[dict[str, Any]]:
    """One section per risk measure: its fields before and after masking, and whether the change is safer."""
    sections = []
    for adversary in release.assessment.get("adversaries", []) if release else ():
        rows = [field | {"change": _describe_change(field)} for field in adversary["fields"]]
        sections.append(
            adversary
            | {"rows": rows, "title": catalogue.heading(adversary["measure"]), "what": catalogue.strip_markup(adversary["what"])}
        )
    return sections


def _describe_change(field: Mapping[str, Any]) -> str:
    before, after = field.get("before"), field.get("after")
    if not isinstance(before, int | float) or not isinstance(after, int | float) or not field.get("better"):
        return ""
    if before == after:
        return "unchanged"
    return "safer" if (after < before) == (field["better"] == "low") else "riskier"


def _loss_sections(release: Release | None) -> list[dict[str, Any]]:
    sections = []
    for loss in release.assessment.get("loss", []) if release else ():
        summary = catalogue.summary("loss", loss["measure"])
        sections.append(loss | {"title": catalogue.heading(loss["measure"]), "what": summary})
    return sections
