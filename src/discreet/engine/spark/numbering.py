"""A number a record that stays the same whatever the number of partitions, executors and retries.

* Parquet (a file, a folder, a table made of such files): the row's place in its file, behind the rows of the files whose paths
  sort before it. One file has the numbers that the local engine gives it.
* Other files (CSV, JSON lines, …): the same, counted block by block.
* A column of distinct integers that the caller names (``record``): that.
* Any other frame: the place of the row in the order of partitions. Such a number is as stable as the order of the frame's rows:
  that of a frame made from local data or a sort is, that of a join or an aggregation is not, so name a column for those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.engine.spark.errors import told
from discreet.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FILE, _BLOCK, _ROW = "discreet: file", "discreet: block", "discreet: row"


def number_records(frame: DataFrame, record: str | None, source: str) -> DataFrame:
    """The frame with the column RECORD."""
    from discreet.engine.spark.microdata import RECORD

    with told(source, "its records cannot be numbered"):
        if record is not None:
            return _by_column(frame, record, source).withColumn(RECORD, _cast(record))
        if _has(frame, "row_index"):
            return _by_row_index(frame, RECORD)
        return _by_block(frame, RECORD, files=_has(frame, "file_block_start"))


def _has(frame: DataFrame, name: str) -> bool:
    """Whether the rows still know where in a file they lie."""
    from pyspark.errors import AnalysisException

    try:
        frame.select(f"_metadata.{name}").schema  # noqa: B018 - resolved here on a server too
    except AnalysisException:
        return False
    return True


def _cast(record: str) -> Any:
    from pyspark.sql import functions as f

    return f.col(f"`{record}`").cast("long")


def _by_column(frame: DataFrame, record: str, source: str) -> DataFrame:
    from pyspark.sql import functions as f

    number = _cast(record)
    found = frame.agg(f.count(f.lit(1)), f.count(number), f.count_distinct(number), f.min(number)).collect()[0]
    if found[0] != found[1] or found[0] != found[2] or (found[3] is not None and found[3] < 0):
        raise DataError(f"{source}: the column '{record}' cannot number the records: each needs another integer of 0 or more")
    return frame


def _by_row_index(frame: DataFrame, record: str) -> DataFrame:
    """Place in the file, behind all rows of the files before it."""
    from pyspark.sql import functions as f

    placed = frame.select("*", f.col("_metadata.file_path").alias(_FILE), f.col("_metadata.row_index").alias(_ROW))
    # a file's rows are counted by its largest index, so that a filtered frame keeps its numbers
    files = placed.groupBy(_FILE).agg(f.max(_ROW).alias(_ROW)).collect()
    starts, at = {}, 0
    for file, last in sorted((row[0], row[1]) for row in files):
        starts[file] = at
        at += last + 1
    return placed.withColumn(record, _start(starts, f.col(f"`{_FILE}`")) + f.col(f"`{_ROW}`")).drop(_FILE, _ROW)


def _by_block(frame: DataFrame, record: str, *, files: bool) -> DataFrame:
    """Place in the block of a file (or in the partition), behind all rows of the blocks before it."""
    from pyspark.sql import functions as f

    file, block = (
        (f.col("_metadata.file_path"), f.col("_metadata.file_block_start"))
        if files
        else (f.lit(""), f.spark_partition_id().cast("long"))
    )
    placed = frame.select("*", file.alias(_FILE), block.alias(_BLOCK), f.monotonically_increasing_id().alias(_ROW))
    blocks = placed.groupBy(_FILE, _BLOCK).agg(f.min(_ROW), f.count(f.lit(1))).collect()
    starts, at = {}, 0
    for path, start, first, count in sorted(tuple(row) for row in blocks):
        starts[f"{path}#{start}"] = at - first
        at += count
    key = f.concat(f.col(f"`{_FILE}`"), f.lit("#"), f.col(f"`{_BLOCK}`").cast("string"))
    return placed.withColumn(record, _start(starts, key) + f.col(f"`{_ROW}`")).drop(_FILE, _BLOCK, _ROW)


def _start(starts: dict[str, int], key: Any) -> Any:
    """Where the rows of a file or block begin."""
    from pyspark.sql import functions as f

    if len(set(starts.values())) <= 1:
        return f.lit(next(iter(starts.values()), 0))
    made = f.create_map(*[f.lit(one) for pair in starts.items() for one in pair])
    return made[key]
