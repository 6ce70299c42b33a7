"""Whether a file's table fits into memory, estimated from a sample before it is read."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from discreet.engine.runtime.memory import PROGRAM, VARIABLE, check_memory

_LARGE_FILE_BYTES = 64_000_000
_PLACES, _SAMPLE = 4, 1 << 14
_READING_OVERHEAD = 1.3
"""Memory needed while a table is read, as a multiple of the memory of the table."""


def sample_across(lazy: pl.LazyFrame, records: int) -> pl.DataFrame:
    """A sample of records from several positions of a table."""
    step = max(1, records // _PLACES)
    slices = [lazy.slice(begin, _SAMPLE) for begin in range(0, max(records, 1), step)]
    return pl.concat(pl.collect_all(slices[:_PLACES]))


def check_memory_for_whole_table(lazy: pl.LazyFrame, path: Path) -> None:
    """Raise MemoryLimitError where a large Parquet file's table, read whole, would need more memory than there is."""
    if path.stat().st_size < _LARGE_FILE_BYTES and not os.environ.get(VARIABLE):
        return
    records = int(lazy.select(pl.len()).collect().item())
    sample = sample_across(lazy, records)
    need = PROGRAM + _READING_OVERHEAD * records * sample.estimated_size() / max(sample.height, 1)
    check_memory(need, f"{path}: reading {records:,} records whole", "take a part of the table, or a larger machine")
