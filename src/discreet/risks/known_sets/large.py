"""The record-level risk of tables with many millions of records, in few bytes per record.

The same sums as in :mod:`discreet.engine.known_sets.counter`, in the same order of the tree, with less in memory:

* a record holds the number of its class (:mod:`discreet.risks.known_sets.consequence_classes`) instead of its weights;
* a set's groups are stored beside its parent's, four bytes per record and level, and packed only when half of the records left;
* where most records are queries, records and queries are one list;
* only two sums per query are stored, that of the kept sets and that including all larger sets; the set that contributes most
  to the risk of a record is computed on demand.

With L levels of sets that have children, a table in which every record is a query needs about 26 + 4 L bytes per record besides
its codes.
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
from discreet.risks.known_sets.consequence_classes import ConsequenceClasses, consequence_classes
from discreet.risks.known_sets.large_counter import LargeCounter

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 20
_MOST = (1 << 31) - 1
LARGE_TABLE = 8_000_000
"""Number of records from which this module is used; smaller tables use the counter of the engine."""


@dataclass
class LargeSums:
    """The sum of the kept sets of each query (row ``slots[i]``, or row i where slots is None), and its bounds."""

    records: int
    slots: NDArray[np.uint32] | None
    risk: NDArray[np.float64]
    _far: NDArray[np.float64]
    _counts: NDArray[np.int32]
    _kind: NDArray[Any]
    _spread: NDArray[np.float64]
    _dropped: NDArray[np.float64]
    _masses: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
    """For each consequence class its C, and the sums with every count 1 over the kept and over all sets but the empty one."""

    def blocks(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], Sizes]]:
        """Risk, its bounds (before the coefficient alpha) and effective class size of the queries, block by block.

        The sizes overwrite the sums that include all larger sets, which are no longer needed.
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
        """The sorted effective class sizes without NaN; call after ``blocks`` and before ``forget_bounds``."""
        self._far.sort()
        return self._far[: len(self._far) - int(np.isnan(self._far).sum())]

    def forget_bounds(self) -> None:
        """Free everything but the risks."""
        self._far, self._counts, self._kind = self._far[:0], self._counts[:0], self._kind[:0]

    def largest(self, number: int) -> NDArray[np.int64]:
        """The positions of the largest sums, including ties with the last of them; sums of 0 are left out."""
        position = max(len(self.risk) - number, 0)
        least = np.partition(self.risk, position)[position] if len(self.risk) and number else np.inf
        return np.flatnonzero((self.risk >= least) & (self.risk > 0))

    def rows(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of the data of the sums at the given positions."""
        return positions if self.slots is None else self.slots[positions].astype(np.int64)


def large_sums(data: Microdata, names: list[str], tree: Family) -> LargeSums | None:
    """Sum over the kept sets and bound the sum over all sets, null being a value; None where this method does not apply."""
    classes = consequence_classes(data, names) if 0 < len(data) <= _MOST else None
    if classes is None:
        return None
    pattern, patterns = single_pattern(len(classes.example))
    queries = build_queries(data, tree, names, classes.example, pattern, patterns)
    ordered = [names[index] for index in tree.order if data.attribute(names[index]).known > 0]
    columns = encode(data, ordered)
    slots = _query_rows(classes)
    kind = classes.of if slots is None else classes.of[slots]
    del classes
    codes = [column.codes for column in columns]
    query_codes = codes if slots is None else [column_codes[slots] for column_codes in codes]
    parts = terms(tree, queries.singles, queries.patterns)
    cardinalities = [column.cardinality for column in columns]
    with LargeCounter(len(data), codes, query_codes, cardinalities, kind, everyone=slots is None) as counter:
        counts = counter.count_all()
        near, far = counter.sum_sets(tree, parts, queries)
    kept, whole = parts.kept_below[0, 0], parts.whole_below[0, 0]
    kept_mass = kept[0] * queries.weight + queries.single @ kept[1:]
    whole_mass = whole[0] * (queries.weight - queries.rest) + queries.single @ whole[1:]
    masses = queries.weight, kept_mass - queries.weight, whole_mass * queries.spread - queries.weight
    return LargeSums(len(data), slots, near, far, counts, kind, queries.spread, whole_mass * queries.spread - kept_mass, masses)


def sums_of_rows(data: Microdata, names: list[str], tree: Family, rows: NDArray[np.int64]) -> KnownSets:
    """The full result for a few records, counted for these records only."""
    classes, queries, ordered = build_classes(data, names, tree, rows, "category", None)
    return KnownSets(names, tree, rows, sum_in_one_walk(tree, classes, queries, len(ordered)), queries.weight)


def bytes_per_record(tree: Family, asking: float, *, short: bool) -> float:
    """The approximate memory in bytes per record besides the codes, where a share ``asking`` of the records are queries.

    ``short``: the method of this module; otherwise that of :mod:`discreet.engine.known_sets.counter`.
    """
    inner = tree.depth[tree.end > np.arange(len(tree)) + 1]
    levels = int(inner.max(initial=0))
    if not short:
        return 20 + 6 * levels + asking * (150 + 12 * levels)
    if asking > 0.5:
        return 26 + 4 * levels
    return 6 + 4 * levels + asking * (38 + 8 * levels)


def _query_rows(classes: ConsequenceClasses) -> NDArray[np.uint32] | None:
    """The rows of records with something to learn; None where they are the majority, so that every record is a query."""
    if classes.learns.all():
        return None
    parts = []
    number = 0
    for begin in range(0, len(classes.of), _BLOCK):
        rows = np.flatnonzero(classes.learns[classes.of[begin : begin + _BLOCK]])
        parts.append((rows + begin).astype(np.uint32))
        number += len(rows)
        if 2 * number > len(classes.of):
            return None
    return np.concatenate(parts)
