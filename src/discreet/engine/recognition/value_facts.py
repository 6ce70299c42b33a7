"""The plain facts of a column on which every proposal rests: counts, extremes and a sample of its values.

All of it comes from the encoded column (values in their order, a count each), so that the order of the records can
never change a proposal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.encoding.columns import Column, encode
from discreet.engine.recognition.column_names import Naming, naming
from discreet.engine.recognition.name_rules import words
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SAMPLE = 2_000
_YES = words("yes y true t 1 ja j oui si sim kylla k on positive pos present")
_NO = words("no n false f 0 nein nej non nao ei e off negative neg absent none nee")


@dataclass(frozen=True, eq=False)
class Facts:
    """One column's facts."""

    column: Column
    naming: Naming
    records: int

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def dtype(self) -> pl.DataType:
        return self.column.values.dtype

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Records a code, null last."""
        return np.bincount(self.column.codes, minlength=self.column.cardinality).astype(np.int64)

    @cached_property
    def nulls(self) -> int:
        return int(self.counts[-1]) if self.column.has_null else 0

    @property
    def present(self) -> int:
        return self.records - self.nulls

    @property
    def distinct(self) -> int:
        """Distinct values, null not counted."""
        return len(self.column.values)

    @property
    def uniqueness(self) -> float:
        """Distinct values over records that have one."""
        return self.distinct / self.present if self.present else 0.0

    @cached_property
    def top_share(self) -> float:
        """The share of the records that hold the most frequent value."""
        return float(self.counts[: self.distinct].max() / self.records) if self.distinct else 0.0

    @property
    def is_text(self) -> bool:
        return self.dtype == pl.String

    @property
    def is_number(self) -> bool:
        return self.dtype.is_numeric()

    @cached_property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers, stored as integers or as floats."""
        if self.dtype.is_integer():
            return True
        if not self.dtype.is_float() or not self.distinct:
            return False
        numbers = self.numbers
        return bool(np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all())

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The distinct values as numbers."""
        return self.column.values.cast(pl.Float64).to_numpy()

    @cached_property
    def extremes(self) -> tuple[Any, Any]:
        """Least and greatest value of a number or date; not shown for text, where they would be somebody's words."""
        if not self.distinct or not (self.is_number or self.dtype.is_temporal()):
            return None, None
        return self.column.values.min(), self.column.values.max()

    @property
    def span(self) -> float:
        low, high = self.extremes
        return float(high) - float(low) if self.is_number and low is not None else 0.0

    @cached_property
    def sample(self) -> list[str]:
        """Distinct values as text, evenly taken from their order where there are many; whole numbers padded to one length."""
        values = self.column.values
        if self.distinct > _SAMPLE:
            at = np.linspace(0, self.distinct - 1, _SAMPLE).astype(np.int64)
            values = values[at]
        texts = [_text(value) for value in values.to_list()]
        if self.is_whole and texts and not texts[0].startswith("-"):
            longest = max(map(len, texts))
            # a number that began with zeros lost them when it was read as an integer
            if 9 <= longest <= 13 and min(map(len, texts)) >= longest - 2:
                texts = [text.zfill(longest) for text in texts]
        return texts

    @cached_property
    def yes(self) -> tuple[str, float] | None:
        """The 'yes' of a flag as it prints, and its share of the records that have a value."""
        if self.distinct != 2:
            return None
        printed = [_text(value) for value in self.column.values.to_list()]
        plain = [text.strip().lower() for text in printed]
        for at in (0, 1):
            if plain[at] in _YES and plain[1 - at] in _NO:
                return printed[at], float(self.counts[at] / self.present)
        return None


def facts_of(data: Microdata) -> list[Facts]:
    """The facts of every column, in the table's order."""
    return [Facts(column, naming(column.name), len(data)) for column in encode(data, data.columns)]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return str(int(value))
    return str(value)
