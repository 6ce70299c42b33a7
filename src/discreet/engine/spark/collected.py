"""Measures of all equivalence classes at once: what they need comes to this machine, where the local engine measures.

A model of the population is fitted to all classes together, and a population table is compared with all of them, so there is
nothing for the workers to do but read: their columns are collected (keys, weights and households), and nothing where they do not
fit. A search over many sets of keys counts each of them on the classes by all keys, so the cluster counts these once (one
shuffle): only the classes are collected, and what is measured of a class goes back to its records by a join.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.classes.distinct_classes import DistinctClasses
from discreet.engine.classes.groups import refuse_nulls_beside_original
from discreet.engine.encoding.columns import Column, encode
from discreet.engine.runtime.memory import PROGRAM, check_memory
from discreet.engine.spark.batches import build_local_table
from discreet.engine.spark.comparable import send_to_cluster
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.gaps import MANY_CLASSES, MOST_CLASSES
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.joins import COUNT, col, count_distinct_rows, join_on_values, quote
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.engine.spark.score import SparkScore
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BYTES_PER_VALUE = 40.0
"""Memory of a collected value, estimated: as Arrow, sorted by record, in the local table, and its code."""


def measure_collected(plugin: Any, data: SparkMicrodata, original: SparkMicrodata | None = None) -> SparkScore:
    """The measure of the local engine, on the columns that it reads."""
    names = list(dict.fromkeys([*plugin.examines(data.shape), *data.named(Role.WEIGHT, Role.HOUSEHOLD)]))
    for name in names:
        data.attribute(name)  # raises if there is no such column
    need = PROGRAM + len(data) * _BYTES_PER_VALUE * (len(names) + 1) + plugin.working_bytes(data.shape, len(data))
    what = f"{data.source}: measuring {plugin.name} of {len(data):,} records on one machine"
    check_memory(need, what, f"{plugin.name} needs all equivalence classes at once, so start Spark's driver on a larger machine")
    local = _collect_columns(data, names)
    score = plugin.measure(local, original=None if original is None else _collect_columns(original, names))

    def frame() -> DataFrame:
        rows: pl.DataFrame = score.per_record.with_columns(pl.Series(RECORD, local.records))
        return data.frame.sparkSession.createDataFrame(rows.to_arrow())

    collected = SparkScore(plugin.name, score.summary, frame, notes=score.notes, bounds=score.bounds)
    collected.gaps, collected.interval = score.gaps, score.interval
    return collected


def _collect_columns(data: SparkMicrodata, names: list[str]) -> Microdata:
    """Some columns of a table on the local engine, with the numbers of their records."""
    policy = data.policy.with_(
        attributes={name: attribute for name, attribute in data.policy.attributes.items() if name in names}
    )
    with translate_errors(data.source):
        frame = data.numbered.select(*[quote(name) for name in [*names, RECORD]])
    return data.with_policy(policy).replace(frame).to_local()


def measure_collected_classes(plugin: Any, data: SparkMicrodata, original: SparkMicrodata | None = None) -> SparkScore:
    """The measure of the local engine, on the equivalence classes: ``plugin.score_classes`` scores them as it does there."""
    keys = plugin.reads(data.shape)
    plugin.check_sets(keys, data.source)
    values, columns, classes = _collect_classes(plugin, data, keys)
    refuse_nulls_beside_original(plugin.name, columns, plugin.missing, original)
    score = plugin.score_classes(columns, classes)
    return SparkScore(plugin.name, score.summary, lambda: _join_to_records(data, values, score.per_record), score.per_attribute)


def _collect_classes(
    plugin: Any, data: SparkMicrodata, keys: Sequence[str]
) -> tuple[pl.DataFrame, list[Column], DistinctClasses]:
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


def _join_to_records(data: SparkMicrodata, values: pl.DataFrame, fields: pl.DataFrame) -> DataFrame:
    """One row per record: RECORD, and the fields of its class; ``fields`` has one row per class of ``values``."""
    keys = values.columns
    by_class = send_to_cluster(pl.concat([values, fields.select(pl.all().name.prefix("field "))], how="horizontal"), data)
    by_class = by_class.select(*[col(name).cast(data.frame.schema[name].dataType).alias(name) for name in keys], *[
        col(f"field {name}") for name in fields.columns
    ])  # fmt: skip
    joined = join_on_values(data.numbered, by_class, keys)
    return joined.select(col(RECORD), *[col(f"field {name}").alias(name) for name in fields.columns])
