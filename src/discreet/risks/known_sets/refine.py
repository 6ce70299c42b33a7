"""Narrowing certified intervals until each is as narrow as required.

Where few records are left, each is searched by itself (:mod:`discreet.risks.known_sets.record_search`). Where they are many, one
walk bounds the sums of all of them (:mod:`discreet.risks.known_sets.bound_walk`); records whose interval is not yet narrow enough
after a walk are walked again with a smaller allowance, and with small groups summed exactly too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.cells.weights import cell_weights
from discreet.engine.encoding.columns import encode
from discreet.engine.known_sets.sums import KnownSets, Missing, build_classes
from discreet.model.microdata import Microdata
from discreet.risks.known_sets.agreement_masks import MOST_ATTRIBUTES
from discreet.risks.known_sets.bound_walk import BoundWalk
from discreet.risks.known_sets.quiet import flag_rare_values
from discreet.risks.known_sets.record_search import RecordSearch
from discreet.risks.known_sets.requirements import Requirements

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LESS = 1 / 128
_ROUNDS = 8
_FEW_RECORDS = 1_000
"""Records up to which each is searched by itself before any walk; a search takes at least half a millisecond."""
_MOST_CELLS = 1e10
"""Cells (records searched x records of the table x attributes) up to which records are searched one by one: about ten seconds."""


def narrow_intervals(
    data: Microdata,
    sums: KnownSets,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    alpha: float,
    required: Requirements,
    budget: int,
    missing: Missing,
    original: Microdata | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """Narrow the intervals until they are as required; a note where the budget of counts or the time ends.

    After the deadline the current sets are closed with the bounds they have: the intervals stay certain.
    """
    lower, upper = lower.copy(), upper.copy()
    part, spent = _LESS, 0
    for round_number in range(_ROUNDS):
        pending = np.flatnonzero(required.are_too_wide(lower, upper))
        if not len(pending) or spent >= budget or required.is_past():
            break
        slots = sums.slots[pending]
        classes, queries, ordered = build_classes(data, sums.names, sums.tree, slots, missing, original)
        chances = np.array([data.attribute(name).known for name in ordered])
        weights, consequence = _weights(data, ordered, slots), sums.consequence[pending]
        is_searched = _is_searched(len(pending), len(data), len(ordered), round_number)
        if is_searched:
            search = RecordSearch(classes, queries, chances, weights, consequence)
            low, high, visited = search.narrow(
                lower[pending] / alpha, upper[pending] / alpha, required.part(pending, alpha), budget
            )
        else:
            quiet = [flag_rare_values(data, column) if original is None else None for column in encode(data, ordered)]
            walk = BoundWalk(classes, queries, chances, quiet, weights, consequence, slots, exact=round_number > 0)
            allowed = required.part(pending).allowed_widths(lower[pending], upper[pending]) / alpha
            low, high = walk.bounds(allowed * part, budget - spent, required.deadline)
            visited = walk.visited
        lower[pending] = np.maximum(lower[pending], low * alpha)
        upper[pending] = np.maximum(np.minimum(upper[pending], high * alpha), lower[pending])
        spent += visited
        part *= _LESS
        if is_searched:  # the search itself goes on until an interval is narrow enough
            break
    left = int(required.are_too_wide(lower, upper).sum())
    ended = "when the time limit was reached" if required.is_past() else f"(max_sets {budget:,})"
    note = f"{left:,} intervals are wider than requested after {spent:,} counts {ended}; they are still certain"
    return lower, upper, (note,) if left else ()


def _is_searched(pending: int, records: int, width: int, round_number: int) -> bool:
    """Whether the records are searched one by one: they are few, or have been walked before, and the search ends soon."""
    if not 0 < width <= MOST_ATTRIBUTES or pending * records * width > _MOST_CELLS:
        return False
    return round_number > 0 or pending <= _FEW_RECORDS


def _weights(data: Microdata, ordered: list[str], slots: NDArray[np.int64]) -> NDArray[np.float64]:
    """W(A) W(value) of each query for each attribute in the family's order."""
    weights = np.zeros((len(slots), len(ordered)))
    for place, column in enumerate(encode(data, ordered)):
        attribute = data.attribute(column.name)
        if attribute.sensitivity > 0:
            weights[:, place] = cell_weights(column, attribute, data.cells.get(column.name))[column.codes[slots]]
    return weights
