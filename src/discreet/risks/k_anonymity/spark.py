"""k-anonymity on Spark: classes are counted by GROUP BY, so rows never move for the summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.gaps import PATTERNS
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.joins import COUNT, TooManyPatternsError, col, count_agreeing, count_distinct_rows, join_on_values
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.engine.spark.score import SparkScore
from discreet.errors import DataError
from discreet.model.attribute import Role

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SIZE = "class_size"


def class_sizes(plugin: Any, data: SparkMicrodata, keys: list[str], *, wildcard: bool) -> DataFrame:
    """A row a class: its key values, how many records have them (COUNT), and how many agree with them (class_size)."""
    classes = count_distinct_rows(data.frame, keys)
    if not wildcard:
        return classes.withColumn(_SIZE, col(COUNT))
    try:
        sizes = count_agreeing(classes, classes, keys, wildcard=True)
    except TooManyPatternsError:
        PATTERNS.refuse(plugin, data.engine)
        raise
    return join_on_values(classes, sizes.withColumnRenamed(COUNT, _SIZE), keys)


def k_anonymity(plugin: Any, data: SparkMicrodata, _: SparkMicrodata | None = None) -> SparkScore:
    """As the local measure: the size of each record's class."""
    from pyspark.sql import functions as f

    keys = list(plugin.keys) or data.named(Role.KEY)
    if not keys:
        raise DataError(f"k_anonymity needs at least one attribute with the role key in {data.source}")
    for name in keys:
        data.attribute(name)
    with translate_errors(data.source):
        sizes = class_sizes(plugin, data, keys, wildcard=plugin.missing == "wildcard")
        below = [f.sum(f.when(col(_SIZE) < k, col(COUNT)).otherwise(0)) for k in (2, 3, 5)]
        unique = f.sum(f.when(col(_SIZE) == 1, col(COUNT)).otherwise(0))
        row = sizes.agg(f.min(col(_SIZE)), f.count(f.lit(1)), unique, *below).collect()[0]
    names = ("k", "classes", "unique", "violating_2", "violating_3", "violating_5")
    return SparkScore(
        plugin.name,
        {name: int(value or 0) for name, value in zip(names, row, strict=True)},
        lambda: join_on_values(data.numbered, sizes.drop(COUNT), keys).select(col(RECORD), col(_SIZE)),
    )
