"""The order of a release's rows on Spark: the keyed shuffle of the local engine, and the link back to the originals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.encoding.record_links import LINK_COLUMN, check_link
from discreet.engine.encoding.release_order import release_draw
from discreet.engine.spark.arrow import in_arrow
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.hidden_columns import HIDDEN, RECORD
from discreet.engine.spark.joins import col
from discreet.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from discreet.engine.spark.microdata import SparkMicrodata

KEY = f"{HIDDEN}key"
_POSITION, _ORIGINAL = f"{HIDDEN}position", f"{HIDDEN}original"
_WHOLE = ("byte", "short", "integer", "long")
_SIGN = np.uint64(1 << 63)


def sort_for_release(data: SparkMicrodata, key: bytes | None) -> SparkMicrodata:
    """The rows in the order that a release's key gives them, or by record number without a key."""
    with translate_errors(data.source):
        if key is None:
            return data.replace(data.numbered.orderBy(col(RECORD)))
        return data.replace(add_order_keys(data.numbered, *release_draw(key)).orderBy(col(KEY)).drop(KEY))


def add_order_keys(frame: DataFrame, draw: KeyedDraw, stream: str) -> DataFrame:
    """Rows with the column KEY: different for every record, in the order that ``draw.order`` gives."""
    from pyspark.sql.types import LongType, StructField, StructType

    return in_arrow(frame, _AddOrderKeys(draw, stream), StructType([*frame.schema.fields, StructField(KEY, LongType())]))


def tie_to_originals(masked: SparkMicrodata, original: SparkMicrodata, link: SparkMicrodata) -> SparkMicrodata:
    """A masked table whose record numbers are those of the originals: row i of the link names the original of row i."""
    from pyspark.sql import functions as f

    with translate_errors(link.source):
        kinds = {field.name: field.dataType.typeName() for field in link.frame.schema.fields}
        check_link(link.source, len(link) if kinds.get(LINK_COLUMN) in _WHOLE else None, masked)
        numbers = link.numbered.select(col(RECORD).alias(_POSITION), (col(LINK_COLUMN).cast("long") - 1).alias(_ORIGINAL))
        named, different, least, most = numbers.agg(
            f.count(col(_ORIGINAL)), f.count_distinct(col(_ORIGINAL)), f.min(col(_ORIGINAL)), f.max(col(_ORIGINAL))
        ).collect()[0]
        if named and (least < 0 or (original.record is None and most >= len(original))):
            wrong = least if least < 0 else most
            raise DataError(f"{link.source}: names record {wrong + 1:,}, but {original.source} has {len(original):,}")
        if named != different:
            raise DataError(f"{link.source}: names a record twice")
        frame = masked.numbered.withColumnRenamed(RECORD, _POSITION).join(numbers, _POSITION)
        own = f.coalesce(col(_ORIGINAL), -1 - col(_POSITION))  # a simulated record has no original
        return masked.replace(frame.withColumn(RECORD, own).drop(_POSITION, _ORIGINAL))


@dataclass(frozen=True)
class _AddOrderKeys:
    """The keyed bits as signed numbers, in the order of the unsigned ones."""

    draw: KeyedDraw
    stream: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            keys = self.draw.bits(np.asarray(batch.column(RECORD)), self.stream) ^ _SIGN
            yield batch.append_column(KEY, pa.array(keys.view(np.int64)))
