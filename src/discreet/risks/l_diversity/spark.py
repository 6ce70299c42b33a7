"""l-diversity on Spark: sensitive values are counted class by class, and the local engine's functions read the counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from discreet.engine.classes.diversity import class_histograms, distinct_values, entropy_l, recursive_l
from discreet.engine.encoding.columns import encode_series
from discreet.engine.spark.class_histograms import find_attributes, fold_columns, measure_classes
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.joins import COUNT, col, count_distinct_rows, join_on_values
from discreet.engine.spark.score import SparkScore
from discreet.risks.l_diversity.summary import FIELDS, DiversityStatistics, summarize, tabulate_attributes

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from discreet.engine.spark.microdata import SparkMicrodata


@dataclass(frozen=True)
class _Diversity:
    """The diversity of one sensitive attribute in each class."""

    c: float
    fields: ClassVar[tuple[str, ...]] = FIELDS

    def __call__(self, ids: NDArray[np.int64], number: int, values: pl.Series, counts: NDArray[np.int64]) -> list[NDArray[Any]]:
        column = encode_series(values)
        by_class = class_histograms(ids, number, column.codes, len(column.values), counts)
        return [distinct_values(by_class), entropy_l(by_class), recursive_l(by_class, self.c)]


def l_diversity(plugin: Any, data: SparkMicrodata, _: SparkMicrodata | None = None) -> SparkScore:
    """The diversity of the sensitive values in each equivalence class."""
    from pyspark.sql import functions as f

    keys, sensitive = find_attributes(plugin, data)
    with translate_errors(data.source):
        classes = count_distinct_rows(data.frame, keys)
        by_class = classes
        for index, name in enumerate(sensitive):
            diversity = measure_classes(plugin, data, classes, keys, name, _Diversity(plugin.c))
            by_class = join_on_values(
                by_class, diversity.withColumnsRenamed({field: f"{field} {index}" for field in FIELDS}), keys
            )
        columns = {field: [f"{field} {index}" for index in range(len(sensitive))] for field in FIELDS}
        worst = by_class.withColumns({field: fold_columns(f.least, names) for field, names in columns.items()})
        least = [f.min(col(f"{field} {index}")) for index in range(len(sensitive)) for field in FIELDS]
        homogeneous = f.sum(f.when(col("l") == 1, col(COUNT)).otherwise(0))
        row = worst.agg(homogeneous, *[f.min(col(field)) for field in FIELDS], *least).collect()[0]
    in_all, *by_attribute = [dict(zip(FIELDS, row[index : index + 3], strict=True)) for index in range(1, len(row), 3)]
    statistics = DiversityStatistics(in_all, dict(zip(sensitive, by_attribute, strict=True)), int(row[0] or 0))

    def records() -> DataFrame:
        fields = [col(field) if field == "entropy_l" else col(field).cast("long").alias(field) for field in FIELDS]
        by_key = worst.select(*[col(name) for name in (*keys, *FIELDS)])
        return join_on_values(data.numbered, by_key, keys).select(col(RECORD), *fields)

    return SparkScore(plugin.name, summarize(statistics), records, tabulate_attributes(statistics))
