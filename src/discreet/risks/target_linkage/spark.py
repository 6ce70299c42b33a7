"""target_linkage on Spark where agreement is exact: Truta et al., eq. (4.10), by counts of agreeing records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.encoding.policy_tables import load_table
from discreet.engine.spark.caching import persisted
from discreet.engine.spark.comparable import align_types, has_coarse_cells, send_to_cluster
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.gaps import COARSE, PATTERNS
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.joins import (
    COUNT,
    TooManyPatternsError,
    col,
    count_agreeing,
    count_distinct_rows,
    join_on_values,
    quote,
)
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.engine.spark.score import SparkScore
from discreet.errors import DataError, nearest
from discreet.model.attribute import Role
from discreet.risks.target_linkage.summary import LinkageStatistics, summarize

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_NEVER_KNOWN = (Role.IDENTIFIER, Role.PERSON, Role.WEIGHT)
_CHANCE, _INCLUSION, _JOINT = "discreet: chance", "discreet: inclusion", "discreet: joint"


@dataclass(frozen=True)
class _Targets:
    """The intruder's list: a frame with RECORD and the known attributes of each target, and its inclusion probability."""

    frame: DataFrame
    attributes: tuple[str, ...]
    notes: tuple[str, ...]
    inclusion: Any


def target_linkage(plugin: Any, data: SparkMicrodata, original: SparkMicrodata | None = None) -> SparkScore:
    """Link every target to the records that agree with everything known of it."""
    from pyspark.sql import functions as f

    with translate_errors(data.source):
        units = _targets(plugin, data, original)
        names = units.attributes
        _check_names(plugin, names)
        if (original is not None or plugin.targets is not None) and has_coarse_cells(data, names, units.frame):
            COARSE.refuse(plugin, data.engine)
        targets, released = align_types(units.frame, data.frame, names)
        records, size = len(data), units.frame.count()
        counted = _agreeing(plugin, data, targets, released, names).withColumnRenamed(COUNT, "candidates")
        linked = join_on_values(targets.withColumn(_INCLUSION, units.inclusion), counted, names)
        linked = linked.withColumn("candidates", f.coalesce(col("candidates"), f.lit(0)).cast("long"))
        linked, chances = _with_chances(plugin, data, linked, released, names, records)
        linked = _with_probability(linked, records)
        if original is not None and plugin.targets is None:
            linked = _with_truth(linked, data, original, names)
        with persisted(linked) as cached:
            statistics = _aggregate(plugin, cached, size, records)
            table = _per_attribute(cached, released, names, chances)

    def by_record() -> DataFrame:
        first = _agreeing(plugin, data, targets, align_types(units.frame, data.numbered, names)[1], names, first=True)
        rows = join_on_values(linked, first, names)
        fields = [col("probability"), col("best"), col("candidates"), col("runner_up")]
        fields += [col("correct")] if "correct" in linked.columns else []
        return rows.select(col(RECORD), *fields)

    return SparkScore(plugin.name, summarize(statistics), by_record, table, notes=units.notes)


def _targets(plugin: Any, data: SparkMicrodata, original: SparkMicrodata | None) -> _Targets:
    notes: list[str] = []
    if plugin.targets is not None:
        local = load_table(plugin.targets, data.policy)
        known = [name for name in local.columns if name in data.columns and data.attribute(name).role not in _NEVER_KNOWN]
        list_name, columns = f"the list {plugin.targets}", local.columns
        frame = send_to_cluster(local.with_row_index(RECORD).with_columns(pl.col(RECORD).cast(pl.Int64)), data)
    else:
        own = original or data
        known, list_name, columns = [name for name in data.named(Role.KEY) if name in own.columns], own.source, own.columns
        frame = own.numbered
        if original is not None:
            missing = [name for name in original.named(Role.KEY) if name not in data.columns]
            notes += [f"'{name}' is not in the release, so the intruder cannot use it" for name in missing]
    for name in plugin.attributes:
        data.attribute(name)
        if name not in columns:
            raise DataError(f"target_linkage: {list_name} has no column '{name}'; {nearest(name, columns)}")
    used = tuple(plugin.attributes) or tuple(known)
    if not used:
        raise DataError(
            f"target_linkage needs attributes that the intruder knows: {list_name} shares no column with {data.source}"
            if plugin.targets is not None
            else f"target_linkage needs at least one attribute with the role key in {data.source}, or attributes"
        )
    return _Targets(frame, used, tuple(notes), _inclusion(plugin, data, original, columns))


def _inclusion(plugin: Any, data: SparkMicrodata, original: SparkMicrodata | None, columns: list[str]) -> Column:
    """The probability that a target is in the file: as specified, by sampling weights, by the plan's sampling factor, or 1."""
    from pyspark.sql import functions as f

    if plugin.population is not None:
        if len(data) > plugin.population:
            raise DataError(
                f"target_linkage: the population {plugin.population:,.0f} is less than the {len(data):,} records of {data.source}"
            )
        return f.lit(len(data) / plugin.population)
    if plugin.sampling_fraction is not None:
        return f.lit(float(plugin.sampling_fraction))
    for name in data.named(Role.WEIGHT)[:1]:
        wrong = data.frame.filter(col(name).isNull() | (col(name) < 1)).count()
        if wrong or not data.shape.frame.schema[name].is_numeric():
            raise DataError(
                f"target_linkage: the sampling weights '{name}' must be numbers of at least 1, because 1/weight is a probability"
            )
        if name in columns:
            return 1.0 / col(name)
        return f.lit(min(1.0, len(data) / float(data.frame.agg(f.sum(col(name))).collect()[0][0] or 1.0)))
    if original is not None and len(original):
        return f.lit(min(1.0, len(data) / len(original)))
    return f.lit(1.0)


def _check_names(plugin: Any, names: tuple[str, ...]) -> None:
    for parameter in ("domain", "density"):
        for name in getattr(plugin, parameter):
            if name not in names:
                raise DataError(
                    f"target_linkage: {parameter} names '{name}', which the intruder does not use; "
                    f"attributes used: {', '.join(names)}"
                )


def _agreeing(
    plugin: Any, data: SparkMicrodata, targets: DataFrame, released: DataFrame, names: tuple[str, ...], *, first: bool = False
) -> DataFrame:
    """The number of records that agree with each distinct target where neither is null, or the first of these records."""
    try:
        return count_agreeing(
            targets, count_distinct_rows(released, names, first=RECORD if first else None), names, wildcard=True
        )
    except TooManyPatternsError:
        PATTERNS.refuse(plugin, data.engine)


def _with_chances(
    plugin: Any, data: SparkMicrodata, linked: DataFrame, released: DataFrame, names: tuple[str, ...], records: int
) -> tuple[DataFrame, list[str]]:
    """The probability that a random record agrees with the known attributes of a target, by attribute and overall."""
    from pyspark.sql import functions as f

    chances = []
    for index, name in enumerate(names):
        chance = f"discreet: chance {index}"
        linked = _with_chance(plugin, linked, released, name, chance)
        chances.append(chance)
    specified = [name for name in names if name in plugin.density or name in plugin.domain]
    counting = [index for index, name in enumerate(names) if plugin.model != "empirical" or name in specified]
    total: Any = f.lit(1.0)
    for index in counting:
        total = total * col(chances[index])
    rest = tuple(name for name in names if name not in specified)
    if plugin.model == "empirical" and rest:
        joint = col("candidates")
        if specified:
            counts = _agreeing(plugin, data, linked, released, rest).withColumnRenamed(COUNT, _JOINT)
            linked, joint = join_on_values(linked, counts, rest), f.coalesce(col(_JOINT), f.lit(0))
        total = total * (f.greatest(joint, f.lit(1)) / f.lit(max(records, 1)))
    return linked.withColumn(_CHANCE, total), chances


def _with_chance(plugin: Any, linked: DataFrame, released: DataFrame, name: str, chance: str) -> DataFrame:
    from pyspark.sql import functions as f

    from discreet.model.attribute import Attribute

    unknown = col(name).isNull()
    if name in plugin.density:
        attribute = Attribute(values=dict(plugin.density[name]), default=0.0)
        values = [row[0] for row in linked.select(col(name)).distinct().collect() if row[0] is not None]
        weights = [(value, float(attribute.value_weight(value))) for value in values]
        for value, weight in weights:
            if weight <= 0:
                raise DataError(
                    f"the density of '{name}' gives no probability to {value}, which a target has; "
                    "list it, or an interval that contains it"
                )
        kind = next(field.dataType.simpleString() for field in linked.schema.fields if field.name == name)
        listed = linked.sparkSession.createDataFrame(weights, f"{quote(name)} {kind}, {quote(chance)} double")
        return join_on_values(linked, listed, [name]).withColumn(chance, f.when(unknown, 1.0).otherwise(col(chance)))
    if name in plugin.domain:
        return linked.withColumn(chance, f.when(unknown, 1.0).otherwise(f.lit(min(1.0, 1 / plugin.domain[name]))))
    counts = count_distinct_rows(released.filter(col(name).isNotNull()), [name])
    known, different = counts.agg(f.sum(col(COUNT)), f.count(f.lit(1))).collect()[0]
    if plugin.model == "uniform":
        return linked.withColumn(chance, f.when(unknown, 1.0).otherwise(f.lit(1 / max(1, int(different)))))
    if not known:
        return linked.withColumn(chance, f.lit(1.0))
    linked = join_on_values(linked, counts.withColumnRenamed(COUNT, chance), [name])
    equal = f.greatest(f.coalesce(col(chance), f.lit(0)) / f.lit(known), f.lit(1 / (known + 1)))
    return linked.withColumn(chance, f.when(unknown, 1.0).otherwise(f.least(f.lit(1.0), equal)))


def _with_probability(linked: DataFrame, records: int) -> DataFrame:
    """Truta et al., eq. 4.10: all agreeing records have the same ratio 1 / chance; see ``posterior_of_equals``."""
    from pyspark.sql import functions as f

    prior = col(_INCLUSION) / f.lit(max(records, 1))
    ratio = 1.0 / col(_CHANCE)
    denominator = prior * (col("candidates") * ratio) + (1.0 - col(_INCLUSION))
    most = 1.0 / col("candidates")
    probability = f.when(col(_INCLUSION) == 1.0, most).otherwise(f.least(prior * ratio / denominator, most))
    linked = linked.withColumn("probability", f.when((col("candidates") > 0) & (denominator > 0), probability).otherwise(0.0))
    return linked.withColumn("runner_up", f.when(col("candidates") > 1, col("probability")).otherwise(0.0))


def _with_truth(linked: DataFrame, data: SparkMicrodata, original: SparkMicrodata, names: tuple[str, ...]) -> DataFrame:
    """The probability that a target's link is right: 1 / candidates if its own record agrees, else 0."""
    from pyspark.sql import functions as f

    own_records = align_types(original.frame, data.numbered, names)[1].select(
        col(RECORD).alias("whose"), *[col(name).alias(f"{name} there") for name in names]
    )
    joined = linked.join(own_records, col(RECORD) == col("whose"), "left")
    right: Any = col("whose").isNotNull()
    for name in names:
        right = right & (col(name).isNull() | col(f"{name} there").isNull() | (col(name) == col(f"{name} there")))
    correct = f.when(right & (col("candidates") > 0), 1.0 / col("candidates")).otherwise(0.0)
    return joined.withColumn("correct", correct).drop("whose", *[f"{name} there" for name in names])


def _aggregate(plugin: Any, linked: DataFrame, targets: int, records: int) -> LinkageStatistics:
    """The sufficient statistics, by one aggregation over the targets."""
    from pyspark.sql import functions as f

    knows_truth = "correct" in linked.columns
    row = linked.agg(
        f.sum(col("probability")).alias("claimed"),
        (f.sum(col("correct")) if knows_truth else f.lit(None)).alias("correct"),
        f.max(col("probability")).alias("largest"),
        f.sum((col("probability") > plugin.threshold).cast("long")).alias("over_threshold"),
        f.avg(col(_INCLUSION)).alias("inclusion"),
        f.sum((col("candidates") > 0).cast("long")).alias("linked_targets"),
        f.sum(col("candidates")).alias("candidates"),
    ).collect()[0]
    return LinkageStatistics(
        targets=targets,
        records=records,
        claimed=float(row["claimed"] or 0.0),
        correct=float(row["correct"] or 0.0) if knows_truth else None,
        largest=float(row["largest"] or 0.0),
        over_threshold=int(row["over_threshold"] or 0),
        inclusion=float(row["inclusion"] or 0.0),
        linked_targets=int(row["linked_targets"] or 0),
        candidates=int(row["candidates"] or 0),
    )


def _per_attribute(linked: DataFrame, released: DataFrame, names: tuple[str, ...], chances: list[str]) -> pl.DataFrame:
    from pyspark.sql import functions as f

    sums = [f.count(col(name)) for name in names]
    sums += [f.sum(f.when(col(name).isNotNull(), col(chance))) for name, chance in zip(names, chances, strict=True)]
    row = linked.agg(*sums).collect()[0]
    blanks = released.agg(*[f.sum(col(name).isNull().cast("long")) for name in names]).collect()[0]
    known = [int(row[index] or 0) for index in range(len(names))]
    means = [float(row[len(names) + index]) / known[index] if known[index] else 0.5 for index in range(len(names))]
    return pl.DataFrame(
        {
            "attribute": list(names),
            "chance": np.clip(np.array(means, dtype=np.float64), 1e-12, 1 - 1e-12),
            "error": [0.0] * len(names),
            "known_targets": known,
            "blank_cells": [int(count or 0) for count in blanks],
        },
        schema_overrides={"attribute": pl.String},
    )
