"""The distinct values of some columns as a small local table, for methods that replace values one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discreet.engine.spark.batches import build_local_table
from discreet.engine.spark.gaps import MANY_CATEGORIES
from discreet.engine.spark.value_counts import Dictionary, dictionaries
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from discreet.engine.spark.microdata import SparkMicrodata


def collect_distinct_values(plugin: Any, data: SparkMicrodata, columns: Sequence[str]) -> tuple[dict[str, Dictionary], Microdata]:
    """The dictionary of each column, and their values as a local table; columns with too many values are refused."""
    values, _ = dictionaries(data, columns)
    if any(dictionary.wide for dictionary in values.values()):
        MANY_CATEGORIES.refuse(plugin, data.engine)
    return values, build_local_table(data, {name: values[name].values for name in columns})
