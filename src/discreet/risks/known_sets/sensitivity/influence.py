r"""Which guess the risk rests on: the elasticity of every sum with respect to every probability and sensitivity, in one walk.

D(r) is linear in each guess, so its elasticity is a share of D(r):

    p_a: \sum_{S \ni a} d_S(r) / D(r)  with d_S = PK(S) (C - c_S) / n_S,      w_a: \sum_{S \not\ni a} (PK(S) / n_S) w_a(r) / D(r).

For the mean, only the total of each set over all records is needed, and a query that is alone in a set is so in every larger set:
it is added once, and handed down the tree after the walk. The cost of the walk does not depend on the number of attributes. For
single records, the counts of the sets are kept for those records alone, and all shares follow by one matrix product.
See docs/theory/sensitivity.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.encoding.columns import encode
from discreet.engine.known_sets.counter import Counter
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.inputs import weights_of
from discreet.engine.known_sets.queries import Queries, RecordClass
from discreet.engine.known_sets.sums import Missing, build_classes, distinct_queries
from discreet.engine.known_sets.terms import Pattern, terms
from discreet.model.microdata import Microdata
from discreet.risks.known_sets.sensitivity.influence_kernels import gather

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_COUNTS = 25_000_000
"""Counts of single records that are kept at once."""
_BLOCK = 2048
"""Records whose shares are computed at once."""


@dataclass(frozen=True)
class Shares:
    """Parts of some records' sums without the empty set: rows are places of the family's order, or sensitive attributes.

    ``known`` and ``sensitive`` are the parts of M = ``total``, ``known_mass`` and ``sensitive_mass`` those of N = ``mass``, the
    sum with every count 1. Columns are the records.
    """

    known: NDArray[np.float64]
    sensitive: NDArray[np.float64]
    known_mass: NDArray[np.float64]
    sensitive_mass: NDArray[np.float64]
    total: NDArray[np.float64]
    mass: NDArray[np.float64]


class Influence:
    """The queries of a table, and one walk that adds up what every guess contributes.

    ``rows`` are the first records of each kind, ``kind`` the kind of each record in ``slots``; None where all differ.
    """

    def __init__(
        self, data: Microdata, names: list[str], tree: Family, slots: NDArray[np.int64], missing: Missing,
        original: Microdata | None,
    ) -> None:  # fmt: skip
        self.data, self.names, self.tree, self.slots = data, names, tree, slots
        duplicates = distinct_queries(data, names, slots) if original is None else None
        self.kind = None if duplicates is None else duplicates.kind
        self.rows = slots if duplicates is None else slots[duplicates.first]
        self.first = np.arange(len(slots)) if duplicates is None else duplicates.first
        self.multiplicity = np.ones(len(slots)) if duplicates is None else np.bincount(duplicates.kind).astype(np.float64)
        self.classes, self.queries, self.ordered = build_classes(data, names, tree, self.rows, missing, original)
        weights = weights_of(data, names)
        self.sensitive = list(weights)
        columns = encode(data, self.sensitive)
        self.weight = np.array([weights[column.name][column.codes[self.rows]] for column in columns]).reshape(
            len(self.sensitive), len(self.rows)
        )
        self.homes = find_homes(tree, self.queries.patterns)
        self.member = _members(tree)

    def walk(self, chosen: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64], float, Shares]:
        """The parts of the sum of all D (before alpha) that rest on each probability and each sensitivity, and that sum.

        Also the shares of ``chosen`` queries, from the same walk.
        """
        tree, queries = self.tree, self.queries
        coefficients = terms(tree, queries.singles, queries.patterns)
        kept, below = coefficients.kept[:, :, 0].copy(), coefficients.kept_below[:, :, 0].copy()
        columns = np.column_stack((queries.weight, queries.single)) * self.multiplicity[:, None]
        own, alone = (np.zeros((len(tree), len(queries.patterns), columns.shape[1])) for _ in range(2))
        likelihood = np.zeros(len(queries))
        counted = np.ones((len(tree), len(chosen)), dtype=np.int32)

        def visit(node: int, active: NDArray[np.uint32], counts: NDArray[np.int32]) -> None:
            arrays = (columns, kept[node], below[node], own[node], alone[node], likelihood)
            gather(active, counts, queries.pattern, *arrays)
            if len(chosen):
                counted[node] = counts[chosen]

        with Counter(self.classes, queries) as counter:
            counter.walk(tree, visit)
        totals = own + _hand_down(tree, alone)
        known, single, total = self._shares_of_total(totals)
        sensitive = (self.weight * (likelihood * self.multiplicity)).sum(axis=1)
        for at, place in enumerate(queries.singles):
            sensitive[self.sensitive.index(self._name(place))] = single[at]
        return known, sensitive, total, self._shares_of_records(chosen, counted)

    def shares(self, chosen: NDArray[np.int64]) -> Shares:
        """The shares of chosen queries by a walk for these alone."""
        classes: Sequence[RecordClass] = [own.for_queries(chosen) for own in self.classes]
        queries = _part(self.queries, chosen)
        counted = np.ones((len(self.tree), len(chosen)), dtype=np.int32)

        def visit(node: int, _: NDArray[np.uint32], counts: NDArray[np.int32]) -> None:
            counted[node] = counts

        with Counter(classes, queries) as counter:
            counter.walk(self.tree, visit)
        return self._shares_of_records(chosen, counted)

    @property
    def at_once(self) -> int:
        """How many queries' counts are kept at once."""
        return max(1, _MOST_COUNTS // len(self.tree))

    def _name(self, place: int) -> str:
        return self.names[int(self.tree.order[place])]

    def _shares_of_total(self, totals: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Of the sums ``[node, pattern, 1 + singles]`` at each set: what rests on each place, on each single, and all."""
        tree, singles = self.tree, self.queries.singles
        inside = self.member[:, singles]
        whole, single = np.zeros(len(tree)), np.zeros(len(singles))
        for pattern in range(len(self.queries.patterns)):
            matching_sets = np.flatnonzero(self.homes[:, pattern] >= 0)
            at_home = totals[self.homes[matching_sets, pattern], pattern] * tree.chance[matching_sets, None]
            whole[matching_sets] += at_home[:, 0] - (at_home[:, 1:] * inside[matching_sets]).sum(axis=1)
            single += (at_home[:, 1:] * ~inside[matching_sets]).sum(axis=0)
        return whole @ self.member, single, float(whole.sum())

    def _shares_of_records(self, chosen: NDArray[np.int64], counted: NDArray[np.int32]) -> Shares:
        size, places = len(chosen), self.member.shape[1]
        rows = {name: np.zeros((places, size)) for name in ("known", "known_mass")}
        rows |= {name: np.zeros((len(self.sensitive), size)) for name in ("sensitive", "sensitive_mass")}
        total, mass = np.zeros(size), np.zeros(size)
        place_of = {self._name(place): place for place in range(self.tree.width)}
        single_at = [place_of.get(name, -1) for name in self.sensitive]
        own_pattern = self.queries.pattern[chosen]
        for pattern in np.unique(own_pattern):
            mine = np.flatnonzero(own_pattern == pattern)
            matching_sets = np.flatnonzero(self.homes[:, pattern] >= 0)
            matching_sets = matching_sets[matching_sets > 0]  # without the empty set
            home, inside, chance = (
                self.homes[matching_sets, pattern],
                self.member[matching_sets].astype(np.float64),
                self.tree.chance[matching_sets],
            )
            outside = np.array([chance if place < 0 else chance * (1 - inside[:, place]) for place in single_at]).reshape(
                len(single_at), len(matching_sets)
            )
            for begin in range(0, len(mine), _BLOCK):
                part = mine[begin : begin + _BLOCK]
                slots = chosen[part]
                inverse = 1.0 / counted[np.ix_(home, part)]
                learnt = self.queries.weight[slots] - inside[:, self.queries.singles] @ self.queries.single[slots].T
                unit = chance[:, None] * learnt
                value = unit * inverse
                rows["known"][:, part], rows["known_mass"][:, part] = inside.T @ value, inside.T @ unit
                total[part], mass[part] = value.sum(axis=0), unit.sum(axis=0)
                rows["sensitive"][:, part] = (outside @ inverse) * self.weight[:, slots]
                rows["sensitive_mass"][:, part] = outside.sum(axis=1)[:, None] * self.weight[:, slots]
        return Shares(rows["known"], rows["sensitive"], rows["known_mass"], rows["sensitive_mass"], total, mass)


def find_homes(tree: Family, patterns: Sequence[Pattern]) -> NDArray[np.int64]:
    """For each set and pattern the set whose count it has: itself without what the query lacks; -1: it is not found by it."""
    unknown, lost = (
        np.array([[place in getattr(shape, which) for place in range(tree.width)] for shape in patterns]).reshape(
            len(patterns), tree.width
        )
        for which in ("unknown", "lost")
    )
    child = np.full((len(tree), tree.width), -1, dtype=np.int64)
    child[tree.parent[1:], tree.last[1:]] = np.arange(1, len(tree))
    homes = np.zeros((len(tree), len(patterns)), dtype=np.int64)
    for node in range(1, len(tree)):
        above, place = homes[tree.parent[node]], int(tree.last[node])
        home = np.where(unknown[:, place], above, child[above, place])
        homes[node] = np.where(lost[:, place] | (above < 0), -1, home)
    return homes


def _members(tree: Family) -> NDArray[np.bool_]:
    """Which places of the family's order each set holds."""
    member = np.zeros((len(tree), tree.width), dtype=np.bool_)
    for node in range(1, len(tree)):
        member[node] = member[tree.parent[node]]
        member[node, tree.last[node]] = True
    return member


def _hand_down(tree: Family, alone: NDArray[np.float64]) -> NDArray[np.float64]:
    """What is alone at a set, added to the set and to all sets below it."""
    handed = alone.copy()
    for depth in range(1, int(tree.depth.max()) + 1):
        nodes = np.flatnonzero(tree.depth == depth)
        handed[nodes] += handed[tree.parent[nodes]]
    return handed


def _part(queries: Queries, chosen: NDArray[np.int64]) -> Queries:
    return Queries(
        queries.weight[chosen], queries.rest[chosen], queries.spread[chosen], queries.single[chosen], queries.singles,
        queries.pattern[chosen], queries.patterns,
    )  # fmt: skip
