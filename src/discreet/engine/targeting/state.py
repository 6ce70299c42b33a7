"""A table while values are taken from it: who agrees with whom on every kept set, without encoding anything anew.

The measure is that of :mod:`discreet.engine.known_sets.sums`; here the counts of each kept set are kept record by record, for
the few records that are above a threshold, so that any choice of their values to blank can be weighed without counting again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.cells.weights import cell_weights
from discreet.engine.encoding.columns import Column, encode
from discreet.engine.known_sets.counter import Counter
from discreet.engine.known_sets.duplicates import find_duplicates
from discreet.engine.known_sets.excess import excess_over
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.inputs import classes_by_nulls, single_class, single_pattern
from discreet.engine.known_sets.queries import Queries
from discreet.engine.known_sets.sums import KnownSets, Missing, known_sets
from discreet.engine.known_sets.threads import KernelThreads
from discreet.engine.overlap.tables import classes_by_overlap_with_nulls, has_overlaps
from discreet.engine.targeting.kernels import copy_counts, risks
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_COUNTS = 50_000_000
_ONE_THREAD = 200
"""Records that one thread looks at faster than two."""


def run_on_records(kernel: Callable[..., None], size: int, *inputs: Any) -> None:
    """Run a kernel that ends with (start, stop) over so many records, on all threads."""
    with KernelThreads() as threads:
        threads.run_slices(kernel, size, *inputs, least=_ONE_THREAD)


def tree_arrays(tree: Family, share: float = 0.0) -> tuple[Any, ...]:
    """The family for kernels: parent, last, chance, rank, the children of each set side by side, and ``share``.

    ``share`` is 1 / among where records are to be hidden among so many, and 0 where their risk is to be lowered.
    """
    children = np.argsort(tree.parent[1:], kind="stable") + 1
    first = np.searchsorted(tree.parent[children], np.arange(len(tree)))
    return tree.parent, tree.last, tree.chance, tree.rank, first, children, float(share)


@dataclass
class Targets:
    """The table as it stands: the codes of every attribute in the family's order, blanks included."""

    data: Microdata
    start: KnownSets
    missing: Missing
    names: list[str]
    columns: list[Column]
    weights: list[NDArray[np.float64]]
    blank: NDArray[np.float64]
    arrays: tuple[Any, ...]
    own: set[int] = field(default_factory=set)
    related: bool = False
    """Whether cells agree by overlap, so that equal codes are not enough."""

    @classmethod
    def of(cls, data: Microdata, *, epsilon: float, max_sets: int, missing: Missing, share: float = 0.0) -> Targets:
        """Measure the table once; with a ``share`` all risks are excesses over it (see :mod:`discreet.engine.effective_size`)."""
        start = known_sets(data, epsilon=epsilon, max_sets=max_sets, missing=missing)
        start = replace(start, per_record=excess_over(share, start.per_record, start.consequence, len(data)))
        names = [start.names[at] for at in start.tree.order]
        columns = encode(data, names)
        weights, blank = [], np.zeros(len(names))
        for at, column in enumerate(columns):
            attribute = data.attribute(names[at])
            blank[at] = attribute.sensitivity * attribute.unlisted
            value_weights = np.zeros(column.cardinality)
            if attribute.sensitivity > 0:
                value_weights = cell_weights(column, attribute, data.cells.get(names[at]))
            weights.append(np.append(value_weights[: len(column.values)], blank[at]))
        related = has_overlaps(data, columns[: start.tree.width])
        arrays = tree_arrays(start.tree, share)
        return cls(data, start, missing, names, columns, weights, blank, arrays, related=related)

    @property
    def tree(self) -> Family:
        return self.start.tree

    @property
    def everyone(self) -> int:
        """How many records the table has."""
        return len(self.data)

    def copy(self) -> Targets:
        """The same table, from which values can be taken without touching this one."""
        return replace(self, columns=list(self.columns), own=set())

    def nulls(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which values of these records are blank."""
        blanks = np.zeros((len(rows), len(self.names)), dtype=np.bool_)
        for at, column in enumerate(self.columns):
            if column.has_null:
                blanks[:, at] = column.codes[rows] == len(column.values)
        return blanks

    def weight(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """W(A) W(value) of these records' attributes."""
        return np.stack([weight[column.codes[rows]] for weight, column in zip(self.weights, self.columns, strict=True)], axis=1)

    def take(self, rows: NDArray[np.int64], gone: NDArray[np.bool_]) -> int:
        """Blank these records' attributes; how many values that were."""
        taken = 0
        for at, column in enumerate(self.columns):
            mine = rows[gone[:, at]]
            mine = mine[column.codes[mine] != len(column.values)]
            if not len(mine):
                continue
            if at not in self.own:
                self.columns[at] = Column(column.name, column.codes.copy(), column.values, True)
                self.own.add(at)
            self.columns[at].codes[mine] = len(column.values)
            taken += len(mine)
        return taken

    def released(self) -> dict[str, pl.Series]:
        """The columns that lost values."""
        columns = {}
        for at in sorted(self.own):
            column, series = self.columns[at], self.data.frame[self.names[at]]
            columns[column.name] = series.set(pl.Series(column.is_null), None)
        return columns

    def each_kind(
        self, rows: NDArray[np.int64], decide: Callable[[NDArray[np.int64], NDArray[np.int32]], NDArray[Any]]
    ) -> NDArray[Any] | None:
        """What is decided of each record from its values and counts; records that are alike are looked at once.

        None where there are no records.
        """
        decisions, kind = self.of_kinds(rows, decide)
        return decisions if decisions is None or kind is None else decisions[kind]

    def of_kinds(
        self, rows: NDArray[np.int64], decide: Callable[[NDArray[np.int64], NDArray[np.int32]], NDArray[Any]]
    ) -> tuple[NDArray[Any] | None, NDArray[np.int64] | None]:
        """The same once for each kind of record, with the kind of each; no kinds where the records are hardly ever alike."""
        learnt = zip(self.columns[self.tree.width :], self.weights[self.tree.width :], strict=True)
        duplicates = find_duplicates(
            self.columns[: self.tree.width], [(column, weights[: column.cardinality]) for column, weights in learnt], rows
        )
        decisions = [
            decide(part, counts) for part, counts in self.counted(rows if duplicates is None else rows[duplicates.first])
        ]
        return (np.concatenate(decisions) if decisions else None), None if duplicates is None else duplicates.kind

    def counted(self, rows: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """The records in parts, with the counts of every kept set."""
        step = max(1, _MOST_COUNTS // len(self.tree))
        for begin in range(0, len(rows), step):
            part = rows[begin : begin + step]
            yield part, self.counts(part)

    def counts(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """``[record, set]``: who agrees; at least 1 everywhere, and not to be read where the record has a blank in the set."""
        if (rows[1:] < rows[:-1]).any():  # counting takes all records for themselves in their order
            order = np.argsort(rows, kind="stable")
            back = np.empty_like(order)
            back[order] = np.arange(len(order))
            return np.ascontiguousarray(Targets.counts(self, rows[order])[back])
        tree, size = self.tree, len(self.data)
        columns = self.columns[: tree.width]
        if self.related:
            classes, pattern, patterns = classes_by_overlap_with_nulls(
                self.data, columns, rows, null_agrees=self.missing == "wildcard"
            )
        elif self.missing == "wildcard" and any(column.has_null for column in columns):
            classes, pattern, patterns = classes_by_nulls(columns, rows, size)
        else:
            classes = single_class(columns, rows, size)
            pattern, patterns = single_pattern(len(rows))
        empty = np.zeros(len(rows))
        queries = Queries(empty, empty, empty, np.zeros((len(rows), 0)), [], pattern, patterns)
        counts_by_set = np.ones((len(tree), len(rows)), dtype=np.int32)  # who is alone in a set is alone in all larger ones
        with Counter(classes, queries) as counter:
            counter.walk(
                tree,
                lambda node, *counted: counter.threads.run_slices(copy_counts, len(counted[0]), *counted, counts_by_set[node]),
            )
        return np.ascontiguousarray(counts_by_set.T)

    def risks(self, rows: NDArray[np.int64], counts: NDArray[np.int32]) -> NDArray[np.float64]:
        """The risk of these records as the table stands, before alpha."""
        gone = self.nulls(rows) if self.missing == "wildcard" else np.zeros((len(rows), len(self.names)), dtype=np.bool_)
        risk = np.empty(len(rows))
        run_on_records(risks, len(rows), counts, self.weight(rows), self.blank, gone, self.arrays, risk)
        return risk

    def measure(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Count and sum: the risk of these records as the table stands, before alpha."""
        risk = self.each_kind(rows, self.risks)
        return np.zeros(0) if risk is None else risk
