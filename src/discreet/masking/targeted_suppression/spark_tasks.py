"""What the workers decide of records above the threshold: which of their values are blanked."""

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
from discreet.engine.targeting.rule import Rule, Story
from discreet.engine.targeting.state import Targets
from discreet.errors import DataError
from discreet.masking.targeted_suppression.cascades import needed, weigh_records
from discreet.masking.targeted_suppression.passes import choose_values, suppress_once, until_safe
from discreet.masking.targeted_suppression.spark_tally import TallyLayout
from discreet.masking.targeted_suppression.subset import RecordSubset

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROWS = 1 << 14


@dataclass(frozen=True)
class Reading:
    """How rows with counts become a table of the local engine: the family, the values of each attribute, and the rule."""

    layout: TallyLayout
    names: list[str]
    tree: Family
    singles: list[int]
    sizes: dict[str, tuple[int, bool]]
    """Of each attribute with codes: how many values, and whether there are nulls."""
    blank: NDArray[np.float64]
    total: int
    missing: Missing
    rule: Rule

    def table(self, batches: Iterable[pa.Table], *, together: bool) -> RecordSubset | None:
        """The records that asked, in the order of their numbers."""
        read = [batch for batch in map(self._read, batches) if batch is not None]
        if not read:
            return None
        records, words, states = (np.concatenate([batch[at] for batch in read]) for at in range(3))
        order = np.argsort(records)
        worth, nulls, counts = self.layout.read(states[order])
        columns = []
        for place, name in enumerate(self.layout.names):
            if place >= self.tree.width:  # nobody is found by it: it is there or not
                columns.append(Column(name, nulls[:, place].astype(np.uint32), pl.Series([0]), True))
            elif name in self.layout.wide:
                series = pl.concat([batch[3][self.layout.wide.index(name)] for batch in read]).gather(order)
                column = encode_series(series)
                columns.append(Column(name, column.codes.astype(np.uint32), column.values, column.has_null))
            else:
                size, has_null = self.sizes[name]
                codes = self.layout.packing.unpack(list(words[order].T), name).astype(np.uint32)
                columns.append(Column(name, codes, pl.Series(np.arange(size)), has_null))
        return RecordSubset.from_counts(
            self.names, self.tree, self.singles, records[order], columns, worth, self.blank, counts, self.total, self.missing,
            together=together, share=self.rule.share,
        )  # fmt: skip

    def _read(self, table: pa.Table) -> tuple[Any, ...] | None:
        states, at = bytes_as_rows(table.column(STATE), self.layout.width)
        if not len(at):
            return None
        words = np.stack(self.layout.packing.words_of(table), axis=1)[at]
        wide = [series_of(table, f"w{place}").gather(at) for place in range(len(self.layout.wide))]
        return numbers(table, "record")[at], words, states, wide


@dataclass(frozen=True)
class Together:
    """All records above the threshold in one task: values are taken until none is, or once."""

    reading: Reading
    once: bool
    schema = "record long, gone binary, risk double, story string"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = self.reading.table(chunks(batches, _ROWS), together=True)
        if table is None:
            return
        size = len(table.data)
        result: Targets = table.copy()
        try:
            if self.once:
                story = suppress_once(result, self.reading.rule)
            else:
                result, story = until_safe(table, self.reading.rule)
            report = {"taken": story.taken, "passes": story.passes, "cost": story.cost, "least": story.least}
        except DataError as error:
            story, report = Story(), {"failed": str(error)}  # said to the driver: a task that fails would be run again
        every = np.arange(size)
        gone = result.nulls(every) & ~table.nulls(every)
        risk = np.full(size, np.nan)
        risk[story.remaining] = story.risk
        stories = pa.array([json.dumps(report), *[None] * (size - 1)], pa.string())
        columns = [pa.array(table.data.records), _bits(gone), pa.array(risk), stories]
        yield from pa.table(columns, names=["record", "gone", "risk", "story"]).to_batches(_ROWS)


@dataclass(frozen=True)
class Round:
    """One pass where a blank is one more value: each record by itself, as the whole table stands.

    ``shared`` records have blanks; None is the first pass, in which nobody has been measured before.
    """

    reading: Reading
    shared: float | None
    schema = "record long, gone binary, nulls binary, risk double, bound double, open boolean, needed long"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for part in chunks(batches, _ROWS):
            table = self.reading.table([part], together=False)
            if table is not None:
                yield from self._decided(table)

    def _decided(self, table: RecordSubset) -> Iterator[pa.RecordBatch]:
        rule, rows = self.reading.rule, table.start.slots
        before = table.nulls(rows)
        if self.shared is None:
            risk, bound = table.start.per_record.risk, np.zeros(len(rows))
            result = table.copy()
            suppress_once(result, rule)
            gone = result.nulls(rows) & ~before
        else:
            risk, bound, gone = weigh_records(table, rule, rows, table.counts(rows), self.shared)
        above = np.flatnonzero(risk > rule.level)
        if not len(above):
            return
        if self.shared is not None and rule.side == "sensitive":
            gone[above] = choose_values(table, rule, rows[above])
        open_ = rule.any(table, before, table.weight(rows)).any(axis=1)
        enough = np.zeros(len(rows), dtype=np.int64)
        if self.shared is not None:
            nearest = above[[np.argmin(bound[above])]]
            enough[nearest] = needed(table, rule, rows[nearest])
        columns = [table.data.records, _bits(gone[above]), _bits(before[above]), risk, bound, open_, enough]
        arrays = [
            pa.array(np.ascontiguousarray(values[above])) if isinstance(values, np.ndarray) else values for values in columns
        ]
        yield pa.RecordBatch.from_arrays(arrays, names=[part.split()[0] for part in self.schema.split(", ")])


def _bits(flags: NDArray[np.bool_]) -> pa.Array:
    """A row of flags per record as bytes."""
    return pa.array([row.tobytes() for row in np.packbits(flags, axis=1)], pa.binary())


def flags_of(column: Any, width: int) -> NDArray[np.bool_]:
    """The flags again."""
    rows = [np.frombuffer(row, dtype=np.uint8) for row in column.to_pylist()]
    packed = np.stack(rows) if rows else np.zeros((0, (width + 7) // 8), dtype=np.uint8)
    return np.unpackbits(packed, axis=1, count=width).astype(np.bool_)
