"""Certain bounds from larger families of known sets: what a smaller epsilon keeps is summed for all records at once.

Where most records are undecided, one sum over a larger family decides nearly all of them in far less time than a walk that
follows each record (:mod:`discreet.risks.known_sets.bound_walk`), which is left with the few that remain. What an epsilon drops
is known without counting, so only families that can decide are counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.encoding.columns import encode
from discreet.engine.known_sets.family import Knowledge, family
from discreet.engine.known_sets.sums import KnownSets, Missing, known_sets
from discreet.engine.overlap.tables import has_overlaps
from discreet.errors import ParameterError
from discreet.model.microdata import Microdata
from discreet.risks.known_sets.large.sums import large_sums
from discreet.risks.known_sets.requirements import Requirements, contains_level

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEP = 0.1
_NO_EPSILON = 1e-12
"""An epsilon below which every set is kept at once."""
_MOST_SETS = 20_000
_FEW = 0.005
"""Share of the records below which those that are undecided are left to the walk that follows each record."""
_LEAST_GAIN = 0.5
"""A smaller epsilon is tried as long as the last one decided at least this share of the records that were undecided."""
_SPARE = 0.7
"""What epsilon drops may be this share of what would lift a record with no other risk to its level."""


def can_sum_rows(data: Microdata, names: Sequence[str], missing: Missing) -> bool:
    """Whether equal codes agree and no others do, so that sets can be summed on distinct rows."""
    grouped = {name for unit in data.policy.known_together for name in unit}
    columns = encode(data, [name for name in names if data.attribute(name).known > 0 or name in grouped])
    return not (has_overlaps(data, columns) or (missing == "wildcard" and any(column.has_null for column in columns)))


def bounds_of_larger_families(
    data: Microdata,
    sums: KnownSets,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    alpha: float,
    required: Requirements,
    max_sets: int,
    missing: Missing,
    epsilon: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The bounds of the risks, narrowed by smaller epsilons while these decide many records about their levels."""
    chances = [data.attribute(name).known for name in sums.names]
    all_sets = math.prod(1 + chance for chance in chances)
    levels = required.levels
    undecided = contains_level(lower, upper, levels)
    least = min(float(np.median(level[undecided] / sums.per_record.whole_mass[undecided])) for level in levels) / alpha
    while undecided.sum() > _FEW * len(data) and not required.is_past():
        epsilon *= _STEP
        try:
            tree = family(chances, epsilon, min(max_sets, _MOST_SETS))
        except ParameterError:  # too many sets
            break
        if 1 - float(tree.chance.sum()) / all_sets > _SPARE * least:
            continue  # the dropped sets alone could lift a typical record to its level: it would not be decided
        low, high = _bounds(data, sums, epsilon, len(tree), missing)
        lower = np.maximum(lower, low * alpha)
        upper = np.maximum(np.minimum(upper, high * alpha), lower)
        before, undecided = undecided, contains_level(lower, upper, levels)
        if undecided.sum() > (1 - _LEAST_GAIN) * before.sum():
            break
    return lower, upper


def _bounds(
    data: Microdata, sums: KnownSets, epsilon: float, sets: int, missing: Missing
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The bounds before alpha, of the records that were summed before, with another epsilon that keeps so many sets."""
    if can_sum_rows(data, sums.names, missing):
        tree = family([data.attribute(name).known for name in sums.names], epsilon, sets)
        larger = large_sums(data, sums.names, tree)
        if larger is not None:
            low, high = np.zeros(len(data)), np.zeros(len(data))
            rows = larger.rows(np.arange(len(larger.risk)))
            low[rows], high[rows] = larger.bounds()
            return low[sums.slots], high[sums.slots]
    per_record = known_sets(data, epsilon=epsilon, max_sets=sets, missing=missing).per_record
    return per_record.lower, per_record.upper


def narrow_by_families(
    data: Microdata,
    sums: KnownSets,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    alpha: float,
    epsilon: float,
    required: Requirements,
    max_sets: int,
    missing: Missing,
    original: Microdata | None,
    knowledge: Knowledge,
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """Narrow all intervals by smaller and smaller epsilons until they are as required, or every set is kept.

    For families whose probabilities do not fall as sets grow: the walks that follow single records (:mod:`.refine`) rest on that.
    """
    sets, ended = len(sums.tree), ""
    while required.are_too_wide(lower, upper).any() and epsilon > 0:
        if required.is_past():
            ended = "when the time limit was reached"
            break
        epsilon = epsilon * _STEP if epsilon > _NO_EPSILON else 0.0
        try:
            larger = known_sets(
                data, epsilon=epsilon, max_sets=max_sets, missing=missing, original=original, knowledge=knowledge
            )  # fmt: skip
        except ParameterError:  # too many sets
            ended = f"(max_sets {max_sets:,})"
            break
        sets = len(larger.tree)
        lower = np.maximum(lower, larger.per_record.lower * alpha)
        upper = np.maximum(np.minimum(upper, larger.per_record.upper * alpha), lower)
    left = int(required.are_too_wide(lower, upper).sum())
    if not left:
        return lower, upper, ()
    ended = ended or "of all known sets"  # rounding alone is left
    return lower, upper, (f"{left:,} intervals are wider than requested after {sets:,} sets {ended}; they are still certain",)
