"""A table whose values are being suppressed: for every kept set the number of agreeing records, without encoding it again.

The measure is that of :mod:`discreet.engine.known_sets.sums`. Here the counts of each kept set are stored per record, for the few
records above a threshold, so that any choice of values to suppress can be evaluated without counting again.
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
from discreet.engine.runtime.compiled import is_compiler_loaded
from discreet.engine.targeting.kernels import compute_risks, copy_counts
from discreet.engine.targeting.small_counts import FEW_RECORDS, count_by_bits
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_COUNTS = 50_000_000
_MIN_RECORDS_PER_THREAD = 200
"""Below this number of records one thread is faster than two."""


def run_on_records(kernel: Callable[..., None], size: int, *inputs: Any) -> None:
    """Run a kernel whose last parameters are (start, stop) over ``size`` records, on all threads."""
    # without the compiler a kernel loops over sets in Python, which two threads would do twice, one after the other
    least = _MIN_RECORDS_PER_THREAD if is_compiler_loaded() else None
    with KernelThreads() as threads:
        threads.run_slices(kernel, size, *inputs, least=least)


def family_arrays(tree: Family, share: float = 0.0) -> tuple[Any, ...]:
    """The family of sets as arrays for kernels: (parent, last, chance, rank, first, children, share).

    ``children[first[set]:]`` are the children of a set, by the attribute that they add. ``share`` is 1 / among for
    ``threshold: {among: ...}`` and 0 for a threshold of risk.
    """
    children = np.argsort(tree.parent[1:], kind="stable") + 1
    first = np.searchsorted(tree.parent[children], np.arange(len(tree)))
    return tree.parent, tree.last, tree.chance, tree.rank, first, children, float(share)


@dataclass
class TargetingState:
    """The current table: the codes of every attribute in the family's order, suppressed values included.

    ``value_weights`` holds W(A) W(value) per code of each attribute (Orooji & Knapp (2018a), eq. 4), the weight of a null last;
    ``null_weights`` the weight of a null of each attribute; ``copied`` the attributes whose codes were copied to be changed.
    """

    data: Microdata
    initial: KnownSets
    missing: Missing
    names: list[str]
    columns: list[Column]
    value_weights: list[NDArray[np.float64]]
    null_weights: NDArray[np.float64]
    family_arrays: tuple[Any, ...]
    copied: set[int] = field(default_factory=set)
    overlapping: bool = False
    """Whether cells agree by overlap, so that comparing codes is not enough."""

    @classmethod
    def of(cls, data: Microdata, *, epsilon: float, max_sets: int, missing: Missing, share: float = 0.0) -> TargetingState:
        """Measure the table once; with a ``share`` all risks are excesses over it (:mod:`discreet.engine.known_sets.excess`)."""
        initial = known_sets(data, epsilon=epsilon, max_sets=max_sets, missing=missing)
        initial = replace(initial, per_record=excess_over(share, initial.per_record, initial.consequence, len(data)))
        names = [initial.names[index] for index in initial.tree.order]
        columns = encode(data, names)
        weights_by_attribute, null_weights = [], np.zeros(len(names))
        for index, column in enumerate(columns):
            attribute = data.attribute(names[index])
            null_weights[index] = attribute.sensitivity * attribute.unlisted
            value_weights = np.zeros(column.cardinality)
            if attribute.sensitivity > 0:
                value_weights = cell_weights(column, attribute, data.cells.get(names[index]))
            weights_by_attribute.append(np.append(value_weights[: len(column.values)], null_weights[index]))
        arrays = family_arrays(initial.tree, share)
        overlapping = has_overlaps(data, columns[: initial.tree.width])
        return cls(data, initial, missing, names, columns, weights_by_attribute, null_weights, arrays, overlapping=overlapping)

    @property
    def tree(self) -> Family:
        return self.initial.tree

    @property
    def record_count(self) -> int:
        """The number of records of the whole table."""
        return len(self.data)

    def copy(self) -> TargetingState:
        """A copy whose values can be suppressed without changing this table."""
        return replace(self, columns=list(self.columns), copied=set())

    def nulls(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """``[row, attribute]``: which values of these records are null."""
        is_null = np.zeros((len(rows), len(self.names)), dtype=np.bool_)
        for index, column in enumerate(self.columns):
            if column.has_null:
                is_null[:, index] = column.codes[rows] == len(column.values)
        return is_null

    def record_weights(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """``[row, attribute]``: W(A) W(value) of these records."""
        return np.stack(
            [weights[column.codes[rows]] for weights, column in zip(self.value_weights, self.columns, strict=True)], axis=1
        )

    def suppress(self, rows: NDArray[np.int64], suppressed: NDArray[np.bool_]) -> int:
        """Suppress the values ``suppressed[row, attribute]`` of these records; returns how many were not null before."""
        suppressed_count = 0
        for index, column in enumerate(self.columns):
            affected = rows[suppressed[:, index]]
            affected = affected[column.codes[affected] != len(column.values)]
            if not len(affected):
                continue
            if index not in self.copied:
                self.columns[index] = Column(column.name, column.codes.copy(), column.values, True)
                self.copied.add(index)
            self.columns[index].codes[affected] = len(column.values)
            suppressed_count += len(affected)
        return suppressed_count

    def suppressed_columns(self) -> dict[str, pl.Series]:
        """The columns in which values were suppressed."""
        columns = {}
        for index in sorted(self.copied):
            column, series = self.columns[index], self.data.frame[self.names[index]]
            columns[column.name] = series.set(pl.Series(column.is_null), None)
        return columns

    def decide_per_record(
        self, rows: NDArray[np.int64], decide: Callable[[NDArray[np.int64], NDArray[np.int32]], NDArray[Any]]
    ) -> NDArray[Any] | None:
        """One decision per record, from its values and counts; identical records are decided once. None without records."""
        decisions, kind = self.decide_per_kind(rows, decide)
        return decisions if decisions is None or kind is None else decisions[kind]

    def decide_per_kind(
        self, rows: NDArray[np.int64], decide: Callable[[NDArray[np.int64], NDArray[np.int32]], NDArray[Any]]
    ) -> tuple[NDArray[Any] | None, NDArray[np.int64] | None]:
        """One decision per kind of identical records, and the kind of each record.

        The kinds are None if hardly any records are identical; the decisions are then one per record.
        """
        unknown = zip(self.columns[self.tree.width :], self.value_weights[self.tree.width :], strict=True)
        duplicates = find_duplicates(
            self.columns[: self.tree.width], [(column, weights[: column.cardinality]) for column, weights in unknown], rows
        )
        decisions = [
            decide(part, counts) for part, counts in self.count_in_parts(rows if duplicates is None else rows[duplicates.first])
        ]
        return (np.concatenate(decisions) if decisions else None), None if duplicates is None else duplicates.kind

    def count_in_parts(self, rows: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """The records in parts that fit into memory, each with the counts of every kept set."""
        step = max(1, _MAX_COUNTS // len(self.tree))
        for begin in range(0, len(rows), step):
            part = rows[begin : begin + step]
            yield part, self.count_agreeing(part)

    def count_agreeing(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """``[record, set]``: the number of agreeing records, at least 1.

        Trap: the count of a set in which the record has a null is undefined and must not be read.
        """
        if (rows[1:] < rows[:-1]).any():  # the counter assumes ascending order
            order = np.argsort(rows, kind="stable")
            inverse = np.empty_like(order)
            inverse[order] = np.arange(len(order))
            return np.ascontiguousarray(TargetingState.count_agreeing(self, rows[order])[inverse])
        tree, size = self.tree, len(self.data)
        columns = self.columns[: tree.width]
        if self.overlapping:
            classes, pattern, patterns = classes_by_overlap_with_nulls(
                self.data, columns, rows, null_agrees=self.missing == "wildcard"
            )
        elif self.missing == "wildcard" and any(column.has_null for column in columns):
            classes, pattern, patterns = classes_by_nulls(columns, rows, size)
        elif size <= FEW_RECORDS:
            return count_by_bits(columns, rows, tree)
        else:
            classes = single_class(columns, rows, size)
            pattern, patterns = single_pattern(len(rows))
        empty = np.zeros(len(rows))
        queries = Queries(empty, empty, empty, np.zeros((len(rows), 0)), [], pattern, patterns)
        # ones, because a record that is unique on a set leaves the walk there and is unique on all supersets
        counts_by_set = np.ones((len(tree), len(rows)), dtype=np.int32)
        with Counter(classes, queries) as counter:
            counter.walk(
                tree,
                lambda node, *visited: counter.threads.run_slices(copy_counts, len(visited[0]), *visited, counts_by_set[node]),
            )
        return np.ascontiguousarray(counts_by_set.T)

    def compute_risks(self, rows: NDArray[np.int64], counts: NDArray[np.int32]) -> NDArray[np.float64]:
        """The current risk of these records from their counts, before alpha."""
        suppressed = self.nulls(rows) if self.missing == "wildcard" else np.zeros((len(rows), len(self.names)), dtype=np.bool_)
        risk = np.empty(len(rows))
        run_on_records(
            compute_risks, len(rows), counts, self.record_weights(rows), self.null_weights, suppressed, self.family_arrays, risk
        )
        return risk

    def measure_risks(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Count, and compute the current risk of these records, before alpha."""
        risk = self.decide_per_record(rows, self.compute_risks)
        return np.zeros(0) if risk is None else risk
