"""The decision-theoretic risk on Spark, with exact consistency: sensitivity over the number of consistent persons."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.disclosure.dictionaries import load_dictionaries, own_dictionary, prior_of
from discreet.engine.disclosure.weights import sensitivity_of
from discreet.engine.spark.comparable import align_types, has_coarse_cells, send_to_cluster
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.gaps import COARSE, PATTERNS
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.joins import COUNT, TooManyPatternsError, col, count_agreeing, count_distinct_rows, join_on_values
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.engine.spark.score import SparkScore
from discreet.risks.decision.summary import LossStatistics, choose_prior, summarize

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_MOST_PATTERNS = 1 << 16
_PATTERN, _PHI = "discreet: disclosed", "phi"


def decision(plugin: Any, data: SparkMicrodata, original: SparkMicrodata | None = None) -> SparkScore:
    """The expected loss of each disclosed record under each dictionary."""
    from pyspark.sql import functions as f

    with translate_errors(data.source):
        names, holders = _dictionaries(plugin, data, original)
        frame = _with_phi(plugin, data, data.frame)
        rhos = [_rho(plugin, data, holder, attributes) for holder, attributes in holders]
        frame = _with_losses(frame, rhos, [attributes for _, attributes in holders])
        sums = [f.sum(col(f"loss {worst}")) for worst in range(len(rhos))]
        nobody = f.sum(_all([col(f"rho {worst}") == 0 for worst in range(len(rhos))]).cast("long"))
        row = frame.agg(f.count(f.lit(1)), nobody, *sums).collect()[0]
    totals = {name: float(row[2 + worst] or 0.0) for worst, name in enumerate(names)}
    prior = choose_prior(prior_of(plugin.dictionary, plugin.prior), len(rhos))
    statistics = LossStatistics(int(row[0]), totals, int(row[1] or 0), prior)
    worst = statistics.worst

    def by_record() -> DataFrame:
        rows = _with_losses(_with_phi(plugin, data, data.numbered), rhos, [attributes for _, attributes in holders])
        loss: Any = col(f"loss {worst}")
        if prior is not None:
            parts = [p * col(f"loss {place}") for place, p in enumerate(prior) if p > 0]
            loss = sum(parts[1:], parts[0])
        fields = [loss.alias("loss"), col(f"rho {worst}").alias("rho"), col(_PHI)]
        if len(names) > 1:
            fields += [col(f"rho {place}").alias(f"rho_{name}") for place, name in enumerate(names)]
        return rows.select(col(RECORD), *fields)

    return SparkScore(plugin.name, summarize(statistics), by_record)


def _dictionaries(
    plugin: Any, data: SparkMicrodata, original: SparkMicrodata | None
) -> tuple[list[str], list[tuple[DataFrame | None, tuple[str, ...]]]]:
    """The names of the dictionaries, and each as a frame (None where the data are their own) with its shared attributes."""
    if not plugin.dictionary:
        itself = own_dictionary(data.shape, (original or data).shape)
        return [itself.name], [(None if original is None else original.frame, itself.attributes)]
    loaded = load_dictionaries(plugin.dictionary, data.shape)
    names = [dictionary.name for dictionary in loaded]
    return names, [(send_to_cluster(dictionary.frame, data), dictionary.attributes) for dictionary in loaded]


def _rho(plugin: Any, data: SparkMicrodata, holder: DataFrame | None, attributes: tuple[str, ...]) -> DataFrame:
    """For each distinct combination of the attributes the number of persons of a dictionary who are consistent with it."""
    wildcard = plugin.missing == "wildcard"
    if holder is not None and has_coarse_cells(data, attributes, holder):
        COARSE.refuse(plugin, data.engine)
    left, right = (data.frame, data.frame) if holder is None else align_types(data.frame, holder, attributes)
    try:
        counts = count_agreeing(left, count_distinct_rows(right, attributes), attributes, wildcard=wildcard)
    except TooManyPatternsError:
        PATTERNS.refuse(plugin, data.engine)
    if holder is None:
        return counts
    # back to the data's own types: numbers may have been compared as texts
    own = data.frame.select(*[col(name) for name in attributes]).distinct()
    keyed = align_types(own.withColumns({f"{name} as it is": col(name) for name in attributes}), holder, attributes)[0]
    back = join_on_values(keyed, counts, attributes, "inner").drop(*attributes)
    return back.withColumnsRenamed({f"{name} as it is": name for name in attributes})


def _with_losses(frame: DataFrame, rhos: list[DataFrame], attributes: list[tuple[str, ...]]) -> DataFrame:
    from pyspark.sql import functions as f

    for index, (rho, names) in enumerate(zip(rhos, attributes, strict=True)):
        frame = join_on_values(frame, rho.withColumnRenamed(COUNT, f"rho {index}"), names)
        number = f.coalesce(col(f"rho {index}"), f.lit(0)).cast("long")
        frame = frame.withColumn(f"rho {index}", number)
        loss = f.when((col(f"rho {index}") == 0) | (col(_PHI) == 0), f.lit(0.0)).otherwise(
            col(_PHI) * (1.0 / col(f"rho {index}"))
        )
        frame = frame.withColumn(f"loss {index}", loss)
    return frame


def _with_phi(plugin: Any, data: SparkMicrodata, frame: DataFrame) -> DataFrame:
    """The sensitivity of each record, which depends only on the pattern of disclosed attributes: few different ones."""
    from pyspark.sql import functions as f

    function = sensitivity_of(data.shape, plugin.sensitivity, plugin.weights, None, plugin.order)
    flags = [f.when(col(name).isNotNull(), f.lit("1")).otherwise(f.lit("0")) for name in function.names]
    disclosed = frame.withColumn(_PATTERN, f.concat(f.lit(""), *flags))
    patterns = [row[0] for row in disclosed.select(_PATTERN).distinct().limit(_MOST_PATTERNS + 1).collect()]
    if len(patterns) > _MOST_PATTERNS:
        PATTERNS.refuse(plugin, data.engine)
    flags_by_name = [
        np.array([pattern[index] == "1" for pattern in patterns], dtype=np.bool_) for index in range(len(function.names))
    ]
    phi = function.phi(flags_by_name, len(patterns)) if patterns else np.zeros(0)
    table = data.frame.sparkSession.createDataFrame(
        [(pattern, float(value)) for pattern, value in zip(patterns, phi, strict=True)], f"`{_PATTERN}` string, `{_PHI}` double"
    )
    return disclosed.join(f.broadcast(table), _PATTERN, "left").drop(_PATTERN)


def _all(parts: list[Column]) -> Column:
    return reduce(lambda first, second: first & second, parts)
