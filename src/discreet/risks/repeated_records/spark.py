"""repeated_records on Spark: persons are counted in groups by GROUP BY."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.engine.classes.persons import person_attribute
from discreet.engine.spark.caching import persisted
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.gaps import WILDCARD
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.joins import col, join_on_values
from discreet.engine.spark.score import SparkScore
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.risks.repeated_records.summary import (
    NO_CONFIDENTIAL,
    GroupStatistics,
    PersonStatistics,
    summarize,
    tabulate_attributes,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from discreet.engine.spark.microdata import SparkMicrodata

_PERSON, _GROUP, _OWN = "discreet: person", "discreet: group", "discreet: own"
_RECORDS, _PERSONS, _SQUARES = "discreet: records", "discreet: persons", "discreet: squares"


def repeated_records(plugin: Any, data: SparkMicrodata, original: SparkMicrodata | None = None) -> SparkScore:
    """Re-identification where a person has several records."""
    keys = list(plugin.keys) or data.named(Role.KEY)
    if not keys:
        raise DataError(f"repeated_records needs at least one attribute with the role key in {data.source}")
    sensitive = list(plugin.confidential) or data.named(Role.CONFIDENTIAL)
    for name in (*keys, *sensitive):
        data.attribute(name)
    if plugin.missing == "wildcard" and _has_nulls(data, [*keys, *sensitive]):
        WILDCARD.refuse(plugin, data.engine)
    with translate_errors(data.source):
        frame, names = _add_groups(plugin, _add_persons(data, original), keys)
        own, groups = _count_groups(frame, names, sensitive)
        smallest_class = frame.groupBy(*[col(name) for name in keys]).count().agg({"count": "min"}).collect()[0][0]
        with persisted(groups) as cached:
            group_statistics = _aggregate_groups(cached, sensitive, int(smallest_class or 0))
            person_statistics = _aggregate_persons(plugin, own, cached, names)

    def records() -> DataFrame:
        counted = join_on_values(own, groups.drop(*[f"h {index}" for index in range(len(sensitive))]), names)
        numbered = replace(data, frame=data.numbered)
        rows, _ = _add_groups(plugin, _add_persons(numbered, original), keys)
        fields = [(col(_OWN) / col(_RECORDS)).alias("probability"), col(_PERSONS).alias("persons"), col("g"), col("h")]
        return join_on_values(rows, counted, [*names, _PERSON]).select(col(RECORD), *fields)

    return SparkScore(
        plugin.name,
        summarize(group_statistics, person_statistics),
        records,
        tabulate_attributes(group_statistics),
        notes=() if sensitive else (NO_CONFIDENTIAL,),
    )


def _count_groups(frame: DataFrame, names: list[str], sensitive: list[str]) -> tuple[DataFrame, DataFrame]:
    """One row per person in a group with its records there, and one row per group with its counts, g and h."""
    from pyspark.sql import functions as f

    own = frame.groupBy(*names, _PERSON).agg(f.count(f.lit(1)).alias(_OWN))
    groups = own.groupBy(*names).agg(
        f.sum(col(_OWN)).alias(_RECORDS), f.count(f.lit(1)).alias(_PERSONS), f.sum(col(_OWN) * col(_OWN)).alias(_SQUARES)
    )
    groups = groups.withColumn("g", 1.0 - col(_SQUARES) / (col(_RECORDS).cast("double") * col(_RECORDS)))
    for index, name in enumerate(sensitive):
        groups = join_on_values(groups, _affiliation(frame, names, name, index), names)
        groups = groups.withColumn(f"h {index}", col(f"h {index}") / col(_PERSONS))
    by_attribute = [col(f"h {index}") for index in range(len(sensitive))]
    largest = f.greatest(*by_attribute) if len(by_attribute) > 1 else by_attribute[0] if by_attribute else f.lit(None)
    return own, groups.withColumn("h", largest.cast("double"))


def _aggregate_groups(groups: DataFrame, sensitive: list[str], smallest_class: int) -> GroupStatistics:
    from pyspark.sql import functions as f

    affiliations = [col(f"h {index}") for index in range(len(sensitive))]
    row = groups.agg(
        f.count(f.lit(1)), f.sum(col(_RECORDS)), f.min(col(_PERSONS)), f.min(col("g")), f.sum(col("g") * col(_RECORDS)),
        *[f.max(h) for h in affiliations], *[f.sum(h * col(_RECORDS)) for h in affiliations],
    ).collect()[0]  # fmt: skip
    number, records, fewest, least, total, *of_h = [value or 0 for value in row]
    return GroupStatistics(
        k=smallest_class,
        groups=int(number),
        records=int(records),
        fewest_persons=int(fewest),
        balance_least=float(least),
        balance_total=float(total),
        confidential=sensitive,
        affiliation_largest=[float(value) for value in of_h[: len(sensitive)]],
        affiliation_total=[float(value) for value in of_h[len(sensitive) :]],
    )


def _aggregate_persons(plugin: Any, own: DataFrame, groups: DataFrame, names: list[str]) -> PersonStatistics:
    from pyspark.sql import functions as f

    probability = f.max(col(_OWN) / col(_RECORDS)).alias("p")
    persons = join_on_values(own, groups, names).groupBy(_PERSON).agg(probability)
    over = f.sum((col("p") > plugin.threshold).cast("long"))
    row = persons.agg(f.count(f.lit(1)), over, f.max(col("p")), f.sum(col("p"))).collect()[0]
    return PersonStatistics(int(row[0]), int(row[1] or 0), float(row[2] or 0.0), float(row[3] or 0.0))


def _affiliation(frame: DataFrame, names: list[str], sensitive: str, index: int) -> DataFrame:
    """For each group the largest number of persons who share a value of a sensitive attribute."""
    from pyspark.sql import functions as f

    persons = frame.select(*names, col(sensitive).alias("value"), _PERSON).distinct()
    return persons.groupBy(*names, "value").count().groupBy(*names).agg(f.max("count").alias(f"h {index}"))


def _add_persons(data: SparkMicrodata, original: SparkMicrodata | None) -> DataFrame:
    """The records with their persons: from their own person attribute, or from that of their originals."""
    from pyspark.sql import functions as f

    name = person_attribute(data.shape)
    if name in data.columns:
        frame = data.frame.withColumn(_PERSON, col(name))
        if missing := frame.filter(col(_PERSON).isNull()).count():
            raise DataError(
                f"{data.source}: the person attribute '{name}' is null in {missing:,} records, so the persons cannot be counted; "
                "name the person of each record, or remove those records"
            )
        return frame
    if original is None or name not in original.columns:
        raise DataError(f"{data.source} has no column '{name}' with the role person; give the original table as well")
    persons = original.numbered.select(col(RECORD).alias("whose"), col(name).cast("string").alias(_PERSON))
    joined = data.numbered.join(persons, col(RECORD) == col("whose"), "left").drop("whose")
    simulated = f.concat(f.lit("simulated "), col(RECORD).cast("string"))
    return joined.withColumn(_PERSON, f.coalesce(col(_PERSON), simulated))


def _add_groups(plugin: Any, frame: DataFrame, keys: list[str]) -> tuple[DataFrame, list[str]]:
    """The records with the columns that define the intruder's groups, and the names of these columns."""
    from pyspark.sql import functions as f

    if plugin.knows == "nothing":
        names = [f"{_GROUP} {index}" for index in range(len(keys))]
        return frame.withColumns({name: col(key) for name, key in zip(names, keys, strict=True)}), names
    if plugin.knows == "count":
        totals = frame.groupBy(_PERSON).agg(f.count(f.lit(1)).alias(_GROUP))
        names = [f"{_GROUP} {index}" for index in range(len(keys))]
        with_totals = join_on_values(frame, totals, [_PERSON])
        return with_totals.withColumns({name: col(key) for name, key in zip(names, keys, strict=True)}), [*names, _GROUP]
    listed = f.array_sort(f.collect_list(f.struct(*[col(key).alias(f"k{index}") for index, key in enumerate(keys)])))
    return join_on_values(frame, frame.groupBy(_PERSON).agg(listed.alias(_GROUP)), [_PERSON]), [_GROUP]


def _has_nulls(data: SparkMicrodata, names: list[str]) -> bool:
    from pyspark.sql import functions as f

    with translate_errors(data.source):
        return any(data.frame.agg(*[f.max(col(name).isNull().cast("int")) for name in names]).collect()[0])
