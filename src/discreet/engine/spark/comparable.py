"""Two tables made comparable: columns of a common type, small tables sent to the cluster, and a check for coarse cells."""

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
    frame_on_cluster: DataFrame = data.frame.sparkSession.createDataFrame(
        frame.with_columns(pl.col(unsigned).cast(pl.Int64)).to_arrow()
    )
    return frame_on_cluster


def align_types(left: DataFrame, right: DataFrame, names: Sequence[str]) -> tuple[DataFrame, DataFrame]:
    """Both frames with columns of a common type; a text is compared with any other type by how that prints."""
    kinds = [{field.name: field.dataType for field in frame.schema.fields} for frame in (left, right)]
    changes: tuple[dict[str, Column], dict[str, Column]] = ({}, {})
    for name in names:
        left_type, right_type = (kind[name].simpleString() for kind in kinds)
        if left_type == right_type:
            continue
        for side, own_type in enumerate((left_type, right_type)):
            changes[side][name] = (
                col(name).cast("double") if _is_number(left_type) and _is_number(right_type) else _as_text(name, own_type)
            )
    return left.withColumns(changes[0]), right.withColumns(changes[1])


def _is_number(kind: str) -> bool:
    return kind in ("tinyint", "smallint", "int", "bigint", "float", "double") or kind.startswith("decimal")


def _as_text(name: str, kind: str) -> Any:
    """Values as a person would write them: a whole float without its ``.0``."""
    from pyspark.sql import functions as f

    column = col(name)
    if kind not in ("float", "double"):
        return column.cast("string")
    whole = (column == f.floor(column)) & (f.abs(column) < _WHOLE)
    return f.when(whole, column.cast("long").cast("string")).otherwise(column.cast("string"))


def has_coarse_cells(data: SparkMicrodata, names: Sequence[str], other: DataFrame) -> bool:
    """Whether some cell is an interval, a group or a label that contains values of the other table: equality is not enough."""
    if any(name in data.cells for name in names):  # the labels have a meaning of their own
        return True
    texts = [name for name in names if data.shape.frame.schema[name] == pl.String]
    if not texts:
        return False
    own, _ = dictionaries(data, texts)
    labelled = [name for name in texts if data.attribute(name).hierarchy is not None]
    theirs = dictionaries(SparkMicrodata(other.select(*[col(name) for name in labelled])), labelled)[0] if labelled else {}
    return any(column.wide or is_coarse(column.values, _find_hierarchy(data, theirs.get(name))) for name, column in own.items())


def _find_hierarchy(data: SparkMicrodata, values: Dictionary | None) -> Hierarchy | None:
    """The hierarchy of an attribute over the other table's values, where it covers them."""
    if values is None:
        return None
    policy = data.policy.with_(attributes={values.name: data.attribute(values.name)})
    with contextlib.suppress(DataError):
        return hierarchy_of(Microdata(pl.DataFrame({values.name: values.values}), policy), values.name)
    return None
