"""What the cluster holds in memory between two steps of one measure, and no longer.

A frame that stays persisted costs the cluster memory for as long as the session lives, and is dangerous: Spark recognises a later
frame by its plan, and two reads of one path have the same plan. A file that was rewritten would then be answered for by its
predecessor's rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@contextmanager
def persisted(frame: DataFrame) -> Iterator[DataFrame]:
    """The frame, kept in memory by the cluster while the block runs; a frame made from it is worked out anew afterwards."""
    held = frame.persist()
    try:
        yield held
    finally:
        held.unpersist()


def forget_path(spark: SparkSession, place: str) -> None:
    """Have Spark look at a file or folder again, whatever frames of it somebody keeps in this session."""
    spark.catalog.refreshByPath(place)
