"""The record-level risk of tables with many millions of records, in few bytes per record.

The same sums as :mod:`discreet.engine.known_sets.counter` takes, in the same order of the tree, with less kept:

* what would be learnt of a record is the number of its kind (:mod:`discreet.risks.known_sets.kinds`), not its weights;
* a set's groups are written beside its parent's, four bytes per record and level, and packed only where half of the records left;
* where most records ask, records and queries are one list;
* of each query only two sums are kept, that of the kept sets and that with all that lies below them; the set that adds most to
  one record's risk is found when somebody asks for that record.

With L levels of sets that have children, a table where everyone asks needs about 26 + 4 L bytes per record besides its codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.encoding.columns import encode
from discreet.engine.known_sets.effective_size import Sizes, effective_sizes
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.inputs import build_queries, single_pattern
from discreet.engine.known_sets.sums import KnownSets, build_classes, sum_in_one_walk
from discreet.engine.known_sets.terms import terms
from discreet.model.microdata import Microdata
from discreet.risks.known_sets.kinds import Kinds, kinds_of
from discreet.risks.known_sets.large_counter import LargeCounter

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 20
_MOST = (1 << 31) - 1
LEAST = 8_000_000
"""Tables of fewer records are counted with everything kept."""


@dataclass
class Sums:
    """The sum of the kept sets of each record that asks (row ``slots[i]``, or row i where there are none), and their bounds."""

    records: int
    slots: NDArray[np.uint32] | None
    risk: NDArray[np.float64]
    _far: NDArray[np.float64]
    _counts: NDArray[np.int32]
    _kind: NDArray[Any]
    _spread: NDArray[np.float64]
    _dropped: NDArray[np.float64]
    _masses: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
    """Of each kind its C, and the sums with every count 1 over the kept sets and over all, the empty set left out."""

    def blocks(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], Sizes]]:
        """Risk, its bounds (before the coefficient alpha) and effective class size of the records that ask, some at a time.

        The sizes are kept where the sums with all that lies below were: those are not needed any more.
        """
        for begin in range(0, len(self.risk), _BLOCK):
            part = slice(begin, begin + _BLOCK)
            risk, kind = self.risk[part], self._kind[part]
            lower = np.maximum(self._far[part] * self._spread[kind], risk)
            upper = np.maximum(risk + self._dropped[kind] / np.maximum(self._counts[part], 1), lower)
            weight, kept, whole = (mass[kind] for mass in self._masses)
            sizes = effective_sizes(risk, lower, upper, weight, kept, whole, self.records)
            self._far[part] = sizes.value
            yield risk, lower, upper, sizes

    def sizes(self) -> NDArray[np.float64]:
        """The effective class sizes, after ``blocks`` and before ``forget_bounds``; gaps are at the end and left out."""
        self._far.sort()
        return self._far[: len(self._far) - int(np.isnan(self._far).sum())]

    def forget_bounds(self) -> None:
        """Let go of all but the risks."""
        self._far, self._counts, self._kind = self._far[:0], self._counts[:0], self._kind[:0]

    def largest(self, number: int) -> NDArray[np.int64]:
        """The places of the largest sums, and of those that tie with the last of them; sums of 0 are none."""
        place = max(len(self.risk) - number, 0)
        least = np.partition(self.risk, place)[place] if len(self.risk) and number else np.inf
        return np.flatnonzero((self.risk >= least) & (self.risk > 0))

    def rows(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of the data behind some of the sums."""
        return at if self.slots is None else self.slots[at].astype(np.int64)


def large_sums(data: Microdata, names: list[str], tree: Family) -> Sums | None:
    """Sum over the kept sets, and bound the sum over all, a null being one more value; none where there is no such short way."""
    kinds = kinds_of(data, names) if 0 < len(data) <= _MOST else None
    if kinds is None:
        return None
    pattern, patterns = single_pattern(len(kinds.example))
    ask = build_queries(data, tree, names, kinds.example, pattern, patterns)
    ordered = [names[at] for at in tree.order if data.attribute(names[at]).known > 0]
    columns = encode(data, ordered)
    slots = _query_rows(kinds)
    kind = kinds.of if slots is None else kinds.of[slots]
    del kinds
    codes = [column.codes for column in columns]
    query_codes = codes if slots is None else [column_codes[slots] for column_codes in codes]
    parts = terms(tree, ask.singles, ask.patterns)
    cardinalities = [column.cardinality for column in columns]
    with LargeCounter(len(data), codes, query_codes, cardinalities, kind, everyone=slots is None) as counter:
        counts = counter.count_all()
        near, far = counter.sum_sets(tree, parts, ask)
    kept, whole = parts.kept_below[0, 0], parts.whole_below[0, 0]
    kept_mass = kept[0] * ask.weight + ask.single @ kept[1:]
    whole_mass = whole[0] * (ask.weight - ask.rest) + ask.single @ whole[1:]
    masses = ask.weight, kept_mass - ask.weight, whole_mass * ask.spread - ask.weight
    return Sums(len(data), slots, near, far, counts, kind, ask.spread, whole_mass * ask.spread - kept_mass, masses)


def sums_of_rows(data: Microdata, names: list[str], tree: Family, rows: NDArray[np.int64]) -> KnownSets:
    """All that can be said of a few records, counted for them alone."""
    classes, queries, ordered = build_classes(data, names, tree, rows, "category", None)
    return KnownSets(names, tree, rows, sum_in_one_walk(tree, classes, queries, len(ordered)), queries.weight)


def bytes_per_record(tree: Family, asking: float, *, short: bool) -> float:
    """About how many bytes per record counting holds besides the codes, where such a share of the records asks.

    ``short`` is the way of this module; the other is that of :mod:`discreet.engine.known_sets.counter`.
    """
    inner = tree.depth[tree.end > np.arange(len(tree)) + 1]
    levels = int(inner.max(initial=0))
    if not short:
        return 20 + 6 * levels + asking * (150 + 12 * levels)
    if asking > 0.5:
        return 26 + 4 * levels
    return 6 + 4 * levels + asking * (38 + 8 * levels)


def _query_rows(kinds: Kinds) -> NDArray[np.uint32] | None:
    """The rows of those of whom something can be learnt, or none where they are most: then everyone asks."""
    if kinds.learns.all():
        return None
    parts = []
    number = 0
    for begin in range(0, len(kinds.of), _BLOCK):
        rows = np.flatnonzero(kinds.learns[kinds.of[begin : begin + _BLOCK]])
        parts.append((rows + begin).astype(np.uint32))
        number += len(rows)
        if 2 * number > len(kinds.of):
            return None
    return np.concatenate(parts)
