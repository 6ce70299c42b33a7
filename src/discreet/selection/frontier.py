"""The risk-utility map: releases of one table by one risk and one loss, and which of them nothing else beats.

Duncan, G. T., Keller-McNulty, S. A. & Stokes, S. L. (2001). Disclosure risk vs. data utility: the R-U confidentiality map.
A release is dominated where another has no more risk and no more loss, and less of one. What is not dominated is the frontier.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from discreet import registry
from discreet.errors import DataError
from discreet.model.microdata import Microdata
from discreet.model.results import Release


@dataclass(frozen=True)
class Placed:
    """One release on the map; less risk and less loss are better, whatever the measures' own direction."""

    name: str
    risk: float
    loss: float
    kept: bool = True
    dominated: bool = False

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def place(points: Sequence[Placed]) -> list[Placed]:
    """The points with the dominated ones marked, in their order.

    >>> [one.dominated for one in place([Placed("a", 0.1, 0.5), Placed("b", 0.2, 0.6), Placed("c", 0.3, 0.1)])]
    [False, True, False]
    """
    order = sorted(range(len(points)), key=lambda at: (points[at].risk, points[at].loss))
    marked = list(points)
    safer = math.inf  # least loss of all that have strictly less risk
    for _, group in itertools.groupby(order, key=lambda at: points[at].risk):
        level = list(group)
        best = points[level[0]].loss
        for at in level:
            marked[at] = replace(points[at], dominated=safer <= points[at].loss or best < points[at].loss)
        safer = min(safer, best)
    return marked


def frontier(points: Sequence[Placed]) -> list[Placed]:
    """What nothing dominates, by rising risk; of equal points the first."""
    seen: dict[tuple[float, float], Placed] = {}
    for one in place(points):
        if not one.dominated:
            seen.setdefault((one.risk, one.loss), one)
    return sorted(seen.values(), key=lambda one: (one.risk, one.loss))


def hypervolume(points: Sequence[Placed], worst: tuple[float, float]) -> float:
    """The area between the frontier and the worst corner (risk, loss): how much of the map the points conquer.

    >>> hypervolume([Placed("a", 0.0, 0.5), Placed("b", 0.5, 0.0)], (1.0, 1.0))
    0.75
    """
    area, ceiling = 0.0, worst[1]
    for one in frontier([one for one in points if one.risk < worst[0] and one.loss < worst[1]]):
        area += (worst[0] - one.risk) * (ceiling - one.loss)
        ceiling = one.loss
    return area


def compare(
    original: Microdata, releases: Mapping[str, Release | Microdata], *, risk: str = "k_anonymity.classes", loss: str = "ncp.loss"
) -> list[Placed]:
    """Any number of releases of one table, by any risk and any loss a limit could name; dominated ones are marked."""
    made = []
    for name, release in releases.items():
        table = release.masked if isinstance(release, Release) else release
        made.append(Placed(name, _number(original, table, risk, "risk"), _number(original, table, loss, "loss")))
    return place(made)


def explain(points: Sequence[Placed], chosen: str) -> list[str]:
    """Sentences on where one release stands among the others."""
    placed = place(points)
    one = next((point for point in placed if point.name == chosen), None)
    if one is None:
        raise DataError(f"there is no release '{chosen}' on the map")
    told = [f"{chosen} has a risk of {one.risk:.6g} and a loss of {one.loss:.6g}, among {len(placed):,} releases."]
    better = [point.name for point in placed if _beats(point, one)]
    if better:
        return [*told, f"It is dominated: {', '.join(better[:5])} has no more risk and no more loss, and less of one."]
    told.append("Nothing dominates it: whatever has less risk has more loss, and whatever has less loss has more risk.")
    safer = [point for point in placed if point.risk < one.risk and not point.dominated]
    if safer:
        next_safer = max(safer, key=lambda point: point.risk)
        told.append(f"The next safer is {next_safer.name}: risk {next_safer.risk:.6g} for a loss of {next_safer.loss:.6g}.")
    return told


def _beats(one: Placed, other: Placed) -> bool:
    return one.risk <= other.risk and one.loss <= other.loss and (one.risk < other.risk or one.loss < other.loss)


def _number(original: Microdata, table: Microdata, limit: str, kind: str) -> float:
    found_kind, name, field, better = registry.direction(limit, origin="the map")
    if found_kind != kind:
        raise DataError(f"'{limit}' is not a {kind}; the map needs a risk and a loss")
    said = original.policy.risk if kind == "risk" else original.policy.loss
    if kind == "risk":
        measure = registry.make("risk", name, said.get(name), origin=original.policy.origin)
        score = measure.measure(table, original=original if measure.needs_original(table) else None)
    else:
        score = registry.make("loss", name, said.get(name), origin=original.policy.origin).measure(original, table)
    value = score.summary.get(field)
    if value is None or isinstance(value, Mapping):
        raise DataError(f"{limit} could not be measured on {table.source}")
    return float(value) if better == "low" else -float(value)
