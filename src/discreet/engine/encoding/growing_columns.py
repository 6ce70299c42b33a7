"""Incremental encoding of a column that is read in chunks; of each chunk only its codes are retained.

Distinct values are numbered in the order in which they are first seen. After the last chunk the numbers are replaced by codes in
the order of the values. Many different texts are numbered by a hash table of their own, because a join of each chunk with all
values before takes longer with every chunk. The result equals :func:`discreet.engine.encoding.columns.encode_series` on the whole
column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.encoding.columns import Column, code_type, column_of_texts, encode_series, reorder_codes, thread_count
from discreet.engine.encoding.text_numbers import NULL_NUMBER, GrowingTexts, has_many_texts
from discreet.model.attribute import Attribute

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK_RECORDS = 1 << 20
MANY_VALUES = 1 << 18
"""Different texts from which on they are numbered by a hash table of their own."""


class GrowingColumn:
    """A column that grows chunk by chunk; ``expected`` is the estimated number of records.

    Invariant: ``_numbers[:_size]`` has the number of each record's value so far; ``_known`` maps each distinct value to its
    number, and ``_null`` is the number of the missing value if one has been seen.
    """

    def __init__(self, name: str, expected: int) -> None:
        self.name = name
        self._numbers: NDArray[Any] = np.empty(expected, dtype=np.uint8)
        self._size = 0
        self._known: pl.DataFrame | None = None  # columns: value, number
        self._next = 0
        self._null: int | None = None
        self._last: tuple[pl.Series, NDArray[np.int64]] | None = None
        self._first: Column | None = None
        self._texts: GrowingTexts | None = None

    def append(self, part: pl.Series) -> None:
        """Append the next records."""
        if self._texts is None and (has_many_texts(part) or self._has_many_known_texts()):
            self._texts = self._collect_texts()
        if self._texts is not None:
            self._texts.append(part)
            return
        encoded = encode_series(part)
        if self._known is None and self._first is None:
            self._first = encoded  # if no other chunk follows, this is the result
            return
        if self._first is not None:
            self._append_encoded(self._first)
            self._first = None
        self._append_encoded(encoded)

    def append_encoded(self, part: Column) -> None:
        """Append the next records, which are codes already; the values may be in any order."""
        if self._texts is None and self._has_many_known_texts():
            self._texts = self._collect_texts()
        if self._texts is None:
            self._append_encoded(part)
            return
        numbers = self._texts.number(part.values)
        if part.has_null:
            numbers = np.append(numbers, np.uint32(NULL_NUMBER))
        self._texts.append_numbers(numbers[part.codes])

    def _has_many_known_texts(self) -> bool:
        return self._known is not None and self._known["value"].dtype == pl.String and len(self._known) > MANY_VALUES

    def _collect_texts(self) -> GrowingTexts:
        """The records so far as numbers of texts."""
        texts = GrowingTexts(max(len(self._numbers), self._size), thread_count())
        if self._first is not None:
            column, self._first = self._first, None
            self._append_encoded(column)
        if self._known is None:
            return texts
        new_number = np.full(self._next, NULL_NUMBER, dtype=np.uint32)
        new_number[self._known["number"].to_numpy()] = texts.number(self._known["value"])
        texts.append_numbers(new_number[self._numbers[: self._size]])
        self._known, self._last, self._numbers = None, None, self._numbers[:0]
        return texts

    def _append_encoded(self, encoded: Column) -> None:
        number_of_code = self._numbers_of(encoded.values)
        if encoded.has_null:
            if self._null is None:
                self._null, self._next = self._next, self._next + 1
            number_of_code = np.append(number_of_code, self._null)
        wide = code_type(max(self._next - 1, 0))
        if np.dtype(wide).itemsize > self._numbers.itemsize:
            self._numbers = _widen(self._numbers, self._size, wide)
        end = self._size + len(encoded.codes)
        if end > len(self._numbers):
            self._numbers.resize(max(end, len(self._numbers) * 5 // 4), refcheck=False)
        self._numbers[self._size : end] = number_of_code.astype(self._numbers.dtype)[encoded.codes]
        self._size = end

    def _numbers_of(self, values: pl.Series) -> NDArray[np.int64]:
        """The number of each value; values that have not been seen before get new numbers."""
        if self._last is not None and self._last[0].equals(values):
            return self._last[1]
        known = self._known
        if known is None:
            numbers = np.full(len(values), -1)
        else:
            joined = values.alias("value").to_frame().join(known, on="value", how="left", maintain_order="left")["number"]
            numbers = joined.fill_null(-1).to_numpy().copy()
        new = np.flatnonzero(numbers < 0)
        if len(new) or known is None:
            numbers[new] = np.arange(self._next, self._next + len(new))
            added = pl.DataFrame({"value": values.gather(pl.Series(new)), "number": numbers[new]})
            self._known = added if known is None else pl.concat([known, added])
            self._next += len(new)
        self._last = (values, numbers)
        return numbers

    def finish(self, attribute: Attribute | None = None, labelled: bool = False) -> Column:
        """The complete column, with codes in the order of its values."""
        if self._texts is not None:
            column = column_of_texts(self.name, self._texts)
            return column if attribute is None or attribute.order is None else reorder_codes(column, attribute, labelled)
        if self._first is not None:
            return (
                self._first if attribute is None or attribute.order is None else reorder_codes(self._first, attribute, labelled)
            )
        known = self._known
        assert known is not None, "a column without chunks"
        known = known.sort("value")
        values, numbers = known["value"].alias(self.name), known["number"].to_numpy()
        has_null = self._null is not None
        ranks = np.arange(len(values) + has_null)
        if attribute is not None and attribute.order is not None:
            ordered = reorder_codes(Column(self.name, ranks, values, has_null), attribute, labelled)
            ranks, values = ordered.codes, ordered.values
        code_of_number = np.zeros(self._next, dtype=code_type(len(values)))
        code_of_number[numbers] = ranks[: len(values)]
        if self._null is not None:
            code_of_number[self._null] = len(values)
        codes: NDArray[Any] = self._numbers
        if codes.dtype != code_of_number.dtype:
            codes = np.empty(self._size, dtype=code_of_number.dtype)
        for begin in range(0, self._size, _BLOCK_RECORDS):
            block = slice(begin, min(begin + _BLOCK_RECORDS, self._size))
            codes[block] = code_of_number[self._numbers[block]]
        if codes is self._numbers:
            codes.resize(self._size, refcheck=False)
        self._numbers = codes[:0]
        return Column(self.name, codes, values, has_null)


def _widen(numbers: NDArray[Any], size: int, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """Copy the first ``size`` numbers to an array of a wider type."""
    widened = np.empty(len(numbers), dtype=dtype)
    widened[:size] = numbers[:size]
    return widened
