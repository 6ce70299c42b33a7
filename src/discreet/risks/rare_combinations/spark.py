"""Rare combinations on Spark: the cluster counts the equivalence classes, which are searched as on the local engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.engine.classes.key_sets import check_original_values
from discreet.engine.spark.collected_classes import collect_classes, join_to_records
from discreet.engine.spark.score import SparkScore
from discreet.risks.rare_combinations.scoring import score_classes

if TYPE_CHECKING:
    from discreet.engine.spark.microdata import SparkMicrodata


def rare_combinations(plugin: Any, data: SparkMicrodata, original: SparkMicrodata | None = None) -> SparkScore:
    """The rare combinations of the classes."""
    keys = plugin.reads(data.shape)
    plugin.check_sets(keys, data.source)
    values, columns, classes = collect_classes(plugin, data, keys)
    nulls = [column.null_code for column in columns]
    if original is not None:
        check_original_values(plugin.name, columns, plugin.missing)
    scored = score_classes(plugin, keys, classes, nulls)
    return SparkScore(
        plugin.name,
        scored.summary,
        lambda: join_to_records(data, values, scored.list_values(classes.ids)),
        scored.per_attribute,
    )
