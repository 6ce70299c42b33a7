"""Rare values on Spark: each key is counted by GROUP BY, and the counts are joined to the records."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import polars as pl

from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.joins import COUNT, col, count_distinct_rows, join_on_values
from discreet.engine.spark.score import SparkScore
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet_example.rare_values import summarize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from discreet.engine.spark.microdata import SparkMicrodata
    from discreet_example.rare_values import RareValues


def rare_values(plugin: RareValues, data: SparkMicrodata, _: SparkMicrodata | None = None) -> SparkScore:
    """The same numbers as the local measure; the rows stay on the cluster."""
    from pyspark.sql import functions as f

    keys = data.named(Role.KEY)
    if not keys:
        raise DataError(f"rare_values needs at least one attribute with the role key in {data.source}")
    counts = {name: count_distinct_rows(data.frame, [name]) for name in keys}
    with translate_errors(data.source):
        rows = []
        for name, by_value in counts.items():
            few = f.sum((col(COUNT) < plugin.least).cast("long"))
            least, rare_values = by_value.agg(f.min(col(COUNT)), few).collect()[0]
            rows.append((name, int(least or 0), int(rare_values or 0)))
        rarest = _add_rarest(data.frame, counts)
        rare = f.sum((col("count") < plugin.least).cast("long"))
        number, rare_records, least_count = rarest.agg(f.count(f.lit(1)), rare, f.min(col("count"))).collect()[0]
    return SparkScore(
        plugin.name,
        summarize(int(number), int(rare_records or 0), int(least_count or 0)),
        lambda: _add_rarest(data.numbered, counts).select(col(RECORD), col("count")),
        pl.DataFrame(rows, schema=["attribute", "least_count", "rare_values"], orient="row"),
    )


def _add_rarest(frame: DataFrame, counts: dict[str, DataFrame]) -> DataFrame:
    """The records with the column ``count``: how many records share the record's rarest value."""
    from pyspark.sql import functions as f

    names = [f"discreet: count {at}" for at in range(len(counts))]
    for name, (key, by_value) in zip(names, counts.items(), strict=True):
        frame = join_on_values(frame, by_value.withColumnRenamed(COUNT, name), [key])
    rarest = reduce(f.least, [col(name) for name in names])
    return frame.withColumn("count", rarest)
