"""Equivalence classes counted by the cluster and collected, for measures that search many sets of keys over them.

Every set of keys is counted on the classes by all keys, not on the records, so the cluster counts these once (one shuffle), and
the local engine's kernels do the rest on the driver. What they find of a class goes back to its records by a join.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.classes.distinct_classes import DistinctClasses
from discreet.engine.encoding.columns import Column, encode
from discreet.engine.spark.batches import build_local_table
from discreet.engine.spark.comparable import send_to_cluster
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.gaps import MANY_CLASSES, MOST_CLASSES
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.joins import COUNT, col, count_distinct_rows, join_on_values

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from discreet.engine.spark.microdata import SparkMicrodata


def collect_classes(plugin: Any, data: SparkMicrodata, keys: Sequence[str]) -> tuple[pl.DataFrame, list[Column], DistinctClasses]:
    """The key values of each class, the same as codes, and the classes; more than MOST_CLASSES are refused."""
    for name in keys:
        data.attribute(name)
    with translate_errors(data.source):
        content = pl.DataFrame(count_distinct_rows(data.frame, keys).limit(MOST_CLASSES + 1).toArrow())
    if len(content) > MOST_CLASSES:
        MANY_CLASSES.refuse(plugin, data.engine)
    values = content.drop(COUNT).sort(keys)  # partitions come in any order
    counts = content.sort(keys)[COUNT].to_numpy().astype(np.int64)
    columns = encode(build_local_table(data, {name: values[name] for name in keys}), keys)
    codes, cardinalities = [column.codes for column in columns], [column.cardinality for column in columns]
    return values, columns, DistinctClasses(np.arange(len(values)), codes, cardinalities, counts)


def join_to_records(data: SparkMicrodata, values: pl.DataFrame, fields: pl.DataFrame) -> DataFrame:
    """One row per record: RECORD, and the fields of its class; ``fields`` has one row per class of ``values``."""
    keys = values.columns
    by_class = send_to_cluster(pl.concat([values, fields.select(pl.all().name.prefix("field "))], how="horizontal"), data)
    by_class = by_class.select(*[col(name).cast(data.frame.schema[name].dataType).alias(name) for name in keys], *[
        col(f"field {name}") for name in fields.columns
    ])  # fmt: skip
    joined = join_on_values(data.numbered, by_class, keys)
    return joined.select(col(RECORD), *[col(f"field {name}").alias(name) for name in fields.columns])
