"""Texts with millions of different values, numbered in the order in which they first occur.

Sorting such a column, or joining each part of it with the values of the parts before, takes many times as long as counting it.
Here each text is looked up once in a hash table of bytes, and only the different values are sorted, at the end.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.encoding.text_kernels import BLOCK_ROWS, TextArrays, number_rows, rebuild_slots
from discreet.engine.encoding.text_order import order_texts
from discreet.engine.runtime.worker_threads import WorkerThreads

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEWEST_RECORDS = 1 << 18
_PROBED = 1 << 14
_BLOCK_RECORDS = 1 << 20
_MOST_PARTS = 8
NULL_NUMBER = 0xFFFFFFFF
"""The number of a record without a text."""
BYTES_PER_VALUE, COPIES_OF_TEXTS = 120, 3
"""Memory of a different value, estimated: of its slots, place and code, and copies of its text: as bytes, unsorted and sorted."""


def has_many_texts(series: pl.Series) -> bool:
    """Whether a column is long and of texts that hardly repeat, judged by its first records."""
    if series.dtype != pl.String or len(series) < _FEWEST_RECORDS:
        return False
    probe = series.head(_PROBED).drop_nulls()
    return len(probe) > _PROBED // 2 and probe.n_unique() > len(probe) // 2


class TextNumbers:
    """The different texts of a column, numbered as they first occur, in as many parts by their hash as there are threads."""

    def __init__(self, threads: int) -> None:
        self._secret = np.uint64(int.from_bytes(os.urandom(8), "little"))
        self._parts = [
            TextArrays(
                np.full(1 << 16, -1, dtype=np.int64), np.empty(1 << 20, dtype=np.uint8), np.zeros(1 << 15, dtype=np.int64),
                np.zeros(2, dtype=np.int64),
            )
            for _ in range(min(threads, _MOST_PARTS))
        ]  # fmt: skip

    @property
    def bound(self) -> int:
        """A number that is larger than all numbers of texts."""
        return len(self._parts) * max(int(part.sizes[0]) for part in self._parts)

    def number(self, series: pl.Series) -> NDArray[np.uint32]:
        """The number of each text of a series without nulls."""
        numbers = np.empty(len(series), dtype=np.uint32)
        if not len(series):
            return numbers
        _, offset_buffer, data_buffer = series.to_arrow(compat_level=pl.CompatLevel.oldest()).buffers()
        offsets = np.frombuffer(offset_buffer, dtype=np.int64)[: len(series) + 1]
        data = np.frombuffer(data_buffer, dtype=np.uint8) if data_buffer else np.zeros(0, dtype=np.uint8)

        def number_part(part: int) -> None:
            row = 0
            arguments = (part, len(self._parts), numbers)
            while (row := number_rows(data, offsets, row, *arguments, self._parts[part], self._secret)) < len(numbers):
                self._parts[part] = self._with_more_room(
                    self._parts[part], int(offsets[min(row + BLOCK_ROWS, len(series))] - offsets[row])
                )

        with WorkerThreads(len(self._parts)) as pool:
            list(pool.map(number_part, range(len(self._parts))))
        return numbers

    def _with_more_room(self, texts: TextArrays, length: int) -> TextArrays:
        """The same texts in arrays with room for another block of texts, of this length together."""
        slots, stored, starts, sizes = texts
        size, used = int(sizes[0]), int(starts[sizes[0]])
        if used + length > len(stored):
            stored = _copy_longer(stored, 2 * (used + length))
        if size + BLOCK_ROWS >= len(starts):
            starts = _copy_longer(starts, 2 * len(starts))
        if 2 * (size + BLOCK_ROWS) < len(slots):
            return TextArrays(slots, stored, starts, sizes)
        longer = TextArrays(np.full(4 * len(slots), -1, dtype=np.int64), stored, starts, sizes)
        rebuild_slots(longer, self._secret)
        return longer

    def sorted_values(self) -> tuple[pl.Series, NDArray[np.uint32]]:
        """The different texts in their order, and the number of each."""
        import pyarrow as pa

        parts = [(part.starts[: int(part.sizes[0]) + 1], part.bytes) for part in self._parts]
        before = np.cumsum([0, *(int(starts[-1]) for starts, _ in parts)])
        data = np.concatenate([stored[: int(starts[-1])] for starts, stored in parts])
        begins = [starts[:-1] + shift for (starts, _), shift in zip(parts, before[:-1], strict=True)]
        starts = np.concatenate([*begins, before[-1:]])
        order = order_texts(data, starts)
        array = pa.LargeStringArray.from_buffers(len(starts) - 1, pa.py_buffer(starts), pa.py_buffer(data))
        values: pl.Series = pl.from_arrow(array)  # type: ignore[assignment]
        if order is None:
            values = values.sort()
            return values, self.number(values)
        numbers = [np.arange(len(begin)) * len(parts) + part for part, begin in enumerate(begins)]
        return values.gather(order), np.concatenate(numbers)[order].astype(np.uint32)


class GrowingTexts:
    """A column of texts that grows part by part; ``expected`` is the estimated number of records.

    Invariant: ``_numbers[:_size]`` has the number of each record's text, or ``NULL_NUMBER``.
    """

    def __init__(self, expected: int, threads: int) -> None:
        self._known = TextNumbers(threads)
        self._numbers = np.empty(expected, dtype=np.uint32)
        self._size = 0

    def append(self, part: pl.Series) -> None:
        """Append the next records."""
        if not part.null_count():
            self.append_numbers(self._known.number(part))
            return
        numbers = np.full(len(part), NULL_NUMBER, dtype=np.uint32)
        numbers[part.is_not_null().to_numpy()] = self._known.number(part.drop_nulls())
        self.append_numbers(numbers)

    def append_numbers(self, numbers: NDArray[np.uint32]) -> None:
        end = self._size + len(numbers)
        if end > len(self._numbers):
            self._numbers = _copy_longer(self._numbers, max(end, len(self._numbers) * 5 // 4))
        self._numbers[self._size : end] = numbers
        self._size = end

    def number(self, values: pl.Series) -> NDArray[np.uint32]:
        """The numbers of texts that may be new."""
        return self._known.number(values)

    def finish(self, name: str) -> tuple[NDArray[np.unsignedinteger[Any]], pl.Series, bool]:
        """The codes in the order of the texts, null last, the sorted texts, and whether there are nulls."""
        values, numbers = self._known.sorted_values()
        values = values.alias(name)
        code_of_number = np.empty(self._known.bound + 1, dtype=np.uint32)
        code_of_number[numbers] = np.arange(len(values), dtype=np.uint32)
        code_of_number[-1] = len(values)
        codes, has_null = self._numbers, False
        for begin in range(0, self._size, _BLOCK_RECORDS):
            block = codes[begin : min(begin + _BLOCK_RECORDS, self._size)]
            is_null = block == NULL_NUMBER
            has_null = has_null or bool(is_null.any())
            block[is_null] = len(code_of_number) - 1
            block[:] = code_of_number[block]
        return codes[: self._size], values, has_null


def _copy_longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    """An array of another length with the members of this one."""
    longer = np.empty(length, dtype=array.dtype)
    longer[: min(length, len(array))] = array[:length]
    return longer
