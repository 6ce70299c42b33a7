"""Arrow files: Feather (version 2) and IPC, as a file or as a stream."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from discreet.model.policy import Policy

_MAGIC = b"ARROW1"


def scan(path: Path, _policy: Policy) -> Iterator[pl.LazyFrame]:
    """The file as a lazy table; the stream form, which has no magic word, is read whole."""
    with path.open("rb") as file:
        is_file = file.read(len(_MAGIC)) == _MAGIC
    yield pl.scan_ipc(path, glob=False, hive_partitioning=False) if is_file else pl.read_ipc_stream(path).lazy()


def sink(lazy: pl.LazyFrame, path: Path) -> None:
    """Write as an Arrow file with the types that every Arrow library of today reads."""
    lazy.sink_ipc(path, compression="zstd", compat_level=pl.CompatLevel.oldest())


def count(path: Path) -> int:
    """The records in a file."""
    return int(pl.scan_ipc(path, glob=False).select(pl.len()).collect().item())
