"""Arrow files: Feather (version 2) and IPC, as a file or as a stream.

PyArrow reads them batch by batch and validates each batch, so that a damaged file raises an exception instead of crashing
the process.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from discreet.convert.files.column_names import unique_names
from discreet.model.policy import Policy

if TYPE_CHECKING:
    import pyarrow as pa

_MAGIC = b"ARROW1"


def scan(path: Path, _policy: Policy) -> Iterator[pl.LazyFrame]:
    """Scan the file as a lazy table."""
    from polars.io.plugins import register_io_source

    empty = pl.DataFrame(_schema(path).empty_table())

    def frames(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, _size: int | None
    ) -> Iterator[pl.DataFrame]:
        for batch in _batches(path):
            frame = pl.DataFrame(batch)
            if columns is not None:
                frame = frame.select(columns)
            if rows is not None:
                frame, rows = frame.head(rows), max(0, rows - frame.height)
            yield frame if predicate is None else frame.filter(predicate)

    yield register_io_source(frames, schema=empty.schema)


def _schema(path: Path) -> pa.Schema:
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        reader = pa.ipc.open_file(file) if _is_ipc_file(path) else pa.ipc.open_stream(file)
        return pa.schema(
            [field.with_name(name) for field, name in zip(reader.schema, unique_names(reader.schema.names), strict=True)]
        )


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        if _is_ipc_file(path):
            reader = pa.ipc.open_file(file)
            batches = (reader.get_batch(index) for index in range(reader.num_record_batches))
        else:
            batches = iter(pa.ipc.open_stream(file))
        for batch in batches:
            batch.validate(full=True)
            yield batch.rename_columns(unique_names(batch.schema.names))


def _is_ipc_file(path: Path) -> bool:
    """Whether it is the file format; the stream format does not begin with the magic bytes."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def sink(lazy: pl.LazyFrame, path: Path) -> None:
    """Write an Arrow file with the oldest compatible types, which every Arrow library reads."""
    lazy.sink_ipc(path, compression="zstd", compat_level=pl.CompatLevel.oldest())


def count(path: Path) -> int:
    """Number of records in a file."""
    return int(pl.scan_ipc(path, glob=False).select(pl.len()).collect().item())
