"""The risk-utility map (R-U map): releases of one table by a risk and a loss, and those that no other release dominates.

Duncan, G. T., Keller-McNulty, S. A. & Stokes, S. L. (2001). Disclosure risk vs. data utility: the R-U confidentiality map.
A release is dominated if another has no more risk and no more loss, and less of at least one. The others are the frontier.
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
class MapPoint:
    """A release on the map. Less is better on both axes: a risk of which more is safer has its sign reversed."""

    name: str
    risk: float
    loss: float
    kept: bool = True
    """Whether the release meets every limit."""
    dominated: bool = False
    gaps_examined: bool = True
    """False for a release that meets every limit, of which nobody looked for the gaps in the evidence that it adds."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def mark_dominated(points: Sequence[MapPoint]) -> list[MapPoint]:
    """The points in the same order, with the dominated ones marked.

    >>> [point.dominated for point in mark_dominated([MapPoint("a", 0.1, 0.5), MapPoint("b", 0.2, 0.6), MapPoint("c", 0.3, 0.1)])]
    [False, True, False]
    """
    order = sorted(range(len(points)), key=lambda index: (points[index].risk, points[index].loss))
    marked = list(points)
    least_loss_of_safer = math.inf  # over all points with strictly less risk
    for _, group in itertools.groupby(order, key=lambda index: points[index].risk):
        same_risk = list(group)
        least_loss = points[same_risk[0]].loss
        for index in same_risk:
            loss = points[index].loss
            marked[index] = replace(points[index], dominated=least_loss_of_safer <= loss or least_loss < loss)
        least_loss_of_safer = min(least_loss_of_safer, least_loss)
    return marked


def frontier(points: Sequence[MapPoint]) -> list[MapPoint]:
    """The points that are not dominated, by increasing risk; of equal points the first."""
    by_place: dict[tuple[float, float], MapPoint] = {}
    for point in mark_dominated(points):
        if not point.dominated:
            by_place.setdefault((point.risk, point.loss), point)
    return sorted(by_place.values(), key=lambda point: (point.risk, point.loss))


def hypervolume(points: Sequence[MapPoint], worst: tuple[float, float]) -> float:
    """The hypervolume indicator: the area that the frontier dominates, up to the reference point ``worst`` (risk, loss).

    >>> hypervolume([MapPoint("a", 0.0, 0.5), MapPoint("b", 0.5, 0.0)], (1.0, 1.0))
    0.75
    """
    area, previous_loss = 0.0, worst[1]
    for point in frontier([point for point in points if point.risk < worst[0] and point.loss < worst[1]]):
        area += (worst[0] - point.risk) * (previous_loss - point.loss)
        previous_loss = point.loss
    return area


def compare(
    original: Microdata, releases: Mapping[str, Release | Microdata], *, risk: str = "k_anonymity.classes", loss: str = "ncp.loss"
) -> list[MapPoint]:
    """Releases of one table by any risk and any loss that a limit can name, as MEASURE.FIELD; dominated ones are marked."""
    points = []
    for name, release in releases.items():
        table = release.masked if isinstance(release, Release) else release
        risk_value = _measure_coordinate(original, table, risk, "risk")
        points.append(MapPoint(name, risk_value, _measure_coordinate(original, table, loss, "loss")))
    return mark_dominated(points)


def explain(points: Sequence[MapPoint], chosen: str) -> list[str]:
    """Sentences that compare one release with the others."""
    marked = mark_dominated(points)
    release = next((point for point in marked if point.name == chosen), None)
    if release is None:
        raise DataError(f"there is no release '{chosen}' on the map")
    sentences = [f"{chosen} has a risk of {release.risk:.6g} and a loss of {release.loss:.6g}, among {len(marked):,} releases."]
    better = [point.name for point in marked if dominates(point, release)]
    if better:
        return [*sentences, f"It is dominated: {', '.join(better[:5])} has no more risk and no more loss, and less of one."]
    sentences.append(
        "It is not dominated: every release with less risk has more loss, and every release with less loss has more risk."
    )
    safer = [point for point in marked if point.risk < release.risk and not point.dominated]
    if safer:
        next_safer = max(safer, key=lambda point: point.risk)
        sentences.append(
            f"The next safer release is {next_safer.name}: risk {next_safer.risk:.6g} at a loss of {next_safer.loss:.6g}."
        )
    return sentences


def dominates(point: MapPoint, other: MapPoint) -> bool:
    """Whether a release has no more risk and no more loss than another, and less of one."""
    return point.risk <= other.risk and point.loss <= other.loss and (point.risk < other.risk or point.loss < other.loss)


def explain_domination(point: MapPoint, better: MapPoint) -> str:
    """Why a release is not on the frontier, with the numbers of the one that dominates it.

    >>> explain_domination(MapPoint("plan 2", 0.2, 0.6), MapPoint("plan 1", 0.2, 0.5))
    'plan 1 has a loss of 0.5 instead of 0.6 at the same risk'
    """
    loss = f"a loss of {_show(better.loss)} instead of {_show(point.loss)}" if better.loss < point.loss else ""
    risk = f"a risk of {_show(better.risk)} instead of {_show(point.risk)}" if better.risk < point.risk else ""
    if loss and risk:
        return f"{better.name} has {loss} and {risk}"
    return f"{better.name} has {loss or risk} at the same {'risk' if loss else 'loss'}"


def _show(number: float) -> str:
    """Four significant digits; the sign, which only gives the direction of the axis, is left out."""
    return f"{abs(number):,.4g}" if abs(number) < 1000 else f"{abs(number):,.0f}"


def _measure_coordinate(original: Microdata, table: Microdata, limit: str, kind: str) -> float:
    """The value of MEASURE.FIELD for a release, with its sign reversed if more of it is better."""
    kind_of_measure, name, field, better = registry.resolve_limit(limit, origin="the map")
    if kind_of_measure != kind:
        raise DataError(f"'{limit}' is not a {kind}; the map needs a risk and a loss")
    parameters = (original.policy.risk if kind == "risk" else original.policy.loss).get(name)
    if kind == "risk":
        measure = registry.create("risk", name, parameters, origin=original.policy.origin)
        score = measure.measure(table, original=original if measure.needs_original(table) else None)
    else:
        score = registry.create("loss", name, parameters, origin=original.policy.origin).measure(original, table)
    value = score.summary.get(field)
    if value is None or isinstance(value, Mapping):
        raise DataError(f"{limit} could not be measured on {table.source}")
    return float(value) if better == "low" else -float(value)
