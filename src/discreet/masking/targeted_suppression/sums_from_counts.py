"""The sums over known sets of records whose counts are known already: to the last bit what counting them finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.queries import Queries
from discreet.engine.known_sets.risk_sums import RecordSums, RiskSums
from discreet.engine.known_sets.terms import Pattern
from discreet.engine.known_sets.threads import KernelThreads
from discreet.engine.known_sets.walk import walk_sets

if TYPE_CHECKING:
    from numpy.typing import NDArray


def sum_from_counts(
    tree: Family, singles: list[int], weight: NDArray[np.float64], single: NDArray[np.float64], counts: NDArray[np.int32]
) -> RecordSums:
    """Risk and top set from ``counts[record, set]``; the bounds of what epsilon dropped are not asked for here."""
    size = len(weight)
    pattern = np.zeros(size, dtype=np.int32)
    queries = Queries(weight, np.zeros(size), np.ones(size), single, singles, pattern, [Pattern()])
    sums, here = RiskSums(tree, queries, KernelThreads(1)), np.empty(size, dtype=np.int32)

    def read_set(node: int, active: NDArray[np.uint32]) -> NDArray[np.uint32] | None:
        here[active] = counts[active, node]
        sums.add(node, active, here)
        active = active[here[active] > 1]
        return active if len(active) else None

    walk_sets(tree.children, read_set(0, np.arange(size, dtype=np.uint32)), read_set)
    return sums.finish(np.ones(size, dtype=np.int64))
