"""Whether two different cells may agree: then counts of equal values are not enough, and Spark refuses the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from discreet.engine.encoding.columns import encode
from discreet.engine.overlap.columns import MARKS, policy_labels
from discreet.engine.overlap.tables import has_overlaps
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.joins import col
from discreet.engine.spark.value_counts import dictionaries
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from discreet.engine.spark.microdata import SparkMicrodata


def has_nulls(data: SparkMicrodata) -> bool:
    """Whether an attribute that an intruder may know is null somewhere."""
    from pyspark.sql import functions as f

    known = [name for name in data.columns if data.attribute(name).known > 0]
    parts = [f.max(col(name).isNull().cast("int")) for name in known]
    with translate_errors(data.source):
        return bool(parts) and any(data.frame.agg(*parts).collect()[0])


def has_overlapping_cells(data: SparkMicrodata) -> bool:
    """Whether different cells of an attribute that may be known agree; only columns with texts that look coarse are read."""
    from pyspark.sql import functions as f

    known = [name for name in data.columns if data.attribute(name).known > 0]
    texts = [name for name in known if name not in data.cells and data.shape.frame.schema[name] == pl.String]
    labels = {name: policy_labels(data.shape, name) for name in texts}
    coarse = [f.max((col(name).rlike(MARKS) | col(name).isin(labels[name])).cast("int")) for name in texts]
    with translate_errors(data.source):
        marked = data.frame.agg(*coarse).collect()[0] if coarse else ()
    candidates = [name for name, flag in zip(texts, marked, strict=True) if flag] + [name for name in known if name in data.cells]
    values, _ = dictionaries(data, candidates) if candidates else ({}, None)
    for name, dictionary in values.items():
        attributes = {name: data.attribute(name)}
        local = Microdata(pl.DataFrame({name: dictionary.values}), data.policy.with_(attributes=attributes), cells=data.cells)
        if dictionary.wide or has_overlaps(local, encode(local, [name])):
            return True
    return False
