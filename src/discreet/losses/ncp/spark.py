"""The normalized certainty penalty on Spark: the local measure runs on each batch of records with their originals.

The penalty of a masked value depends on the values of the whole original column. So each batch of originals gets these values
(or, for numbers with too many values, minimum and maximum) as additional rows, which are linked to no masked record.
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
    """The same score as the local measure; records are linked by their numbers."""
    from pyspark.sql import functions as f

    names = plugin.compared_attributes(original)
    weights = plugin.normalised_weights(names)
    if masked.is_initial and len(masked) != len(original):
        unlinked: Score = plugin.score_unlinked(original, masked)
        return unlinked
    batch_measure = _make_batch_measure(plugin, original, masked, names)
    pairs = _join_linked(original, masked, names, batch_measure.released)
    with translate_errors(original.source):
        batch_sums = in_arrow(
            pairs, _SumPenalties(batch_measure), "position int, records long, loss double, suppressed long, changed long"
        )
        rows = (
            batch_sums.groupBy("position").agg(*[f.sum(name) for name in ("records", "loss", "suppressed", "changed")]).collect()
        )
    by_position = {row[0]: tuple(row)[1:] for row in rows}
    linked = max((records for records, *_ in by_position.values()), default=0)
    sums = []
    for position, (name, weight) in enumerate(zip(names, weights.tolist(), strict=True)):
        _, penalty, suppressed, changed = by_position.get(position, (0, 0.0, 0, 0))
        sums.append(PenaltySums(name, weight, penalty, suppressed, changed))
    statistics = PenaltyStatistics(linked, len(original) - linked, sums)
    return SparkScore(
        plugin.name,
        summarize(statistics),
        lambda: in_arrow(pairs, _ScoreRecords(batch_measure), f"{quote(RECORD)} long, loss double"),
        tabulate_attributes(statistics),
    )


def _join_linked(original: SparkMicrodata, masked: SparkMicrodata, names: Sequence[str], released: Sequence[str]) -> DataFrame:
    """One row per masked record that has an original, with the values of both."""
    before = original.numbered.select(col(RECORD), *[col(name) for name in names])
    after = masked.numbered.select(col(RECORD), *[col(name).alias(f"{_AFTER}{name}") for name in released])
    return before.join(after, RECORD)


def _make_batch_measure(plugin: Any, original: SparkMicrodata, masked: SparkMicrodata, names: Sequence[str]) -> _BatchMeasure:
    """The measure of a batch, with the values of the whole original table."""
    listed, _ = dictionaries(original, names)
    wide = tuple(name for name in names if listed[name].wide)
    refuse_quantile_hierarchies(plugin, original, names)
    for name in wide:
        if original.level(name) not in (Level.NUMERIC, Level.DATE) or original.attribute(name).hierarchy is not None:
            MANY_COARSE.refuse(plugin, original.engine)
    extremes = collect_extremes(original, wide)[0].frame if wide else pl.DataFrame()
    values = {name: extremes[name] if name in wide else listed[name].values for name in names}
    size = max(len(series) for series in values.values())
    known = pl.DataFrame([series.extend_constant(None, size - len(series)).alias(name) for name, series in values.items()])
    released = tuple(name for name in names if name in masked.columns)
    return _BatchMeasure(
        plugin,
        _policy_of(original.policy, names),
        _policy_of(masked.policy, released),
        tuple(names),
        released,
        wide,
        known,
        masked.cells,
    )


def _policy_of(policy: Policy, names: Sequence[str]) -> Policy:
    attributes = {name: attribute for name, attribute in policy.attributes.items() if name in names}
    return policy.model_copy(update={"attributes": attributes})


@dataclass(frozen=True)
class _BatchMeasure:
    """Measures batches with the local measure.

    ``wide`` are the attributes with too many values to list; ``known`` holds the values of the whole original column, or its
    minimum and maximum, padded with nulls.
    """

    method: Any
    before: Policy
    after: Policy
    names: tuple[str, ...]
    released: tuple[str, ...]
    wide: tuple[str, ...]
    known: pl.DataFrame
    cells: Mapping[str, ColumnCells]

    def score(self, table: pa.Table) -> Score:
        records = numbers(table, RECORD).astype(np.int64)
        old = pl.DataFrame({name: series_of(table, name) for name in self.names})
        new = pl.DataFrame({name: series_of(table, f"{_AFTER}{name}").alias(name) for name in self.released})
        for name in self.wide:
            if name in self.released and new.schema[name] == pl.String and new[name].str.starts_with("{").any():
                MANY_COARSE.refuse(self.method, SparkMicrodata.engine)
        unlinked = -1 - np.arange(len(self.known), dtype=np.int64)  # no masked record has a negative number
        rows = pl.concat([old, self.known.cast(old.schema)])
        original = Microdata(rows, self.before, "the batch", np.concatenate((records, unlinked)))
        score: Score = self.method.measure(original, Microdata(new, self.after, "the batch", records, cells=self.cells))
        return score


@dataclass(frozen=True)
class _SumPenalties:
    """Sums the penalties of each batch: one row per attribute, by its position."""

    batch_measure: _BatchMeasure

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in chunks(batches):
            size, by_attribute = table.num_rows, self.batch_measure.score(table).per_attribute
            assert by_attribute is not None
            columns = [
                pa.array(range(len(by_attribute)), pa.int32()),
                pa.array([size] * len(by_attribute), pa.int64()),
                pa.array((by_attribute["loss"] * size).to_numpy()),
                pa.array(by_attribute["suppressed"].to_numpy().astype(np.int64)),
                pa.array(by_attribute["changed"].to_numpy().astype(np.int64)),
            ]
            yield pa.RecordBatch.from_arrays(columns, names=["position", "records", "loss", "suppressed", "changed"])


@dataclass(frozen=True)
class _ScoreRecords:
    """The loss of each record, with its number."""

    batch_measure: _BatchMeasure

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in chunks(batches):
            by_record = self.batch_measure.score(table).per_record
            assert by_record is not None
            yield pa.RecordBatch.from_arrays(
                [pa.array(numbers(table, RECORD)), pa.array(by_record["loss"].to_numpy())], names=[RECORD, "loss"]
            )
