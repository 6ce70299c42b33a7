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
from discreet.engine.known_sets_spark.tally import TallyLayout
from discreet.engine.spark.arrow import bytes_as_rows, chunks, numbers
from discreet.engine.spark.value_counts import series_of
from discreet.engine.targeting.rule import Rule, Story
from discreet.engine.targeting.state import Targets
from discreet.errors import DataError
from discreet.masking.targeted_suppression.cascades import needed, weighed
from discreet.masking.targeted_suppression.passes import decided, one_pass, until_safe
from discreet.masking.targeted_suppression.subset import Apart

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

    def table(self, batches: Iterable[pa.Table], *, together: bool) -> Apart | None:
        """The records that asked, in the order of their numbers."""
        read = [one for one in map(self._read, batches) if one is not None]
        if not read:
            return None
        records, words, states = (np.concatenate([one[at] for one in read]) for at in range(3))
        order = np.argsort(records)
        worth, nulls, counts = self.layout.read(states[order])
        columns = []
        for place, name in enumerate(self.layout.names):
            if place >= self.tree.width:  # nobody is found by it: it is there or not
                columns.append(Column(name, nulls[:, place].astype(np.uint32), pl.Series([0]), True))
            elif name in self.layout.wide:
                series = pl.concat([one[3][self.layout.wide.index(name)] for one in read]).gather(order)
                made = encode_series(series)
                columns.append(Column(name, made.codes.astype(np.uint32), made.values, made.has_null))
            else:
                size, has_null = self.sizes[name]
                codes = self.layout.packing.unpack(list(words[order].T), name).astype(np.uint32)
                columns.append(Column(name, codes, pl.Series(np.arange(size)), has_null))
        return Apart.told(
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
        made: Targets = table.copy()
        try:
            if self.once:
                story = one_pass(made, self.reading.rule)
            else:
                made, story = until_safe(table, self.reading.rule)
            told = {"taken": story.taken, "passes": story.passes, "cost": story.cost, "least": story.least}
        except DataError as error:
            story, told = Story(), {"failed": str(error)}  # said to the driver: a task that fails would be run again
        every = np.arange(size)
        gone = made.nulls(every) & ~table.nulls(every)
        risk = np.full(size, np.nan)
        risk[story.remaining] = story.risk
        stories = pa.array([json.dumps(told), *[None] * (size - 1)], pa.string())
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

    def _decided(self, table: Apart) -> Iterator[pa.RecordBatch]:
        rule, rows = self.reading.rule, table.start.slots
        before = table.nulls(rows)
        if self.shared is None:
            risk, bound = table.start.found.risk, np.zeros(len(rows))
            made = table.copy()
            one_pass(made, rule)
            gone = made.nulls(rows) & ~before
        else:
            risk, bound, gone = weighed(table, rule, rows, table.counts(rows), self.shared)
        above = np.flatnonzero(risk > rule.level)
        if not len(above):
            return
        if self.shared is not None and rule.side == "sensitive":
            gone[above] = decided(table, rule, rows[above])
        open_ = rule.any(table, before, table.weight(rows)).any(axis=1)
        enough = np.zeros(len(rows), dtype=np.int64)
        if self.shared is not None:
            nearest = above[[np.argmin(bound[above])]]
            enough[nearest] = needed(table, rule, rows[nearest])
        columns = [table.data.records, _bits(gone[above]), _bits(before[above]), risk, bound, open_, enough]
        arrays = [pa.array(np.ascontiguousarray(one[above])) if isinstance(one, np.ndarray) else one for one in columns]
        yield pa.RecordBatch.from_arrays(arrays, names=[part.split()[0] for part in self.schema.split(", ")])


def _bits(flags: NDArray[np.bool_]) -> pa.Array:
    """A row of flags a record as bytes."""
    return pa.array([row.tobytes() for row in np.packbits(flags, axis=1)], pa.binary())


def flags_of(column: Any, width: int) -> NDArray[np.bool_]:
    """The flags again."""
    rows = [np.frombuffer(one, dtype=np.uint8) for one in column.to_pylist()]
    packed = np.stack(rows) if rows else np.zeros((0, (width + 7) // 8), dtype=np.uint8)
    return np.unpackbits(packed, axis=1, count=width).astype(np.bool_)
