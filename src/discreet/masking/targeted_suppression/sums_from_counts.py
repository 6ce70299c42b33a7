"""The sums over known sets from given counts; to the last bit the same as when the records are counted."""

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
    """Risk and top set of each record from ``counts[record, set]``, without the bounds for sets dropped by epsilon.

    ``weight[record]`` is the total weight of a record, ``single[record, i]`` that of the attribute ``singles[i]``.
    """
    size = len(weight)
    pattern = np.zeros(size, dtype=np.int32)
    queries = Queries(weight, np.zeros(size), np.ones(size), single, singles, pattern, [Pattern()])
    sums, set_counts = RiskSums(tree, queries, KernelThreads(1)), np.empty(size, dtype=np.int32)

    def read_set(node: int, active: NDArray[np.uint32]) -> NDArray[np.uint32] | None:
        set_counts[active] = counts[active, node]
        sums.add(node, active, set_counts)
        active = active[set_counts[active] > 1]
        return active if len(active) else None

    walk_sets(tree.children, read_set(0, np.arange(size, dtype=np.uint32)), read_set)
    return sums.finish(np.ones(size, dtype=np.int64))
