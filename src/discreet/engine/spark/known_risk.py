"""known_sets on Spark: the same summary and the same row a record as on one machine."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engine.spark.agreeing import col
from discreet.engine.spark.arrow import in_arrow
from discreet.engine.spark.failures import told
from discreet.engine.spark.known_finish import Summarize, distribution
from discreet.engine.spark.known_sums import SparkKnownSets, spark_known_sets
from discreet.engine.spark.microdata import RECORD, SparkMicrodata
from discreet.engine.spark.score import SparkScore
from discreet.engine.spark.works import LAYERS, WILDCARD

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999)


def known_sets(plugin: Any, data: SparkMicrodata, original: SparkMicrodata | None = None) -> SparkScore:
    """Likelihood times consequence of every record, summed over the known sets."""
    if original is not None:
        LAYERS.refuse(plugin, data.engine)
    if plugin.missing == "wildcard" and has_nulls(data):
        WILDCARD.refuse(plugin, data.engine)
    with told(data.source):
        sums = spark_known_sets(data, epsilon=plugin.epsilon, max_sets=plugin.max_sets, alpha=plugin.alpha)
        summary = _summary(plugin, sums)
        sums.release()
    shuffles = len(sums.counting.shuffles)
    notes = (
        f"{len(sums.tree):,} known sets: {len(sums.counting.tables):,} counted by tables, the others by {shuffles} shuffles",
    )
    return SparkScore(
        plugin.name,
        summary,
        lambda: _records(plugin, data),
        notes=notes,
        riskiest=lambda number: _riskiest(plugin, data, number),
    )


def has_nulls(data: SparkMicrodata) -> bool:
    from pyspark.sql import functions as f

    known = [name for name in data.columns if data.attribute(name).known > 0]
    parts = [f.max(col(name).isNull().cast("int")) for name in known]
    with told(data.source):
        return bool(parts) and any(data.frame.agg(*parts).collect()[0])


def _summary(plugin: Any, sums: SparkKnownSets) -> dict[str, Any]:
    stage = Summarize(plugin.threshold)
    rows = in_arrow(sums.frame.select("risk", "lower", "upper"), stage, stage.schema).collect()
    records = sums.records
    high = sum(row["high"] for row in rows)
    powers, quantiles = distribution(sums.frame, QUANTILES, records)
    return {
        "sets": len(sums.tree),
        "high_risk": high,
        "high_risk_share": high / records if records else 0.0,
        "mean": math.fsum(row["total"] for row in rows) / records if records else 0.0,
        "max": max((row["most"] for row in rows), default=0.0),
        "undecided": sum(row["doubt"] for row in rows),
        "widest": max((row["widest"] for row in rows), default=0.0),
        "quantiles": quantiles,
        "histogram": _histogram(powers, records),
    }


def _histogram(powers: dict[int, int], records: int) -> dict[str, int]:
    made = {"0": records - sum(powers.values())}
    if powers:
        made.update({f"1e{power:+03d}": powers.get(power, 0) for power in range(min(powers), max(powers) + 1)})
    return made


def _records(plugin: Any, data: SparkMicrodata) -> DataFrame:
    """A row a record, those with nothing to learn too: counted only now that somebody asks."""
    from pyspark.sql import functions as f

    with told(data.source):
        sums = spark_known_sets(
            data, epsilon=plugin.epsilon, max_sets=plugin.max_sets, alpha=plugin.alpha, everyone=True, numbered=True
        )
        names = data.frame.sparkSession.createDataFrame(
            [(node, sums.set_name(node)) for node in range(len(sums.tree))], "top_node int, top_set string"
        )
        return sums.frame.join(f.broadcast(names), "top_node").select(
            col("record").alias(RECORD),
            "risk",
            "lower",
            "upper",
            "top_set",
            col("top").alias("top_share"),
            "likelihood",
            "consequence",
        )


def _riskiest(plugin: Any, data: SparkMicrodata, number: int) -> pl.DataFrame:
    """The records with the largest risk."""
    from pyspark.sql import functions as f

    with told(data.source):
        sums = spark_known_sets(data, epsilon=plugin.epsilon, max_sets=plugin.max_sets, alpha=plugin.alpha, numbered=True)
        first = sums.frame.filter(f.col("risk") > 0).orderBy(f.col("risk").desc(), "record").limit(number)
        rows = first.select("record", "risk", "top_node", "top").collect()
        sums.release()
    return pl.DataFrame(
        {
            "record": [row["record"] for row in rows],
            "risk": [row["risk"] for row in rows],
            "top_set": pl.Series([sums.set_name(row["top_node"]) for row in rows], dtype=pl.String),
            "top_share": [row["top"] for row in rows],
        }
    )
