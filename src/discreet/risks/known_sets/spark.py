"""known_sets on Spark: the same summary and the same values per record as on one machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engine.cells.listed_values import check_column
from discreet.engine.encoding.columns import encode
from discreet.engine.known_sets.summary import QUANTILES, Bounds, Summary
from discreet.engine.known_sets.sums import attributes
from discreet.engine.known_sets_spark.agreement_checks import has_nulls, has_overlapping_cells
from discreet.engine.known_sets_spark.finish import SIZES, Summarize, distribution
from discreet.engine.known_sets_spark.sums import SparkKnownSets, spark_known_sets
from discreet.engine.overlap.tables import has_overlaps
from discreet.engine.spark.arrow import in_arrow
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.gaps import OVERLAPPING, SCENARIOS, WILDCARD
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.joins import col
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.engine.spark.score import SparkScore
from discreet.model.encoded import Encoded
from discreet.risks.known_sets.gaps import ORIGINAL_VALUES, RANGES, TOGETHER
from discreet.risks.known_sets.spark_gather import gather_codes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def known_sets(plugin: Any, data: SparkMicrodata, original: SparkMicrodata | None = None) -> SparkScore:
    """Likelihood times consequence of every record, summed over the known sets."""
    if original is not None:
        ORIGINAL_VALUES.refuse(plugin, data.engine)
    if data.policy.ranges:
        RANGES.refuse(plugin, data.engine)
    if data.policy.known_together:
        TOGETHER.refuse(plugin, data.engine)
    if data.policy.scenarios:
        SCENARIOS.refuse(plugin, data.engine)
    with translate_errors(data.source):
        gathered = gather_codes(data, attributes(data.shape))
    return _measure_on_cluster(plugin, data) if gathered is None else _measure_gathered(plugin, data, gathered)


def _measure_gathered(plugin: Any, data: SparkMicrodata, gathered: Encoded) -> SparkScore:
    """By the local engine, on the codes of all records; what Spark refuses is refused whatever the size of the table."""
    names = attributes(gathered)
    columns = encode(gathered, [name for name in names if data.attribute(name).known > 0])
    if plugin.missing == "wildcard" and any(column.has_null for column in columns):
        WILDCARD.refuse(plugin, data.engine)
    if has_overlaps(gathered, columns):
        OVERLAPPING.refuse(plugin, data.engine)
    if data.is_initial:
        for column in encode(gathered, [name for name in names if data.attribute(name).sensitivity > 0]):
            check_column(column, data.attribute(column.name), data.policy.origin)
    score = plugin.for_limits({}, seconds=0.0).measure(gathered)  # intervals are not narrowed for limits on Spark
    note = f"{score['sets']:,} known sets: counted on one machine, from the codes of {len(gathered):,} records"
    return _spark_score(plugin, data, score.summary, (*score.notes, note), score.bounds)


def _measure_on_cluster(plugin: Any, data: SparkMicrodata) -> SparkScore:
    """By tables and shuffles on the cluster: for tables that are too large for one machine."""
    if plugin.missing == "wildcard" and has_nulls(data):
        WILDCARD.refuse(plugin, data.engine)
    if has_overlapping_cells(data):
        OVERLAPPING.refuse(plugin, data.engine)
    with translate_errors(data.source):
        sums = spark_known_sets(data, epsilon=plugin.epsilon, max_sets=plugin.max_sets, alpha=plugin.alpha)
        try:
            summary, bounds, doubts = _summary(plugin, sums)
        finally:
            sums.release()
    shuffles = len(sums.counting.shuffles)
    notes = (
        f"{len(sums.tree):,} known sets: {len(sums.counting.tables):,} counted by tables, the others by {shuffles} shuffles",
    )
    return _spark_score(plugin, data, summary, (*doubts, *notes), bounds)


def _spark_score(
    plugin: Any, data: SparkMicrodata, summary: Mapping[str, Any], notes: tuple[str, ...], bounds: Bounds
) -> SparkScore:
    """The score with the values of the records, which stay on the cluster and are computed on demand."""
    held_results: list[SparkKnownSets] = []

    def release() -> None:
        while held_results:
            held_results.pop().release()

    return SparkScore(
        plugin.name,
        summary,
        lambda: _records(plugin, data, held_results),
        notes=notes,
        bounds=bounds,
        riskiest=lambda number: _riskiest(plugin, data, number),
        release=release,
    )


def _summary(plugin: Any, sums: SparkKnownSets) -> tuple[dict[str, Any], Bounds, tuple[str, ...]]:
    """The fields, their bounds and the notes, from the statistics of the partitions."""
    from pyspark.sql import functions as f

    stage = Summarize(plugin.threshold)
    rows = in_arrow(sums.frame.select("risk", "lower", "upper", *SIZES), stage, stage.schema).collect()
    summary = Summary(plugin.threshold)
    for row in rows:
        summary.merge(json.loads(row["statistics"]))
    _, quantiles = distribution(sums.frame, QUANTILES, sums.records)
    sized = sums.frame.select(col("effective_k").alias("risk")).where(~f.isnan("risk"))
    middle = distribution(sized, (0.5,), summary.sized)[1]["0.5"] if summary.sized else None
    fields = summary.fields(len(sums.tree), sums.records, list(quantiles.values()), middle)
    bounds = summary.bounds(sums.records, middle)
    return fields, bounds, summary.notes(sums.records, bounds)


def _records(plugin: Any, data: SparkMicrodata, held_results: list[SparkKnownSets]) -> DataFrame:
    """One row per record, including records with nothing to learn; computed on demand.

    ``held_results`` collects what to release.
    """
    from pyspark.sql import functions as f

    with translate_errors(data.source):
        sums = spark_known_sets(
            data, epsilon=plugin.epsilon, max_sets=plugin.max_sets, alpha=plugin.alpha, everyone=True, numbered=True
        )
        held_results.append(sums)
        names = data.frame.sparkSession.createDataFrame(
            [(node, sums.set_name(node)) for node in range(len(sums.tree))], "top_node int, top_set string"
        )
        return sums.frame.join(f.broadcast(names), "top_node").select(
            col("record").alias(RECORD),
            "risk",
            "lower",
            "upper",
            *(f.when(~f.isnan(name), col(name)).alias(name) for name in SIZES),
            "top_set",
            col("top").alias("top_share"),
            "likelihood",
            "consequence",
        )


def _riskiest(plugin: Any, data: SparkMicrodata, number: int) -> pl.DataFrame:
    """The records with the largest risk."""
    from pyspark.sql import functions as f

    with translate_errors(data.source):
        sums = spark_known_sets(data, epsilon=plugin.epsilon, max_sets=plugin.max_sets, alpha=plugin.alpha, numbered=True)
        first = sums.frame.filter(f.col("risk") > 0).orderBy(f.col("risk").desc(), "record").limit(number)
        try:
            rows = first.select("record", "risk", "top_node", "top").collect()
        finally:
            sums.release()
    return pl.DataFrame(
        {
            "record": [row["record"] for row in rows],
            "risk": [row["risk"] for row in rows],
            "top_set": pl.Series([sums.set_name(row["top_node"]) for row in rows], dtype=pl.String),
            "top_share": [row["top"] for row in rows],
        }
    )
