"""The order of a release's rows on Spark: the same keyed shuffle as anywhere, by a sort of the whole table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from discreet.engine.order import release_draw
from discreet.engine.random import KeyedDraw
from discreet.engine.spark.agreeing import col
from discreet.engine.spark.arrow import in_arrow
from discreet.engine.spark.failures import told
from discreet.engine.spark.microdata import HIDDEN, RECORD, SparkMicrodata

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KEY = f"{HIDDEN}key"
_SIGN = np.uint64(1 << 63)


def in_release_order(data: SparkMicrodata, seed: int | None) -> SparkMicrodata:
    """The rows sorted by the seed's keys, or by the records' numbers where there is no seed."""
    with told(data.source):
        if seed is None:
            return data.replace(data.numbered.orderBy(col(RECORD)))
        return data.replace(keyed(data.numbered, *release_draw(seed)).orderBy(col(KEY)).drop(KEY))


def keyed(frame: DataFrame, draw: KeyedDraw, stream: str) -> DataFrame:
    """Rows with their keys of a stream: another one for every record, in the order that ``draw.order`` gives."""
    from pyspark.sql.types import LongType, StructField, StructType

    return in_arrow(frame, _Keyed(draw, stream), StructType([*frame.schema.fields, StructField(KEY, LongType())]))


@dataclass(frozen=True)
class _Keyed:
    """Keys as signed numbers in the order of the unsigned ones."""

    draw: KeyedDraw
    stream: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            keys = self.draw.bits(np.asarray(batch.column(RECORD)), self.stream) ^ _SIGN
            yield batch.append_column(KEY, pa.array(keys.view(np.int64)))
