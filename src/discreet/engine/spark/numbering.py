"""A number per record that stays the same whatever the number of partitions, executors and retries.

* Parquet (a file, a folder, a table made of such files): the row's position in its file, after the rows of the files whose paths
  sort before it. One file has the numbers that the local engine gives it.
* Other files (CSV, JSON lines, …): the same, counted block by block.
* A column of distinct integers that the caller names (``record``): that.
* Any other frame: the position of the row in the order of partitions. It is as stable as the order of the frame's
  rows: stable for a frame made from local data or a sort, unstable after a join or an aggregation, so name a column for those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.joins import col
from discreet.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FILE, _BLOCK, _ROW = "discreet: file", "discreet: block", "discreet: row"


def number_records(frame: DataFrame, record: str | None, source: str) -> DataFrame:
    """The frame with the column RECORD."""
    with translate_errors(source, "its records cannot be numbered"):
        if record is not None:
            _check_column(frame, record, source)
            return frame.withColumn(RECORD, _as_number(record))
        if _has_metadata(frame, "row_index"):
            return _number_by_row_index(frame)
        return _number_by_block(frame, files=_has_metadata(frame, "file_block_start"))


def _has_metadata(frame: DataFrame, name: str) -> bool:
    """Whether the rows still carry their position in a file."""
    from pyspark.errors import AnalysisException

    try:
        frame.select(f"_metadata.{name}").schema  # noqa: B018 - resolved here on a server too
    except AnalysisException:
        return False
    return True


def _as_number(record: str) -> Any:

    return col(record).cast("long")


def _check_column(frame: DataFrame, record: str, source: str) -> None:
    """Raise DataError where a column is no numbering of the records."""
    from pyspark.sql import functions as f

    number = _as_number(record)
    counts = f.count(f.lit(1)), f.count(number), f.count_distinct(number), f.min(number)
    records, present, distinct, least = frame.agg(*counts).collect()[0]
    if records != present or records != distinct or (least is not None and least < 0):
        raise DataError(f"{source}: the column '{record}' cannot number the records: each needs another integer of 0 or more")


def _number_by_row_index(frame: DataFrame) -> DataFrame:
    """By position in the file, after all rows of the files before it."""
    from pyspark.sql import functions as f

    located = frame.select("*", f.col("_metadata.file_path").alias(_FILE), f.col("_metadata.row_index").alias(_ROW))
    # a file's rows are counted by its largest index, so that a filtered frame keeps its numbers
    files = located.groupBy(_FILE).agg(f.max(_ROW).alias(_ROW)).collect()
    starts, next_number = {}, 0
    for file, last in sorted((row[0], row[1]) for row in files):
        starts[file] = next_number
        next_number += last + 1
    return located.withColumn(RECORD, _start_of(starts, col(_FILE)) + col(_ROW)).drop(_FILE, _ROW)


def _number_by_block(frame: DataFrame, *, files: bool) -> DataFrame:
    """By position in the block of a file (or in the partition), after all rows of the blocks before it."""
    from pyspark.sql import functions as f

    file, block = (
        (f.col("_metadata.file_path"), f.col("_metadata.file_block_start"))
        if files
        else (f.lit(""), f.spark_partition_id().cast("long"))
    )
    located = frame.select("*", file.alias(_FILE), block.alias(_BLOCK), f.monotonically_increasing_id().alias(_ROW))
    blocks = located.groupBy(_FILE, _BLOCK).agg(f.min(_ROW), f.count(f.lit(1))).collect()
    starts, next_number = {}, 0
    for path, start, first, count in sorted(tuple(row) for row in blocks):
        starts[f"{path}#{start}"] = next_number - first
        next_number += count
    key = f.concat(col(_FILE), f.lit("#"), col(_BLOCK).cast("string"))
    return located.withColumn(RECORD, _start_of(starts, key) + col(_ROW)).drop(_FILE, _BLOCK, _ROW)


def _start_of(starts: dict[str, int], key: Any) -> Any:
    """The number of the first row of a file or block."""
    from pyspark.sql import functions as f

    if len(set(starts.values())) <= 1:
        return f.lit(next(iter(starts.values()), 0))
    by_key = f.create_map(*[f.lit(part) for pair in starts.items() for part in pair])
    return by_key[key]
