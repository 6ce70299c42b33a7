"""remove_identifiers on Spark: columns are dropped without moving any row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.engine.spark.batches import Masked
from discreet.engine.spark.hidden_columns import CHANGED

if TYPE_CHECKING:
    from discreet.engine.draws.draw import KeyedDraw
    from discreet.engine.spark.microdata import SparkMicrodata


def remove_identifiers(_: Any, data: SparkMicrodata, columns: tuple[str, ...], _draw: KeyedDraw) -> Masked:
    """The table without these columns; each of their values counts as changed."""
    from pyspark.sql import functions as f

    frame = data.numbered.drop(*columns).withColumn(CHANGED, f.lit(len(columns)))
    return Masked(data.replace(frame))
