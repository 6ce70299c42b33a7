"""The normalized certainty penalty on Spark: each batch of records beside its originals, measured by the local measure itself.

The penalty of a masked value depends on the values of the whole original column. So every batch of originals gets those values
(or, of numbers with too many of them, the least and the greatest) as rows of their own, which no masked record is tied to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa

from discreet.engine.spark.arrow import chunks, in_arrow, numbers
from discreet.engine.spark.batches import collect_extremes
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.gaps import refuse_quantile_hierarchies
from discreet.engine.spark.hidden_columns import HIDDEN, RECORD
from discreet.engine.spark.joins import col, quote
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.engine.spark.score import SparkScore
from discreet.engine.spark.value_counts import dictionaries, series_of
from discreet.losses.ncp.measure import MANY_COARSE
from discreet.losses.ncp.summary import PenaltyStatistics, PenaltySums, summarize, tabulate_attributes
from discreet.model.attribute import Level
from discreet.model.cells import ColumnCells
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from discreet.model.score import Score

_AFTER = f"{HIDDEN}masked "


def ncp(plugin: Any, original: SparkMicrodata, masked: SparkMicrodata) -> SparkScore | Score:
    """As the local measure; records are tied by their numbers."""
    from pyspark.sql import functions as f

    names = plugin.counted(original)
    weights = plugin.shares(names)
    if masked.is_initial and len(masked) != len(original):
        unlinked: Score = plugin.unlinked(original, masked)
        return unlinked
    stage = _stage(plugin, original, masked, names)
    pairs = _pairs(original, masked, names, stage.released)
    with translate_errors(original.source):
        added = in_arrow(pairs, _SumPenalties(stage), "at int, records long, loss double, suppressed long, changed long")
        rows = added.groupBy("at").agg(*[f.sum(name) for name in ("records", "loss", "suppressed", "changed")]).collect()
    by_position = {row[0]: tuple(row)[1:] for row in rows}
    linked = max((records for records, *_ in by_position.values()), default=0)
    sums = []
    for at, (name, weight) in enumerate(zip(names, weights.tolist(), strict=True)):
        _, penalty, suppressed, changed = by_position.get(at, (0, 0.0, 0, 0))
        sums.append(PenaltySums(name, weight, penalty, suppressed, changed))
    statistics = PenaltyStatistics(linked, len(original) - linked, sums)
    return SparkScore(
        plugin.name,
        summarize(statistics),
        lambda: in_arrow(pairs, _ScoreRecords(stage), f"{quote(RECORD)} long, loss double"),
        tabulate_attributes(statistics),
    )


def _pairs(original: SparkMicrodata, masked: SparkMicrodata, names: Sequence[str], released: Sequence[str]) -> DataFrame:
    """One row per masked record that has an original: the values of both."""
    before = original.numbered.select(col(RECORD), *[col(name) for name in names])
    after = masked.numbered.select(col(RECORD), *[col(name).alias(f"{_AFTER}{name}") for name in released])
    return before.join(after, RECORD)


def _stage(plugin: Any, original: SparkMicrodata, masked: SparkMicrodata, names: Sequence[str]) -> _MeasureBatch:
    listed, _ = dictionaries(original, names)
    wide = tuple(name for name in names if listed[name].wide)
    refuse_quantile_hierarchies(plugin, original, names)
    for name in wide:
        if original.level(name) not in (Level.NUMERIC, Level.DATE) or original.attribute(name).hierarchy is not None:
            MANY_COARSE.refuse(plugin, original.engine)
    reach = collect_extremes(original, wide)[0].frame if wide else pl.DataFrame()
    values = {name: reach[name] if name in wide else listed[name].values for name in names}
    size = max(len(series) for series in values.values())
    known = pl.DataFrame([series.extend_constant(None, size - len(series)).alias(name) for name, series in values.items()])
    released = tuple(name for name in names if name in masked.columns)
    return _MeasureBatch(
        plugin, _only(original.policy, names), _only(masked.policy, released), tuple(names), released, wide, known, masked.cells
    )


def _only(policy: Policy, names: Sequence[str]) -> Policy:
    attributes = {name: attribute for name, attribute in policy.attributes.items() if name in names}
    return policy.model_copy(update={"attributes": attributes})


@dataclass(frozen=True)
class _MeasureBatch:
    """The local score of a batch."""

    method: Any
    before: Policy
    after: Policy
    names: tuple[str, ...]
    released: tuple[str, ...]
    wide: tuple[str, ...]
    known: pl.DataFrame
    cells: Mapping[str, ColumnCells]

    def of(self, table: pa.Table) -> Score:
        records = numbers(table, RECORD).astype(np.int64)
        old = pl.DataFrame({name: series_of(table, name) for name in self.names})
        new = pl.DataFrame({name: series_of(table, f"{_AFTER}{name}").alias(name) for name in self.released})
        for name in self.wide:
            if name in self.released and new.schema[name] == pl.String and new[name].str.starts_with("{").any():
                MANY_COARSE.refuse(self.method, SparkMicrodata.engine)
        strangers = -1 - np.arange(len(self.known), dtype=np.int64)
        rows = pl.concat([old, self.known.cast(old.schema)])
        original = Microdata(rows, self.before, "the batch", np.concatenate((records, strangers)))
        score: Score = self.method.measure(original, Microdata(new, self.after, "the batch", records, cells=self.cells))
        return score


@dataclass(frozen=True)
class _SumPenalties:
    stage: _MeasureBatch

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in chunks(batches):
            size, by_attribute = table.num_rows, self.stage.of(table).per_attribute
            assert by_attribute is not None
            columns = [
                pa.array(range(len(by_attribute)), pa.int32()),
                pa.array([size] * len(by_attribute), pa.int64()),
                pa.array((by_attribute["loss"] * size).to_numpy()),
                pa.array(by_attribute["suppressed"].to_numpy().astype(np.int64)),
                pa.array(by_attribute["changed"].to_numpy().astype(np.int64)),
            ]
            yield pa.RecordBatch.from_arrays(columns, names=["at", "records", "loss", "suppressed", "changed"])


@dataclass(frozen=True)
class _ScoreRecords:
    stage: _MeasureBatch

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in chunks(batches):
            by_record = self.stage.of(table).per_record
            assert by_record is not None
            yield pa.RecordBatch.from_arrays(
                [pa.array(numbers(table, RECORD)), pa.array(by_record["loss"].to_numpy())], names=[RECORD, "loss"]
            )
