"""Whether a file's table fits into memory, reckoned from a sample before it is read."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from discreet.engine.runtime.memory import PROGRAM, VARIABLE, check_room

_LARGE_FILE = 64_000_000
_PLACES, _SAMPLE = 4, 1 << 14
_WHILE_READING = 1.3
"""What a table holds while it is read, as a multiple of what it holds then."""


def spread_sample(lazy: pl.LazyFrame, records: int) -> pl.DataFrame:
    """Records from several places of a table."""
    step = max(1, records // _PLACES)
    places = [lazy.slice(begin, _SAMPLE) for begin in range(0, max(records, 1), step)]
    return pl.concat(pl.collect_all(places[:_PLACES]))


def check_whole(lazy: pl.LazyFrame, path: Path) -> None:
    """Raise RoomError where a large Parquet file's table, read whole, would need more memory than there is."""
    if path.stat().st_size < _LARGE_FILE and not os.environ.get(VARIABLE):
        return
    records = int(lazy.select(pl.len()).collect().item())
    sample = spread_sample(lazy, records)
    need = PROGRAM + _WHILE_READING * records * sample.estimated_size() / max(sample.height, 1)
    check_room(need, f"{path}: reading {records:,} records whole", "take a part of the table, or a larger machine")
