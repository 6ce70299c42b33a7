"""t-closeness on Spark: sensitive values are counted class by class, and the local engine's distances read the counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from discreet.engine.classes.closeness import GroundDistance, choose_ground_distance
from discreet.engine.classes.diversity import class_histograms, overall_distribution
from discreet.engine.spark.class_histograms import find_attributes, fold_columns, measure_classes
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.joins import COUNT, col, count_distinct_rows, join_on_values
from discreet.engine.spark.score import SparkScore
from discreet.engine.spark.value_counts import Dictionary, dictionaries
from discreet.errors import ParameterError, nearest
from discreet.model.microdata import Microdata
from discreet.risks.t_closeness.measure import MANY_VALUES
from discreet.risks.t_closeness.summary import ClosenessStatistics, summarize, tabulate_attributes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engine.spark.microdata import SparkMicrodata


@dataclass(frozen=True)
class _Closeness:
    """The distance of each class from the whole table under one ground distance."""

    ground: GroundDistance
    dictionary: Dictionary
    shares: NDArray[np.float64]
    fields: ClassVar[tuple[str, ...]] = ("t",)

    def __call__(self, ids: NDArray[np.int64], number: int, values: pl.Series, counts: NDArray[np.int64]) -> list[NDArray[Any]]:
        codes = self.dictionary.codes(values.to_arrow())
        by_class = class_histograms(ids, number, codes, len(self.dictionary.values), counts)
        return [np.nan_to_num(self.ground.emd(by_class, self.shares))]


def t_closeness(plugin: Any, data: SparkMicrodata, _: SparkMicrodata | None = None) -> SparkScore:
    """The earth mover's distance between the values of each equivalence class and those of the whole table."""
    from pyspark.sql import functions as f

    keys, sensitive = find_attributes(plugin, data)
    for name in plugin.distance:
        if name not in sensitive:
            raise ParameterError(f"t_closeness.distance names '{name}', which is not sensitive; {nearest(name, sensitive)}")
    values, records = dictionaries(data, sensitive)
    functions = {name: _closeness(plugin, data, values[name]) for name in sensitive}
    with translate_errors(data.source):
        classes = count_distinct_rows(data.frame, keys)
        by_class = classes
        for index, name in enumerate(sensitive):
            distances = measure_classes(plugin, data, classes, keys, name, functions[name])
            by_class = join_on_values(by_class, distances.withColumnRenamed("t", f"t {index}"), keys)
        # a class without a value of the attribute discloses nothing, so its distance is 0
        by_attribute = {f"t {index}": f.coalesce(col(f"t {index}"), f.lit(0.0)) for index in range(len(sensitive))}
        worst = by_class.withColumns(by_attribute).withColumn("t", fold_columns(f.greatest, list(by_attribute)))
        largest = [f.max(col(name)) for name in by_attribute]
        row = worst.agg(f.max(col("t")), f.sum(col("t") * col(COUNT)), *largest).collect()[0]
    table = [(name, functions[name].ground.kind, float(row[2 + index] or 0.0)) for index, name in enumerate(sensitive)]
    statistics = ClosenessStatistics(float(row[0] or 0.0), float(row[1] or 0.0), records, table)
    by_key = worst.select(*[col(name) for name in (*keys, "t")])
    return SparkScore(
        plugin.name,
        summarize(statistics),
        lambda: join_on_values(data.numbered, by_key, keys).select(col(RECORD), col("t")),
        tabulate_attributes(statistics),
    )


def _closeness(plugin: Any, data: SparkMicrodata, values: Dictionary) -> _Closeness:
    """The distance of an attribute and its shares in the whole table, which are sent to the workers."""
    if values.wide:
        MANY_VALUES.refuse(plugin, data.engine)
    policy = data.policy.with_(attributes={values.name: data.attribute(values.name)})
    table = Microdata(pl.DataFrame({values.name: values.values}), policy, data.source)
    ground = choose_ground_distance(table, values.column, plugin.distance.get(values.name))
    return _Closeness(ground, values, overall_distribution(np.arange(len(values.counts)), len(values.values), values.counts))
