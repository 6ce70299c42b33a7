"""Type inference for columns of text: booleans, integers, numbers, dates and times, or text.

All values of a column decide, never its first rows only. Leading zeros and plus signs ('01234', '+49…') make a column text,
because a number would lose them; so do integers beyond 64 bits. Thousands separators stand between groups of three digits.
Dates and times are ISO 8601; '03/04/2020' stays text, because it is ambiguous which number is the month.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

BLANKS = " \t"
_WHOLE = r"(?:0|[1-9][0-9]*)"
_EXPONENT = r"(?:[eE][+-]?[0-9]+)?"
_NON_FINITE = r"(?:[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIMESTAMP = _DAY + r"[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6}0{0,3})?"


@dataclass(frozen=True)
class ValueType:
    """A type that text can be parsed as: the pattern that every value must match, the data type, and the parser."""

    name: str
    dtype: Any
    pattern: str = ""
    parse: Callable[[pl.Expr], pl.Expr] = field(default=lambda text: text, compare=False)
    decimal_mark: str = ""
    """The decimal mark that the parser expects; empty for types that are not numbers with marks."""

    def fits(self, text: pl.Series) -> bool:
        """Whether all of these values (trimmed, none empty) can be parsed as this type."""
        if not self.pattern or not len(text):
            return True
        if re.fullmatch(self.pattern, text[0]) is None or not text.str.contains(f"^(?:{self.pattern})$").all():
            return False
        if self.dtype == pl.String or self.dtype in (pl.Boolean, pl.Float64):
            return True
        try:
            return text.to_frame("x").select(self.parse(pl.col("x"))).to_series().null_count() == 0
        except pl.exceptions.PolarsError:
            return False

    def parse_column(self, name: str) -> pl.Expr:
        """The column parsed as this type; an empty value is missing in all types except text."""
        if not self.pattern or self.dtype == pl.String:
            return pl.col(name)
        trimmed = pl.col(name).str.strip_chars(BLANKS)
        return self.parse(pl.when(trimmed != "").then(trimmed)).alias(name)


TEXT = ValueType("text", pl.String)
BOOLEAN = ValueType(
    "boolean", pl.Boolean, "true|false|True|False|TRUE|FALSE", lambda text: text.str.to_lowercase().replace_strict(
        ["true", "false"], [True, False], default=None, return_dtype=pl.Boolean
    ),
)  # fmt: skip
INTEGER = ValueType("integer", pl.Int64, f"-?{_WHOLE}", lambda text: text.cast(pl.Int64))
LONG_INTEGER = ValueType("long integer", pl.String, f"-?{_WHOLE}")
DATE = ValueType("date", pl.Date, _DAY, lambda text: text.str.to_date("%Y-%m-%d"))
DATETIME = ValueType(
    "datetime", pl.Datetime("us"), _TIMESTAMP,
    lambda text: text.str.replace(" ", "T", literal=True).str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit="us"),
)  # fmt: skip
ZONED = ValueType(
    "datetime with zone", pl.Datetime("us", "UTC"), _TIMESTAMP + r"(?:Z|[+-][0-9]{2}:?[0-9]{2})",
    lambda text: text.str.replace(" ", "T", literal=True)
    .str.replace(r"Z$", "+00:00")
    .str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%z", time_unit="us", time_zone="UTC"),
)  # fmt: skip
TEMPORAL = (DATE, DATETIME, ZONED)


def number_types(decimal: str, thousands: str) -> tuple[ValueType, ValueType, ValueType]:
    """Types of numbers with this decimal mark and thousands separator: plain, grouped integer, grouped number."""
    decimal_pattern, thousands_pattern = re.escape(decimal), re.escape(thousands)
    grouped = rf"[1-9][0-9]{{0,2}}(?:{thousands_pattern}[0-9]{{3}})+"
    fraction = rf"(?:{decimal_pattern}[0-9]*)?"
    simple = rf"(?:{_WHOLE}{fraction}|{decimal_pattern}[0-9]+){_EXPONENT}|{_NON_FINITE}"

    def without_thousands(text: pl.Expr) -> pl.Expr:
        return text.str.replace_all(thousands, "", literal=True).str.replace(decimal, ".", literal=True)

    def parse_plain(text: pl.Expr) -> pl.Expr:
        return (text if decimal == "." else text.str.replace(decimal, ".", literal=True)).cast(pl.Float64)

    return (
        ValueType("number", pl.Float64, f"-?(?:{simple})", parse_plain, decimal),
        ValueType(
            "grouped integer", pl.Int64, f"-?(?:{_WHOLE}|{grouped})", lambda text: without_thousands(text).cast(pl.Int64), decimal
        ),
        ValueType(
            "grouped number",
            pl.Float64,
            f"-?(?:{grouped}{fraction}|{simple})",
            lambda text: without_thousands(text).cast(pl.Float64),
            decimal,
        ),
    )


@dataclass
class Candidates:
    """The types that are still possible for each column, narrowed batch by batch, the narrowest first."""

    types: dict[str, list[ValueType]]
    with_values: set[str] = field(default_factory=set)
    """Columns in which some value has been seen."""

    @classmethod
    def of(cls, names: Iterable[str], conventions: Sequence[tuple[str, str]] = ()) -> Candidates:
        """All types for each column; without conventions (decimal mark, thousands separator) only dates, times and text."""
        simple = [BOOLEAN, INTEGER, LONG_INTEGER] if conventions else []
        numeric = [value_type for marks in conventions for value_type in number_types(*marks)]
        return cls({name: [*simple, *numeric, *TEMPORAL, TEXT] for name in names})

    def narrow(self, frame: pl.DataFrame) -> None:
        """Remove the types that do not fit these rows."""
        open_names = [name for name in frame.columns if len(self.types[name]) > 1]
        trimmed = frame.select(pl.col(open_names).str.strip_chars(BLANKS).replace("", None))
        for name in open_names:
            types = self.types[name]
            text = trimmed[name].drop_nulls()
            if len(text):
                self.with_values.add(name)
                self.types[name] = _types_that_fit(types, text)

    def narrowest(self, name: str) -> ValueType:
        """The narrowest type that is still possible; a column without any value is text."""
        return self.types[name][0] if name in self.with_values else TEXT


def _types_that_fit(types: list[ValueType], text: pl.Series) -> list[ValueType]:
    """The types that fit; if integers fit, all types of numbers do, and besides them only text."""
    if INTEGER in types and INTEGER.fits(text):
        return [value_type for value_type in types if value_type in (INTEGER, LONG_INTEGER, TEXT) or value_type.decimal_mark]
    return [value_type for value_type in types if value_type != INTEGER and value_type.fits(text)]
