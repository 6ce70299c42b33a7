"""k-anonymity on Spark: classes are counted by GROUP BY, so rows never move for the summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.gaps import PATTERNS
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.joins import COUNT, TooManyPatternsError, col, count_agreeing, count_distinct_rows, join_on_values
from discreet.engine.spark.score import SparkScore
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.risks.k_anonymity.summary import THRESHOLDS, ClassStatistics, summarize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from discreet.engine.spark.microdata import SparkMicrodata

_SIZE = "class_size"


def k_anonymity(plugin: Any, data: SparkMicrodata, _: SparkMicrodata | None = None) -> SparkScore:
    """The size of each record's equivalence class."""
    from pyspark.sql import functions as f

    keys = list(plugin.keys) or data.named(Role.KEY)
    if not keys:
        raise DataError(f"k_anonymity needs at least one attribute with the role key in {data.source}")
    for name in keys:
        data.attribute(name)
    with translate_errors(data.source):
        sizes = _count_class_sizes(plugin, data, keys)
        violating = [f.sum(f.when(col(_SIZE) < k, col(COUNT)).otherwise(0)) for k in THRESHOLDS]
        smallest, classes, *violations = sizes.agg(f.min(col(_SIZE)), f.count(f.lit(1)), *violating).collect()[0]
    by_threshold = {k: int(count or 0) for k, count in zip(THRESHOLDS, violations, strict=True)}
    return SparkScore(
        plugin.name,
        summarize(ClassStatistics(int(smallest or 0), int(classes), by_threshold)),
        lambda: join_on_values(data.numbered, sizes.drop(COUNT), keys).select(col(RECORD), col(_SIZE)),
    )


def _count_class_sizes(plugin: Any, data: SparkMicrodata, keys: list[str]) -> DataFrame:
    """One row per class: its key values, how many records have them (COUNT), and how many agree with them (class_size)."""
    classes = count_distinct_rows(data.frame, keys)
    if plugin.missing != "wildcard":
        return classes.withColumn(_SIZE, col(COUNT))
    try:
        sizes = count_agreeing(classes, classes, keys, wildcard=True)
    except TooManyPatternsError:
        PATTERNS.refuse(plugin, data.engine)
    return join_on_values(classes, sizes.withColumnRenamed(COUNT, _SIZE), keys)
