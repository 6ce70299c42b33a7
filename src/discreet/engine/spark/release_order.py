"""The order of a release's rows on Spark: the same keyed shuffle as anywhere, and the link that leads back from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.encoding.record_links import LINK, check_link
from discreet.engine.encoding.release_order import release_draw
from discreet.engine.spark.arrow import in_arrow
from discreet.engine.spark.errors import told
from discreet.engine.spark.joins import col
from discreet.engine.spark.microdata import HIDDEN, RECORD, SparkMicrodata
from discreet.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KEY = f"{HIDDEN}key"
_PLACE, _OWN = f"{HIDDEN}place", f"{HIDDEN}own"
_WHOLE = ("byte", "short", "integer", "long")
_SIGN = np.uint64(1 << 63)


def in_release_order(data: SparkMicrodata, key: bytes | None) -> SparkMicrodata:
    """The rows in the order that a release's key gives them, or by the records' numbers where there is no key."""
    with told(data.source):
        if key is None:
            return data.replace(data.numbered.orderBy(col(RECORD)))
        return data.replace(keyed(data.numbered, *release_draw(key)).orderBy(col(KEY)).drop(KEY))


def keyed(frame: DataFrame, draw: KeyedDraw, stream: str) -> DataFrame:
    """Rows with their keys of a stream: another one for every record, in the order that ``draw.order`` gives."""
    from pyspark.sql.types import LongType, StructField, StructType

    return in_arrow(frame, _Keyed(draw, stream), StructType([*frame.schema.fields, StructField(KEY, LongType())]))


def linked(masked: SparkMicrodata, original: SparkMicrodata, link: SparkMicrodata) -> SparkMicrodata:
    """A masked table whose rows are tied to their originals by a link: its row at the same place names each one's."""
    from pyspark.sql import functions as f

    with told(link.source):
        kinds = {field.name: field.dataType.typeName() for field in link.frame.schema.fields}
        check_link(link.source, len(link) if kinds.get(LINK) in _WHOLE else None, masked)
        numbers = link.numbered.select(col(RECORD).alias(_PLACE), (col(LINK).cast("long") - 1).alias(_OWN))
        named, different, least, most = numbers.agg(
            f.count(col(_OWN)), f.count_distinct(col(_OWN)), f.min(col(_OWN)), f.max(col(_OWN))
        ).collect()[0]
        if named and (least < 0 or (original.record is None and most >= len(original))):
            wrong = least if least < 0 else most
            raise DataError(f"{link.source}: names the record {wrong + 1:,}, but {original.source} has {len(original):,}")
        if named != different:
            raise DataError(f"{link.source}: names a record twice")
        frame = masked.numbered.withColumnRenamed(RECORD, _PLACE).join(numbers, _PLACE)
        own = f.coalesce(col(_OWN), -1 - col(_PLACE))  # without a number: no record of the original
        return masked.replace(frame.withColumn(RECORD, own).drop(_PLACE, _OWN))


@dataclass(frozen=True)
class _Keyed:
    """Keys as signed numbers in the order of the unsigned ones."""

    draw: KeyedDraw
    stream: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            keys = self.draw.bits(np.asarray(batch.column(RECORD)), self.stream) ^ _SIGN
            yield batch.append_column(KEY, pa.array(keys.view(np.int64)))
