"""Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from discreet.model.policy import Policy


def scan(path: Path, _policy: Policy) -> Iterator[pl.LazyFrame]:
    """Scan the file as a lazy table."""
    yield pl.scan_parquet(path, glob=False, hive_partitioning=False)


def sink(lazy: pl.LazyFrame, path: Path, rows_per_group: int | None = None) -> None:
    """Write as Parquet (zstd)."""
    lazy.sink_parquet(path, row_group_size=rows_per_group)


def count(path: Path) -> int:
    """Number of records in a file."""
    return int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())
