"""repeated_records on Spark: persons are counted in groups by GROUP BY."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engine.classes.persons import person_attribute
from discreet.engine.spark.caching import persisted
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.gaps import WILDCARD
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.joins import col, join_on_values
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.engine.spark.score import SparkScore
from discreet.errors import DataError
from discreet.model.attribute import Role

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PERSON, _GROUP, _OWN = "discreet: person", "discreet: group", "discreet: own"
_RECORDS, _PERSONS, _SQUARES = "discreet: records", "discreet: persons", "discreet: squares"


def repeated_records(plugin: Any, data: SparkMicrodata, original: SparkMicrodata | None = None) -> SparkScore:
    """What an intruder finds where a person has several records."""
    from pyspark.sql import functions as f

    keys = list(plugin.keys) or data.named(Role.KEY)
    if not keys:
        raise DataError(f"repeated_records needs at least one attribute with the role key in {data.source}")
    sensitive = list(plugin.confidential) or data.named(Role.CONFIDENTIAL)
    for name in (*keys, *sensitive):
        data.attribute(name)
    if plugin.missing == "wildcard" and _has_nulls(data, [*keys, *sensitive]):
        WILDCARD.refuse(plugin, data.engine)
    with translate_errors(data.source):
        frame, names = _grouped(plugin, _with_persons(data, original), keys)
        own = frame.groupBy(*names, _PERSON).agg(f.count(f.lit(1)).alias(_OWN))
        groups = own.groupBy(*names).agg(
            f.sum(col(_OWN)).alias(_RECORDS), f.count(f.lit(1)).alias(_PERSONS), f.sum(col(_OWN) * col(_OWN)).alias(_SQUARES)
        )
        groups = groups.withColumn("g", 1.0 - col(_SQUARES) / (col(_RECORDS).cast("double") * col(_RECORDS)))
        for at, name in enumerate(sensitive):
            groups = join_on_values(groups, _affiliation(frame, names, name, at), names)
            groups = groups.withColumn(f"h {at}", col(f"h {at}") / col(_PERSONS))
        most = [col(f"h {at}") for at in range(len(sensitive))]
        groups = groups.withColumn("h", (f.greatest(*most) if len(most) > 1 else most[0]) if most else f.lit(None).cast("double"))
        plain = frame.groupBy(*[col(name) for name in keys]).count().agg(f.min("count")).collect()[0][0]
        with persisted(groups) as kept:
            summary, table = _summary(plugin, own, kept, names, sensitive)
    summary["k"] = int(plain or 0)

    def records() -> DataFrame:
        counted = join_on_values(own, groups.drop(*[f"h {at}" for at in range(len(sensitive))]), names)
        numbered = SparkMicrodata(data.numbered, data.policy, data.source)
        rows, _ = _grouped(plugin, _with_persons(numbered, original), keys)
        shown = [(col(_OWN) / col(_RECORDS)).alias("probability"), col(_PERSONS).alias("persons"), col("g"), col("h")]
        return join_on_values(rows, counted, [*names, _PERSON]).select(col(RECORD), *shown)

    notes = () if sensitive else ("h is not measured: no attribute has the role confidential",)
    return SparkScore(plugin.name, {"k": summary.pop("k"), **summary}, records, table, notes=notes)


def _summary(
    plugin: Any, own: DataFrame, groups: DataFrame, names: list[str], sensitive: list[str]
) -> tuple[dict[str, Any], pl.DataFrame]:
    from pyspark.sql import functions as f

    largest = join_on_values(own, groups, names).groupBy(_PERSON).agg(f.max(col(_OWN) / col(_RECORDS)).alias("p"))
    over = f.sum((col("p") > plugin.threshold).cast("long"))
    persons = largest.agg(f.count(f.lit(1)), over, f.max(col("p")), f.avg(col("p"))).collect()[0]
    of_h = [one for at in range(len(sensitive)) for one in (f.max(col(f"h {at}")), f.sum(col(f"h {at}") * col(_RECORDS)))]
    found = groups.agg(
        f.min(col(_PERSONS)), f.min(col("g")), f.sum(col("g") * col(_RECORDS)), f.sum(col(_RECORDS)), f.max(col("h")),
        f.count(f.lit(1)), *of_h,
    ).collect()[0]  # fmt: skip
    number, records = int(persons[0]), int(found[3] or 0)
    over_number = int(persons[1] or 0)
    summary = {
        "min_persons": int(found[0] or 0),
        "min_g": float(found[1] or 0.0),
        "mean_g": float(found[2]) / records if records else 0.0,
        "max_h": float(found[4] or 0.0) if sensitive else None,
        "persons": number,
        "over_threshold": over_number,
        "over_threshold_share": over_number / number if number else 0.0,
        "max_probability": float(persons[2] or 0.0),
        "mean_probability": float(persons[3] or 0.0),
        "groups": int(found[5]),
    }
    table = pl.DataFrame(
        {
            "attribute": pl.Series(sensitive, dtype=pl.String),
            "max_h": [float(found[6 + 2 * at] or 0.0) for at in range(len(sensitive))],
            "mean_h": [float(found[7 + 2 * at]) / records if records else 0.0 for at in range(len(sensitive))],
        },
        schema_overrides={"max_h": pl.Float64, "mean_h": pl.Float64},
    )
    return summary, table


def _affiliation(frame: DataFrame, names: list[str], sensitive: str, at: int) -> DataFrame:
    """For each group the most persons who have one value of a sensitive attribute."""
    from pyspark.sql import functions as f

    persons = frame.select(*names, col(sensitive).alias("value"), _PERSON).distinct()
    return persons.groupBy(*names, "value").count().groupBy(*names).agg(f.max("count").alias(f"h {at}"))


def _with_persons(data: SparkMicrodata, original: SparkMicrodata | None) -> DataFrame:
    """The records with the persons they belong to: their own attribute, or that of the original beside them."""
    from pyspark.sql import functions as f

    name = person_attribute(data.shape)
    if name in data.columns:
        frame = data.frame.withColumn(_PERSON, col(name))
        if lost := frame.filter(col(_PERSON).isNull()).count():
            raise DataError(
                f"{data.source}: the person attribute '{name}' is null in {lost:,} records, so the persons cannot be counted; "
                "name the person of each record, or remove those records"
            )
        return frame
    if original is None or name not in original.columns:
        raise DataError(f"{data.source} has no column '{name}' with the role person; give the original beside it, which has one")
    persons = original.numbered.select(col(RECORD).alias("whose"), col(name).cast("string").alias(_PERSON))
    beside = data.numbered.join(persons, col(RECORD) == col("whose"), "left").drop("whose")
    alone = f.concat(f.lit("simulated "), col(RECORD).cast("string"))
    return beside.withColumn(_PERSON, f.coalesce(col(_PERSON), alone))


def _grouped(plugin: Any, frame: DataFrame, keys: list[str]) -> tuple[DataFrame, list[str]]:
    """The records with the columns by which the intruder tells groups apart."""
    from pyspark.sql import functions as f

    if plugin.knows == "nothing":
        names = [f"{_GROUP} {at}" for at in range(len(keys))]
        return frame.withColumns({name: col(key) for name, key in zip(names, keys, strict=True)}), names
    if plugin.knows == "count":
        totals = frame.groupBy(_PERSON).agg(f.count(f.lit(1)).alias(_GROUP))
        names = [f"{_GROUP} {at}" for at in range(len(keys))]
        made = join_on_values(frame, totals, [_PERSON])
        return made.withColumns({name: col(key) for name, key in zip(names, keys, strict=True)}), [*names, _GROUP]
    listed = f.array_sort(f.collect_list(f.struct(*[col(key).alias(f"k{at}") for at, key in enumerate(keys)])))
    return join_on_values(frame, frame.groupBy(_PERSON).agg(listed.alias(_GROUP)), [_PERSON]), [_GROUP]


def _has_nulls(data: SparkMicrodata, names: list[str]) -> bool:
    from pyspark.sql import functions as f

    with translate_errors(data.source):
        return any(data.frame.agg(*[f.max(col(name).isNull().cast("int")) for name in names]).collect()[0])
