"""Two drafts side by side, both on the sample or both on the whole table: numbers of one are never set against the other's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from discreet.web.core import Core
from discreet.web.errors import InvalidRequest
from discreet.web.projects import policies, releases
from discreet.web.projects.projects import Project
from discreet.web.workspace import drafts, summary
from discreet.web.workspace.desk import Desk, make_desk
from discreet.web.workspace.differences import Numbers, compare_guesses, compare_limits, compare_numbers, compare_plans
from discreet.web.workspace.drafts_map import lay_out, map_points
from discreet.web.workspace.multiples import Multiple
from discreet.web.workspace.preview import Preview

CURRENT = "current"
"""How an address names the present plan; a draft is named by its number."""


@dataclass(frozen=True)
class Side:
    """One of the two: the present plan, or a named draft."""

    choice: str
    name: str
    desk: Desk

    def find_preview(self, *, now: bool) -> Preview | None:
        """Its preview if it is in memory, or computed now."""
        return self.desk.compute_preview() if now else self.desk.find_preview()


def open_side(connection: Connection, core: Core, project: Project, choice: str) -> Side:
    """Gather one side of a comparison: ``current``, or the number of a draft."""
    document = policies.policy_document(connection, project)
    if choice == CURRENT:
        return Side(choice, "the present plan", make_desk(connection, core, project, document, {}))
    if not choice.isdecimal() or not choice.isascii() or len(choice) > 10:
        raise InvalidRequest(f"a side of a comparison is '{CURRENT}' or the number of a draft; got '{choice[:40]}'")
    draft = drafts.get(connection, project, int(choice))
    return Side(choice, draft.name, make_desk(connection, core, project, drafts.apply(document, draft.content), {}))


def on_one_basis(first: Side, second: Side) -> tuple[Side, Side]:
    """Both as whole runs where both were run on the whole table, else both as previews."""
    if first.desk.whole is not None and second.desk.whole is not None:
        return first, second
    return replace(first, desk=replace(first.desk, whole=None)), replace(second, desk=replace(second.desk, whole=None))


def compare_policies(first: Side, second: Side) -> dict[str, Any]:
    """What differs before anything is measured: steps and guesses."""
    return {
        "steps": compare_plans(first.desk.policy.plan, second.desk.policy.plan),
        "guesses": compare_guesses(first.desk.policy, second.desk.policy),
    }


def compare_sides(
    connection: Connection, core: Core, sides: tuple[Side, Side], previews: tuple[Preview, Preview]
) -> dict[str, Any]:
    """What was measured of two sides on one basis: verdicts, limits, numbers, distributions and places on the map."""
    desks = (sides[0].desk, sides[1].desk)
    pairs = list(zip(desks, previews, strict=True))
    verdicts = [summary.describe_verdict(desk, preview) for desk, preview in pairs]
    risks = [desk.find_risks(core, preview) for desk, preview in pairs]
    risk_numbers, loss_numbers = ([_read_numbers(desk, preview, kind) for desk, preview in pairs] for kind in ("risk", "loss"))
    views = [desk.find_views(core, preview) for desk, preview in pairs]
    return {
        "whole": verdicts[0]["whole"], "records": len(risks[0].rows), "of": risks[0].of, "verdicts": verdicts,
        "limits": compare_limits(
            verdicts[0], verdicts[1], ({**risk_numbers[0], **loss_numbers[0]}, {**risk_numbers[1], **loss_numbers[1]})
        ),
        "numbers": [
            *compare_numbers("risk", risk_numbers[0], risk_numbers[1]),
            *compare_numbers("loss", loss_numbers[0], loss_numbers[1]),
        ],
        "counts": [summary.count_at(one, one.default_position) | {"measure": one.measure} for one in risks],
        "attributes": pair_multiples(views[0].multiples, views[1].multiples),
        "attributes_whole": all(one.whole_multiples for one in views),
        "map": _place_on_map(connection, sides, risk_numbers, loss_numbers),
    }  # fmt: skip


def pair_multiples(first: list[Multiple], second: list[Multiple]) -> list[dict[str, Any]]:
    """The released distribution of each attribute on both sides, in shared bars where both have the same bars."""
    others = {one.name: one for one in second}
    rows = [_pair(one, others[one.name]) for one in first if one.name in others]
    return sorted(rows, key=lambda row: not row["differs"])


def _pair(first: Multiple, second: Multiple) -> dict[str, Any]:
    sides = [_released(one) for one in (first, second)]
    shared = sides[0] is not None and sides[1] is not None and sides[0][0] == sides[1][0]
    charts: list[dict[str, Any]] = [
        {"labels": labels, "series": [(key, counts)]}
        for key, side in zip("ab", sides, strict=True)
        if side is not None
        for labels, counts in [side]
    ]
    if shared:
        charts = [{"labels": charts[0]["labels"], "series": [*charts[0]["series"], *charts[1]["series"]]}]
    return {
        "name": first.name, "charts": charts, "removed": [first.removed, second.removed],
        "changed": [first.share, second.share], "differs": sides[0] != sides[1],
    }  # fmt: skip


def _released(one: Multiple) -> tuple[list[str], list[int]] | None:
    if one.own_bars is not None and one.own_after is not None:
        return list(one.own_bars.labels), one.own_after
    return None if one.after is None else (list(one.bars.labels), one.after)


def _read_numbers(desk: Desk, preview: Preview, kind: str) -> Numbers:
    if desk.whole is not None:
        return dict(desk.whole.assessment.get("after" if kind == "risk" else "losses", {}))
    scores = preview.assessment.after if kind == "risk" else preview.assessment.losses
    return {name: score.to_dict() for name, score in scores.items()}


def _place_on_map(
    connection: Connection, sides: tuple[Side, Side], risks: list[Numbers], losses: list[Numbers]
) -> dict[str, Any] | None:
    """Both sides by one risk and one loss, among the releases where they are releases themselves."""
    limits = [limit for side in sides for limit in side.desk.policy.limits]
    risk, loss = _choose_field("risk", risks, limits), _choose_field("loss", losses, limits)
    if not risk or not loss:
        return None
    points: list[dict[str, Any]] = [
        {"label": key.upper(), "side": key, "risk": _value(risks[at], risk), "loss": _value(losses[at], loss)}
        for at, key in enumerate("ab")
    ]
    if sides[0].desk.whole is not None:
        marked = {side.desk.whole.number for side in sides if side.desk.whole is not None}
        listed = map_points(releases.list_summaries(connection, sides[0].desk.project), risk, loss)
        points += [
            {"label": str(point["release"]), "side": "", "risk": point["risk"], "loss": point["loss"]}
            for point in listed
            if point["release"] not in marked
        ]
    return lay_out(points, risk, loss)


def _choose_field(kind: str, numbers: list[Numbers], limits: list[str]) -> str:
    """The first limit that both sides measured, else the first field that both did and that has a better direction."""
    names = [row["name"] for row in compare_numbers(kind, numbers[0], numbers[1])]
    preferred = [*limits, "known_sets.mean", "k_anonymity.k", "ncp.loss"]
    return next((name for name in (*preferred, *names) if name in names), "")


def _value(numbers: Numbers, name: str) -> float:
    measure, _, field = name.partition(".")
    return float(numbers[measure][field])


def describe_side(side: Side, verdict: Mapping[str, Any]) -> dict[str, Any]:
    """One side with its verdict, for programs."""
    draft = None if side.choice == CURRENT else int(side.choice)
    return {"name": side.name, "draft": draft, "verdict": verdict}
