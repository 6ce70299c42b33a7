"""Codes of a column that comes in parts: the parts are encoded as they come, and no more is kept of them than their codes.

Each part's values get numbers in the order in which they are first seen; when all parts are in, the numbers are exchanged for
codes in the order of the values. The outcome is that of :func:`discreet.engine.encoding.columns.encode_series` on the
whole column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.encoding.columns import Column, encode_series, in_order, width_for
from discreet.model.attribute import Attribute

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 20


class GrowingColumn:
    """One column on its way in; ``expected`` is how many records there may be, for want of a better number."""

    def __init__(self, name: str, expected: int) -> None:
        self.name = name
        self._numbers: NDArray[Any] = np.empty(expected, dtype=np.uint8)
        self._size = 0
        self._known: pl.DataFrame | None = None  # values, and the number of each
        self._next = 0
        self._null: int | None = None
        self._last: tuple[pl.Series, NDArray[np.int64]] | None = None
        self._first: Column | None = None

    def append(self, part: pl.Series) -> None:
        """Take in the next records."""
        made = encode_series(part)
        if self._known is None and self._first is None:
            self._first = made  # the whole column, where nothing comes behind it
            return
        if self._first is not None:
            self._take(self._first)
            self._first = None
        self._take(made)

    def _take(self, made: Column) -> None:
        table = self._numbers_of(made.values)
        if made.has_null:
            if self._null is None:
                self._null, self._next = self._next, self._next + 1
            table = np.append(table, self._null)
        wide = width_for(max(self._next - 1, 0))
        if np.dtype(wide).itemsize > self._numbers.itemsize:
            self._numbers = _widened(self._numbers, self._size, wide)
        end = self._size + len(made.codes)
        if end > len(self._numbers):
            self._numbers.resize(max(end, len(self._numbers) * 5 // 4), refcheck=False)
        self._numbers[self._size : end] = table.astype(self._numbers.dtype)[made.codes]
        self._size = end

    def _numbers_of(self, values: pl.Series) -> NDArray[np.int64]:
        """The numbers of some values, new ones for those not seen before."""
        if self._last is not None and self._last[0].equals(values):
            return self._last[1]
        known = self._known
        if known is None:
            numbers = np.full(len(values), -1)
        else:
            found = values.alias("value").to_frame().join(known, on="value", how="left", maintain_order="left")["number"]
            numbers = found.fill_null(-1).to_numpy().copy()
        new = np.flatnonzero(numbers < 0)
        if len(new) or known is None:
            numbers[new] = np.arange(self._next, self._next + len(new))
            added = pl.DataFrame({"value": values.gather(pl.Series(new)), "number": numbers[new]})
            self._known = added if known is None else pl.concat([known, added])
            self._next += len(new)
        self._last = (values, numbers)
        return numbers

    def finish(self, attribute: Attribute | None = None, labelled: bool = False) -> Column:
        """The column with codes in the order of its values."""
        if self._first is not None:
            return self._first if attribute is None or attribute.order is None else in_order(self._first, attribute, labelled)
        known = self._known
        assert known is not None, "a column without parts"
        known = known.sort("value")
        values, numbers = known["value"].alias(self.name), known["number"].to_numpy()
        has_null = self._null is not None
        ranks = np.arange(len(values) + has_null)
        if attribute is not None and attribute.order is not None:
            ordered = in_order(Column(self.name, ranks, values, has_null), attribute, labelled)
            ranks, values = ordered.codes, ordered.values
        table = np.zeros(self._next, dtype=width_for(len(values)))
        table[numbers] = ranks[: len(values)]
        if self._null is not None:
            table[self._null] = len(values)
        codes: NDArray[Any] = self._numbers
        if codes.dtype != table.dtype:
            codes = np.empty(self._size, dtype=table.dtype)
        for begin in range(0, self._size, _BLOCK):
            part = slice(begin, min(begin + _BLOCK, self._size))
            codes[part] = table[self._numbers[part]]
        if codes is self._numbers:
            codes.resize(self._size, refcheck=False)
        self._numbers = codes[:0]
        return Column(self.name, codes, values, has_null)


def _widened(numbers: NDArray[Any], size: int, wide: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """The same numbers, each in more bytes."""
    made = np.empty(len(numbers), dtype=wide)
    made[:size] = numbers[:size]
    return made
