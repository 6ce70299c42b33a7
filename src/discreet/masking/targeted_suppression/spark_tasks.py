"""The tasks of the workers: which values of the records above the threshold to suppress."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa

from discreet.engine.encoding.columns import Column, encode_series
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.sums import Missing
from discreet.engine.known_sets_spark.stages import STATE
from discreet.engine.spark.arrow import bytes_as_rows, chunks, numbers
from discreet.engine.spark.value_counts import series_of
from discreet.engine.targeting.rule import SuppressionRule, TargetingOutcome
from discreet.engine.targeting.state import TargetingState
from discreet.errors import DataError
from discreet.masking.targeted_suppression.cascades import assess_records, count_nulls_needed
from discreet.masking.targeted_suppression.passes import choose_values, suppress_once, suppress_until_safe
from discreet.masking.targeted_suppression.spark_tally import TallyLayout
from discreet.masking.targeted_suppression.subset import RecordSubset

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BATCH_ROWS = 1 << 14


@dataclass(frozen=True)
class SubsetReader:
    """Reads rows with counts into a :class:`RecordSubset`, the state of the local engine."""

    layout: TallyLayout
    names: list[str]
    tree: Family
    singles: list[int]
    sizes: dict[str, tuple[int, bool]]
    """For each attribute with codes the number of its values, and whether it has nulls."""
    null_weights: NDArray[np.float64]
    total_records: int
    missing: Missing
    rule: SuppressionRule

    def read_subset(self, batches: Iterable[pa.Table], *, jointly: bool) -> RecordSubset | None:
        """The requested records in the order of their numbers; None without records."""
        parts = [part for part in map(self._read_batch, batches) if part is not None]
        if not parts:
            return None
        records, words, states = (np.concatenate([part[index] for part in parts]) for index in range(3))
        order = np.argsort(records)
        weights, nulls, counts = self.layout.read(states[order])
        columns = []
        for position, name in enumerate(self.layout.names):
            if position >= self.tree.width:  # not a known attribute: only whether it is null matters
                columns.append(Column(name, nulls[:, position].astype(np.uint32), pl.Series([0]), True))
            elif name in self.layout.wide:
                series = pl.concat([part[3][self.layout.wide.index(name)] for part in parts]).gather(order)
                column = encode_series(series)
                columns.append(Column(name, column.codes.astype(np.uint32), column.values, column.has_null))
            else:
                size, has_null = self.sizes[name]
                codes = self.layout.packing.unpack(list(words[order].T), name).astype(np.uint32)
                columns.append(Column(name, codes, pl.Series(np.arange(size)), has_null))
        return RecordSubset.from_counts(
            self.names, self.tree, self.singles, records[order], columns, weights, self.null_weights, counts, self.total_records,
            self.missing, jointly=jointly, share=self.rule.share,
        )  # fmt: skip

    def _read_batch(self, table: pa.Table) -> tuple[Any, ...] | None:
        states, rows = bytes_as_rows(table.column(STATE), self.layout.width)
        if not len(rows):
            return None
        words = np.stack(self.layout.packing.words_of(table), axis=1)[rows]
        wide = [series_of(table, f"w{index}").gather(rows) for index in range(len(self.layout.wide))]
        return numbers(table, "record")[rows], words, states, wide


@dataclass(frozen=True)
class SuppressJointly:
    """Suppress values of all records above the threshold in one task, once or until none is above."""

    reader: SubsetReader
    once: bool
    schema = "record long, suppressed binary, risk double, report string"
    """``risk`` is NaN for records that are safe; ``report`` is JSON in the first row and null in the others."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = self.reader.read_subset(chunks(batches, _BATCH_ROWS), jointly=True)
        if table is None:
            return
        size = len(table.data)
        result: TargetingState = table.copy()
        try:
            if self.once:
                outcome = suppress_once(result, self.reader.rule)
            else:
                result, outcome = suppress_until_safe(table, self.reader.rule)
            report = {
                "values_changed": outcome.values_changed, "passes": outcome.passes, "cost": outcome.cost,
                "cost_bound": outcome.cost_bound,
            }  # fmt: skip
        except DataError as error:  # returned to the driver, because Spark would retry a task that fails
            outcome, report = TargetingOutcome(), {"error": str(error)}
        rows = np.arange(size)
        suppressed = result.nulls(rows) & ~table.nulls(rows)
        risk = np.full(size, np.nan)
        risk[outcome.remaining] = outcome.remaining_risk
        reports = pa.array([json.dumps(report), *[None] * (size - 1)], pa.string())
        columns = [pa.array(table.data.records), _pack_flags(suppressed), pa.array(risk), reports]
        yield from pa.table(columns, names=["record", "suppressed", "risk", "report"]).to_batches(_BATCH_ROWS)


@dataclass(frozen=True)
class SuppressionRound:
    """One pass with ``missing: category``: each record separately, with the counts of the whole table.

    ``records_with_nulls`` is the number of records that have nulls or were ever above the threshold; None in the first pass.
    """

    reader: SubsetReader
    records_with_nulls: float | None
    schema = "record long, suppressed binary, nulls binary, risk double, bound double, has_candidates boolean, nulls_needed long"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for part in chunks(batches, _BATCH_ROWS):
            table = self.reader.read_subset([part], jointly=False)
            if table is not None:
                yield from self._decide(table)

    def _decide(self, table: RecordSubset) -> Iterator[pa.RecordBatch]:
        rule, rows = self.reader.rule, table.initial.slots
        nulls = table.nulls(rows)
        if self.records_with_nulls is None:
            risk, bound = table.initial.per_record.risk, np.zeros(len(rows))
            result = table.copy()
            suppress_once(result, rule)
            suppressed = result.nulls(rows) & ~nulls
        else:
            risk, bound, suppressed = assess_records(table, rule, rows, table.count_agreeing(rows), self.records_with_nulls)
        above = np.flatnonzero(risk > rule.level)
        if not len(above):
            return
        if self.records_with_nulls is not None and rule.side == "sensitive":
            suppressed[above] = choose_values(table, rule, rows[above])
        has_candidates = np.asarray(rule.candidates(table, nulls, table.record_weights(rows)).any(axis=1))
        needed = np.zeros(len(rows), dtype=np.int64)
        if self.records_with_nulls is not None:
            nearest = above[[np.argmin(bound[above])]]
            needed[nearest] = count_nulls_needed(table, rule, rows[nearest])
        flags = [_pack_flags(suppressed[above]), _pack_flags(nulls[above])]
        records, *rest = (
            pa.array(np.ascontiguousarray(values[above])) for values in (table.data.records, risk, bound, has_candidates, needed)
        )
        names = [field.split()[0] for field in self.schema.split(", ")]
        yield pa.RecordBatch.from_arrays([records, *flags, *rest], names=names)


def _pack_flags(flags: NDArray[np.bool_]) -> pa.Array:
    """``flags[record, attribute]`` as one bit per flag, one binary value per record."""
    return pa.array([row.tobytes() for row in np.packbits(flags, axis=1)], pa.binary())


def unpack_flags(column: Any, width: int) -> NDArray[np.bool_]:
    """``[record, attribute]``: the inverse of ``_pack_flags`` for ``width`` attributes."""
    rows = [np.frombuffer(row, dtype=np.uint8) for row in column.to_pylist()]
    packed = np.stack(rows) if rows else np.zeros((0, (width + 7) // 8), dtype=np.uint8)
    return np.unpackbits(packed, axis=1, count=width).astype(np.bool_)
