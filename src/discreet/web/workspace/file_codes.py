"""Columns of a table as codes, for counting the records that agree with one of them.

Comparing a million texts for each record that is opened takes longer than the rest of its page, and comparing codes of one or two
bytes does not. The codes that were used last stay in memory, up to a number of bytes in all.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engine.encoding.columns import Column, encode_series

_MOST_BYTES = 128 << 20


class FileCodes:
    """The encoded columns of files that were used last, by file, time of its last change, and column."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._columns: OrderedDict[tuple[str, int, str], Column] = OrderedDict()
        self._most_bytes = most_bytes
        self._lock = threading.Lock()

    def find_agreeing(self, file: Path, name: str, value: Any) -> NDArray[np.bool_]:
        """Which records of a file have a value (None: none) in a column."""
        column = self._read(file, name)
        if value is None:
            return column.is_null
        places = (column.values == value).fill_null(value=False).arg_true()
        return column.codes == places[0] if len(places) else np.zeros(len(column.codes), dtype=np.bool_)

    @property
    def held_bytes(self) -> int:
        """How many bytes the columns in memory take."""
        return sum(_count_bytes(column) for column in self._columns.values())

    def _read(self, file: Path, name: str) -> Column:
        key = (str(file), file.stat().st_mtime_ns, name)  # raises where the file was purged, whatever is in memory
        with self._lock:
            if (found := self._columns.get(key)) is not None:
                self._columns.move_to_end(key)
                return found
        column = encode_series(pl.read_parquet(file, columns=[name], glob=False, hive_partitioning=False)[name])
        with self._lock:
            self._columns[key] = column
            while self._columns and self.held_bytes > self._most_bytes:
                self._columns.popitem(last=False)
        return column


def _count_bytes(column: Column) -> int:
    return int(column.codes.nbytes + column.values.estimated_size())


FILE_CODES = FileCodes()
"""The encoded columns of this process."""
