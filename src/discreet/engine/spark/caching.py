"""Frames that the cluster caches between two steps of a measure, and no longer.

A frame that stays persisted costs the cluster memory for as long as the session lives, and is dangerous: Spark recognises a later
frame by its plan, and two reads of one path have the same plan. For a file that was rewritten, Spark would then
return the rows of its predecessor.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@contextmanager
def persisted(frame: DataFrame) -> Iterator[DataFrame]:
    """The frame, cached by the cluster while the block runs; a frame derived from it is recomputed afterwards."""
    cached = frame.persist()
    try:
        yield cached
    finally:
        cached.unpersist()


def forget_path(spark: SparkSession, place: str) -> None:
    """Make Spark read a file or folder again, whatever frames of it are cached in this session."""
    spark.catalog.refreshByPath(place)
