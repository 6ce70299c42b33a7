"""What a search has found, as a page shows it: points on the map of risk and loss, and which of them nothing beats."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.selection.frontier import Placed, place
from discreet.web.jobs.queue import Job

MOST = 60
"""Rows of the table beneath the map."""


@dataclass(frozen=True)
class Point:
    """One plan that was tried."""

    number: int
    risk: float
    loss: float
    numbers: Mapping[str, float | None]
    """What its limits and axes came to, by MEASURE.FIELD."""
    kept: bool
    whole: bool
    dominated: bool
    plan: dict[str, Any]

    @property
    def shown_risk(self) -> float:
        """The risk in its measure's own direction."""
        return abs(self.risk)


@dataclass(frozen=True)
class Search:
    """A search as it stands."""

    points: list[Point]
    failed: int
    best: Point | None
    risk: str
    loss: str
    why: list[str]
    met: bool | None
    """Whether the plan that was chosen keeps every limit; None while the search goes on."""

    @property
    def rows(self) -> list[Point]:
        """What the table lists: the frontier on the whole table, then what else there is, nearest first."""
        return sorted(self.points, key=lambda one: (not one.whole, one.dominated, one.loss, one.risk))[:MOST]

    @property
    def fields(self) -> list[str]:
        """The numbers every point has."""
        return list(dict.fromkeys(name for one in self.points for name in one.numbers))

    @property
    def drawn(self) -> list[dict[str, Any]]:
        """What the chart draws."""
        return [
            {"n": one.number, "r": one.shown_risk, "l": one.loss, "k": one.kept, "w": one.whole, "d": one.dominated}
            for one in self.points
        ]

    @property
    def high(self) -> bool:
        """Whether more of the map's risk measure is safer, such as the k of k-anonymity."""
        return any(one.risk < 0 for one in self.points)

    def at(self, number: int) -> Point | None:
        """The point with a number."""
        return next((one for one in self.points if one.number == number), None)


def search_of(job: Job) -> Search:
    """A job's points so far, and what came of it where it is over."""
    tried = list(job.partial or ())
    result = job.result or {}
    good = [one for one in tried if one.get("error") is None and _finite(one.get("risk"), one.get("loss"))]
    points: list[Point] = []
    for whole in (True, False):
        some = [one for one in good if bool(one["whole"]) is whole]
        placed = place([Placed(str(one["number"]), one["risk"], one["loss"]) for one in some])
        points += [
            Point(
                one["number"], one["risk"], one["loss"], {**one.get("risks", {}), **one.get("losses", {})}, one["kept"], whole,
                spot.dominated, one["plan"],
            )
            for one, spot in zip(some, placed, strict=True)
        ]  # fmt: skip
    return Search(
        points, len(tried) - len(good), _best(points, result), _axis(result, "risk", job) or _measured(points),
        _axis(result, "loss", job) or "ncp.loss", [str(one) for one in result.get("why", [])], result.get("met"),
    )  # fmt: skip


def _best(points: list[Point], result: Mapping[str, Any]) -> Point | None:
    """The plan that the search chose; before it has, the one with the least loss that keeps every limit."""
    chosen = [one for one in points if one.whole and result and one.plan.get("steps") == result.get("plan", {}).get("steps")]
    kept = [one for one in points if one.whole and one.kept]
    return min(chosen or kept, key=lambda one: (one.loss, one.risk), default=None)


def _axis(result: Mapping[str, Any], kind: str, job: Job) -> str:
    """What an axis measures: as the search says when it is over, else as was asked."""
    said = result.get(kind)
    return str(said.get("name", kind)) if isinstance(said, Mapping) else str(job.parameters.get(kind) or "")


def _measured(points: list[Point]) -> str:
    """The number that is the risk of every point so far."""
    names = points[0].numbers if points else ()
    return next((name for name in names if all(one.numbers.get(name) == one.shown_risk for one in points)), "risk")


def _finite(*numbers: Any) -> bool:
    return all(isinstance(one, int | float) and math.isfinite(one) for one in numbers)
