"""Two tables that are compared: columns in one type, small tables sent to the cluster, and cells that are no plain values."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engine.cells.hierarchies import hierarchy_of
from discreet.engine.linkage.value_pairs import is_coarse
from discreet.engine.spark.joins import col
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.engine.spark.value_counts import Dictionary, dictionaries
from discreet.errors import DataError
from discreet.model.hierarchy import Hierarchy
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_WHOLE = 2.0**53


def send_to_cluster(frame: pl.DataFrame, data: SparkMicrodata) -> DataFrame:
    """A table of this machine (a list, a dictionary) on the cluster of another."""
    unsigned = [name for name, dtype in frame.schema.items() if dtype.is_unsigned_integer()]  # Spark has none
    made: DataFrame = data.frame.sparkSession.createDataFrame(frame.with_columns(pl.col(unsigned).cast(pl.Int64)).to_arrow())
    return made


def align_types(left: DataFrame, right: DataFrame, names: Sequence[str]) -> tuple[DataFrame, DataFrame]:
    """Both frames' columns in types in which equal values are equal; a text compares with anything by how that prints."""
    kinds = [{field.name: field.dataType for field in frame.schema.fields} for frame in (left, right)]
    changes: tuple[dict[str, Column], dict[str, Column]] = ({}, {})
    for name in names:
        one, two = (kind[name].simpleString() for kind in kinds)
        if one == two:
            continue
        for side, own in enumerate((one, two)):
            changes[side][name] = col(name).cast("double") if _number(one) and _number(two) else _text(name, own)
    return left.withColumns(changes[0]), right.withColumns(changes[1])


def _number(kind: str) -> bool:
    return kind in ("tinyint", "smallint", "int", "bigint", "float", "double") or kind.startswith("decimal")


def _text(name: str, kind: str) -> Any:
    """Values as a person would write them: a whole float without its ``.0``."""
    from pyspark.sql import functions as f

    column = col(name)
    if kind not in ("float", "double"):
        return column.cast("string")
    whole = (column == f.floor(column)) & (f.abs(column) < _WHOLE)
    return f.when(whole, column.cast("long").cast("string")).otherwise(column.cast("string"))


def has_coarse_cells(data: SparkMicrodata, names: Sequence[str], other: DataFrame) -> bool:
    """Whether some cell is an interval, a group or a label that contains values of the other table: equality is not enough."""
    if any(name in data.cells for name in names):  # labels that stand for something else than they say
        return True
    texts = [name for name in names if data.shape.frame.schema[name] == pl.String]
    if not texts:
        return False
    found, _ = dictionaries(data, texts)
    labelled = [name for name in texts if data.attribute(name).hierarchy is not None]
    theirs = dictionaries(SparkMicrodata(other.select(*[col(name) for name in labelled])), labelled)[0] if labelled else {}
    return any(one.wide or is_coarse(one.values, _tree(data, theirs.get(name))) for name, one in found.items())


def _tree(data: SparkMicrodata, values: Dictionary | None) -> Hierarchy | None:
    """The hierarchy of an attribute over the other table's values, where it covers them."""
    if values is None:
        return None
    policy = data.policy.with_(attributes={values.name: data.attribute(values.name)})
    with contextlib.suppress(DataError):
        return hierarchy_of(Microdata(pl.DataFrame({values.name: values.values}), policy), values.name)
    return None
