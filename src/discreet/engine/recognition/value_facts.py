"""Basic statistics of a column on which every proposed role is based: counts, extremes and a sample of its values.

All of them are computed from the encoded column (sorted values and their counts), so that a proposal does not depend on the order
of the records.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.encoding.columns import Column, encode
from discreet.engine.recognition.column_names import Naming, look_up_label
from discreet.engine.recognition.name_rules import word_set
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SAMPLE = 2_000
_YES = word_set("yes y true t 1 ja j oui si sim kylla k on positive pos present")
_NO = word_set("no n false f 0 nein nej non nao ei e off negative neg absent none nee")


@dataclass(frozen=True, eq=False)
class Facts:
    """The basic statistics of one column."""

    column: Column
    naming: Naming
    records: int
    label: str = ""
    """The variable label of a statistical package, empty where there is none."""
    value_labels: Mapping[Any, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def dtype(self) -> pl.DataType:
        return self.column.values.dtype

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Number of records per code, null last."""
        return np.bincount(self.column.codes, minlength=self.column.cardinality).astype(np.int64)

    @cached_property
    def nulls(self) -> int:
        return int(self.counts[-1]) if self.column.has_null else 0

    @property
    def present(self) -> int:
        return self.records - self.nulls

    @property
    def distinct(self) -> int:
        """Number of distinct values, not counting null."""
        return len(self.column.values)

    @property
    def uniqueness(self) -> float:
        """Distinct values divided by the records that have a value."""
        return self.distinct / self.present if self.present else 0.0

    @cached_property
    def top_share(self) -> float:
        """The share of the records with the most frequent value."""
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
        """Smallest and largest value of a number or date; None for text, which would disclose somebody's words."""
        if not self.distinct or not (self.is_number or self.dtype.is_temporal()):
            return None, None
        return self.column.values.min(), self.column.values.max()

    @property
    def span(self) -> float:
        low, high = self.extremes
        return float(high) - float(low) if self.is_number and low is not None else 0.0

    @cached_property
    def sample(self) -> list[str]:
        """Distinct values as text, an evenly spaced sample where there are many; whole numbers padded to equal length."""
        values = self.column.values
        if self.distinct > _SAMPLE:
            positions = np.linspace(0, self.distinct - 1, _SAMPLE).astype(np.int64)
            values = values[positions]
        texts = [_value_text(value) for value in values.to_list()]
        if self.is_whole and texts and not texts[0].startswith("-"):
            longest = max(map(len, texts))
            # leading zeros were lost when the number was read as an integer
            if 9 <= longest <= 13 and min(map(len, texts)) >= longest - 2:
                texts = [text.zfill(longest) for text in texts]
        return texts

    @cached_property
    def words(self) -> tuple[list[str], NDArray[np.int64]]:
        """The distinct values as a reader sees them (value labels for codes, else text), a sample of many, with their counts."""
        counts = self.counts[: self.distinct]
        if self.value_labels:
            pairs = [
                (self.value_labels.get(value), count) for value, count in zip(self.column.values.to_list(), counts, strict=True)
            ]
            labelled = [(text, count) for text, count in pairs if text is not None]
            return [text for text, _ in labelled], np.array([count for _, count in labelled], dtype=np.int64)
        if not self.is_text:
            return [], np.zeros(0, dtype=np.int64)
        if self.distinct > _SAMPLE:
            positions = np.linspace(0, self.distinct - 1, _SAMPLE).astype(np.int64)
            return self.column.values[positions].to_list(), counts[positions]
        return self.column.values.to_list(), counts

    @cached_property
    def is_labelled(self) -> bool:
        """Whether value labels explain nearly all values, so that the numbers are codes."""
        return bool(self.distinct) and int(self.words[1].sum()) >= 0.8 * self.present and bool(self.value_labels)

    @cached_property
    def yes(self) -> tuple[str, float] | None:
        """The text of 'yes' in a flag, and its share of the records that have a value."""
        if self.distinct != 2:
            return None
        printed = [_value_text(value) for value in self.column.values.to_list()]
        plain = [text.strip().lower() for text in printed]
        for index in (0, 1):
            if plain[index] in _YES and plain[1 - index] in _NO:
                return printed[index], float(self.counts[index] / self.present)
        return None


def facts_of(data: Microdata) -> list[Facts]:
    """The basic statistics of every column, in the table's order."""
    return [
        Facts(
            column,
            look_up_label(column.name, data.variable_labels.get(column.name, "")),
            len(data),
            data.variable_labels.get(column.name, ""),
            data.labels.get(column.name, {}),
        )
        for column in encode(data, data.columns)
    ]


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return str(int(value))
    return str(value)
