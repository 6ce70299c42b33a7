"""The visitor that adds up each query's risk, set by set, and bounds what epsilon dropped."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.known_sets import kernels, small_kernels
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.queries import Queries
from discreet.engine.known_sets.terms import terms
from discreet.engine.known_sets.threads import KernelThreads

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class RecordSums:
    """The sums of each query, before the consequence coefficient."""

    risk: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    top: NDArray[np.float64]
    top_node: NDArray[np.int32]
    likelihood: NDArray[np.float64]
    count_all: NDArray[np.int64]
    kept_mass: NDArray[np.float64]
    """The sum over the kept sets but the empty one with every count 1, and the same over all sets: exact, without a walk."""
    whole_mass: NDArray[np.float64]

    @classmethod
    def empty(cls, size: int) -> RecordSums:
        """For so many queries, to be filled in."""
        risk, lower, upper, top, likelihood, kept, whole = (np.zeros(size) for _ in range(7))
        return cls(risk, lower, upper, top, np.zeros(size, np.int32), likelihood, np.zeros(size, np.int64), kept, whole)

    def fill(self, slots: NDArray[np.int64], sums: RecordSums) -> None:
        """Write what was found of some of the queries."""
        for field in fields(self):
            getattr(self, field.name)[slots] = getattr(sums, field.name)

    def spread(self, kind: NDArray[np.int64]) -> RecordSums:
        """The sums of records that ask as these did: ``kind`` names the one that each asks like."""
        return RecordSums(*(getattr(self, field.name)[kind] for field in fields(self)))


class RiskSums:
    """Adds the part of each set that is visited to the sums of the queries that are still active.

    A query with the count 1 is alone in every larger set too, so it gets the whole subtree at once; the walk drops it.
    """

    def __init__(self, tree: Family, queries: Queries, threads: KernelThreads) -> None:
        self.tree, self.queries, self.threads = tree, queries, threads
        self.terms = terms(tree, queries.singles, queries.patterns)
        self.near, self.far, self.likelihood, self.top = (np.zeros(len(queries)) for _ in range(4))
        self.top_node = np.zeros(len(queries), np.int32)
        self._likeliest: dict[tuple[int, int], list[int]] = {}

    def add(self, node: int, active: NDArray[np.uint32], counts: NDArray[np.int32]) -> None:
        """Add one set to the active queries, by how many records agree with each on it."""
        ask, parts, chance = self.queries, self.terms, float(self.tree.chance[node])
        rows = (parts.kept[node], parts.whole[node], parts.kept_below[node], parts.whole_below[node])
        place = (chance, node, self.tree.rank, self.near, self.far, self.likelihood)
        if ask.plain:
            self.threads.run_slices(
                kernels.add_plain, len(active), active, counts, ask.pattern, *rows, *place, self.top_node
            )  # fmt: skip
        else:
            self._add_weighted(node, active, counts, rows, place)
        if not self.tree.is_plain:
            self._raise_tops(node, active[counts[active] == 1])

    def _add_weighted(
        self, node: int, active: NDArray[np.uint32], counts: NDArray[np.int32], rows: tuple[Any, ...], place: tuple[Any, ...]
    ) -> None:
        ask, parts = self.queries, self.terms
        self.threads.run_slices(
            kernels.add, len(active), active, counts, ask.pattern, ask.weight, ask.rest, ask.single, *rows, parts.member[node],
            *place, self.top, self.top_node,
        )  # fmt: skip

    def _raise_tops(self, node: int, alone: NDArray[np.uint32]) -> None:
        """Of queries that leave the walk: a larger set may be likelier than this one, where probabilities do not fall."""
        ask, tree = self.queries, self.tree
        for shape in np.unique(ask.pattern[alone]):
            slots = alone[ask.pattern[alone] == shape]
            for best in self._likeliest_below(node, int(shape)):
                chance = float(tree.chance[best])
                learnt = ask.weight[slots] - ask.single[slots] @ self.terms.member[best]
                if ask.plain:
                    part, before = np.full(len(slots), chance), self.likelihood[slots]
                else:
                    part, before = chance * learnt, self.top[slots]
                better = small_kernels.is_better(part, before, tree.rank, best, self.top_node[slots])
                self.top_node[slots] = np.where(better, best, self.top_node[slots])
                self.top[slots] = np.where(better, part, self.top[slots])
                self.likelihood[slots] = np.maximum(self.likelihood[slots], chance)

    def _likeliest_below(self, node: int, shape: int) -> list[int]:
        """The likeliest larger set for each combination of sensitive attributes in it, among those that a pattern asks by."""
        key = (node, shape)
        if key not in self._likeliest:
            tree, pattern = self.tree, self.queries.patterns[shape]
            blocked = pattern.unknown | pattern.lost
            best: dict[bytes, int] = {}
            for below in range(node + 1, int(tree.end[node])):
                if tree.chance[below] == 0 or not blocked.isdisjoint(tree.sets[below]):
                    continue
                members = self.terms.member[below].tobytes()
                known = best.get(members)
                if known is None or (-tree.chance[below], tree.rank[below]) < (-tree.chance[known], tree.rank[known]):
                    best[members] = below
            self._likeliest[key] = list(best.values())
        return self._likeliest[key]

    def finish(self, count_all: NDArray[np.int64]) -> RecordSums:
        """Sums into risks: what epsilon dropped is at most its whole mass at the smallest count there is."""
        ask, near, far, top = self.queries, self.near, self.far, self.top
        if ask.plain:
            near, far, top = near * ask.weight, far * (ask.weight - ask.rest), self.likelihood * ask.weight
        kept, whole = self.terms.kept_below[0][ask.pattern], self.terms.whole_below[0][ask.pattern]
        kept_mass = kept[:, 0] * ask.weight + (kept[:, 1:] * ask.single).sum(axis=1)
        whole_mass = whole[:, 0] * (ask.weight - ask.rest) + (whole[:, 1:] * ask.single).sum(axis=1)
        lower = np.maximum(far * ask.spread, near)  # equal but for rounding where nothing was dropped
        upper = np.maximum(near + (whole_mass * ask.spread - kept_mass) / np.maximum(count_all, 1), lower)
        empty = float(self.tree.chance[0]) * ask.weight
        masses = kept_mass - empty, whole_mass * ask.spread - empty
        return RecordSums(near, lower, upper, top, self.top_node, self.likelihood, count_all, *masses)
