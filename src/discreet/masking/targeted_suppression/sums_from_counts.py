"""The sums over known sets of records whose counts are known already: to the last bit what counting them finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.known_sets.counter import Counter, Found, Queries
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.terms import Pattern, Terms, terms

if TYPE_CHECKING:
    from numpy.typing import NDArray


def told_sums(
    tree: Family, singles: list[int], weight: NDArray[np.float64], single: NDArray[np.float64], counts: NDArray[np.int32]
) -> Found:
    """Risk and top set from ``counts[record, set]``; the bounds of what epsilon dropped are not asked for here."""
    size = len(weight)
    pattern = np.zeros(size, dtype=np.int32)
    asked = Queries(weight, np.zeros(size), np.ones(size), single, singles, pattern, [Pattern()])
    return _Told(asked, counts).sums(tree, terms(tree, singles, asked.patterns))


class _Told(Counter):
    """Walks as a counter does, and reads what others counted."""

    def __init__(self, queries: Queries, counts: NDArray[np.int32]) -> None:
        super().__init__([], queries)
        self.counts, self.workers = counts, 1

    def sums(self, tree: Family, parts: Terms) -> Found:
        made = self.empty()
        actives = [np.arange(len(self.queries), dtype=np.uint32)]
        node = 0
        while node < len(tree):
            depth = int(tree.depth[node])
            del actives[depth + 1 :]
            active = actives[depth]
            if not len(active):
                node = int(tree.end[node])
                continue
            self.found[active] = self.counts[active, node]
            self.add(tree, parts, node, active, made)
            actives.append(active[self.found[active] > 1])
            node += 1
        return self.finish(parts, made, np.ones(len(self.queries), dtype=np.int64), len(tree))
