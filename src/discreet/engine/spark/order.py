"""The order of a release's rows on Spark: the same keyed shuffle as anywhere, by a sort of the whole table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.engine.order import release_keys
from discreet.engine.spark.agreeing import col
from discreet.engine.spark.arrow import in_arrow
from discreet.engine.spark.failures import told
from discreet.engine.spark.microdata import HIDDEN, RECORD, SparkMicrodata

_KEY = f"{HIDDEN}key"
_SIGN = np.uint64(1 << 63)


def in_release_order(data: SparkMicrodata, seed: int | None) -> SparkMicrodata:
    """The rows sorted by the seed's keys, or by the records' numbers where there is no seed."""
    from pyspark.sql.types import LongType, StructField, StructType

    frame = data.numbered
    with told(data.source):
        if seed is None:
            return data.replace(frame.orderBy(col(RECORD)))
        schema = StructType([*frame.schema.fields, StructField(_KEY, LongType())])
        return data.replace(in_arrow(frame, _Keyed(seed), schema).orderBy(col(_KEY)).drop(_KEY))


@dataclass(frozen=True)
class _Keyed:
    """Rows with their keys, as signed numbers in the order of the unsigned ones."""

    seed: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            keys = release_keys(np.asarray(batch.column(RECORD)), self.seed) ^ _SIGN
            yield batch.append_column(_KEY, pa.array(keys.view(np.int64)))
