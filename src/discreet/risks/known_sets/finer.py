"""Certain bounds from larger families of known sets: what a smaller epsilon keeps is summed for all records at once.

Where most records are undecided, a larger family summed on the rows of its covers decides nearly all of them in far less time
than a walk that follows each record (:mod:`discreet.risks.known_sets.refine`), which is left with the few that remain.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.encoding.columns import encode
from discreet.engine.known_sets.family import family
from discreet.engine.known_sets.sums import KnownSets, Missing
from discreet.engine.overlap.tables import has_overlaps
from discreet.errors import ParameterError
from discreet.model.microdata import Microdata
from discreet.risks.known_sets.large import large_sums
from discreet.risks.known_sets.refine import contains_level

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEP = 0.1
_MOST_SETS = 20_000
_FEW = 0.005
"""Share of the records below which those that are undecided are left to the walk that follows each record."""
_LEAST_GAIN = 0.5
"""A smaller epsilon is tried as long as the last one decided at least this share of the records that were undecided."""


def can_sum_rows(data: Microdata, names: Sequence[str], missing: Missing) -> bool:
    """Whether equal codes agree and no others do, so that sets can be summed on distinct rows."""
    columns = encode(data, [name for name in names if data.attribute(name).known > 0])
    return not (has_overlaps(data, columns) or (missing == "wildcard" and any(column.has_null for column in columns)))


def bounds_of_larger_families(
    data: Microdata,
    sums: KnownSets,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    alpha: float,
    epsilon: float,
    levels: Sequence[NDArray[np.float64]],
    max_sets: int,
    deadline: float | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The bounds of the risks, narrowed by smaller and smaller epsilons while these decide many records about their levels."""
    undecided = int(contains_level(lower, upper, levels).sum())
    while undecided > _FEW * len(data) and (deadline is None or time.monotonic() < deadline):
        epsilon *= _STEP
        try:
            tree = family([data.attribute(name).known for name in sums.names], epsilon, min(max_sets, _MOST_SETS))
        except ParameterError:  # too many sets
            break
        larger = large_sums(data, sums.names, tree)
        if larger is None:
            break
        low, high = (np.zeros(len(data)), np.zeros(len(data)))
        rows = larger.rows(np.arange(len(larger.risk)))
        low[rows], high[rows] = larger.bounds()
        lower = np.maximum(lower, low[sums.slots] * alpha)
        upper = np.maximum(np.minimum(upper, high[sums.slots] * alpha), lower)
        before, undecided = undecided, int(contains_level(lower, upper, levels).sum())
        if undecided > (1 - _LEAST_GAIN) * before:
            break
    return lower, upper
