"""What a column of text is: truth values, whole numbers, numbers, dates, or text.

The whole column decides, never its first rows. Leading zeros and plus signs ('01234', '+49…') make it text, for they
would be lost in a number; so do whole numbers beyond 64 bits. Thousands marks stand between groups of three digits.
Dates and times are ISO 8601; '03/04/2020' stays text, for nobody can know which is the month.
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
_WORDS = r"(?:[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_MOMENT = _DAY + r"[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6}0{0,3})?"


@dataclass(frozen=True)
class Kind:
    """One reading of text: the pattern that every value matches, the type, and how to get there."""

    name: str
    dtype: Any
    pattern: str = ""
    parse: Callable[[pl.Expr], pl.Expr] = field(default=lambda text: text, compare=False)
    marks: str = ""
    """The decimal and the thousands mark that it takes the text to use, where that matters."""

    def fits(self, text: pl.Series) -> bool:
        """Whether every one of these values (trimmed, none empty) is of this kind."""
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

    def read(self, name: str) -> pl.Expr:
        """The column as this kind; an empty value is missing in all kinds but text."""
        if not self.pattern or self.dtype == pl.String:
            return pl.col(name)
        trimmed = pl.col(name).str.strip_chars(BLANKS)
        return self.parse(pl.when(trimmed != "").then(trimmed)).alias(name)


TEXT = Kind("text", pl.String)
BOOLEAN = Kind(
    "boolean", pl.Boolean, "true|false|True|False|TRUE|FALSE", lambda text: text.str.to_lowercase().replace_strict(
        ["true", "false"], [True, False], default=None, return_dtype=pl.Boolean
    ),
)  # fmt: skip
INTEGER = Kind("integer", pl.Int64, f"-?{_WHOLE}", lambda text: text.cast(pl.Int64))
LONG = Kind("long integer", pl.String, f"-?{_WHOLE}")
DATE = Kind("date", pl.Date, _DAY, lambda text: text.str.to_date("%Y-%m-%d"))
DATETIME = Kind(
    "datetime", pl.Datetime("us"), _MOMENT,
    lambda text: text.str.replace(" ", "T", literal=True).str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit="us"),
)  # fmt: skip
ZONED = Kind(
    "datetime with zone", pl.Datetime("us", "UTC"), _MOMENT + r"(?:Z|[+-][0-9]{2}:?[0-9]{2})",
    lambda text: text.str.replace(" ", "T", literal=True)
    .str.replace(r"Z$", "+00:00")
    .str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%z", time_unit="us", time_zone="UTC"),
)  # fmt: skip
TEMPORAL = (DATE, DATETIME, ZONED)


def numbers(decimal: str, thousands: str) -> tuple[Kind, Kind, Kind]:
    """Numbers with these marks: plain, and whole or broken ones with groups of three digits."""
    mark, group = re.escape(decimal), re.escape(thousands)
    grouped = rf"[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+"
    fraction = rf"(?:{mark}[0-9]*)?"
    simple = rf"(?:{_WHOLE}{fraction}|{mark}[0-9]+){_EXPONENT}|{_WORDS}"

    def clean(text: pl.Expr) -> pl.Expr:
        return text.str.replace_all(thousands, "", literal=True).str.replace(decimal, ".", literal=True)

    def pointed(text: pl.Expr) -> pl.Expr:
        return (text if decimal == "." else text.str.replace(decimal, ".", literal=True)).cast(pl.Float64)

    return (
        Kind("number", pl.Float64, f"-?(?:{simple})", pointed, decimal),
        Kind("grouped integer", pl.Int64, f"-?(?:{_WHOLE}|{grouped})", lambda text: clean(text).cast(pl.Int64), decimal),
        Kind(
            "grouped number",
            pl.Float64,
            f"-?(?:{grouped}{fraction}|{simple})",
            lambda text: clean(text).cast(pl.Float64),
            decimal,
        ),
    )


@dataclass
class Candidates:
    """The kinds that each column may still be, narrowed batch by batch."""

    kinds: dict[str, list[Kind]]
    seen: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, names: Iterable[str], conventions: Sequence[tuple[str, str]] = ()) -> Candidates:
        """All kinds for each column; with no conventions (of decimal and thousands mark) only dates and times."""
        simple = [BOOLEAN, INTEGER, LONG] if conventions else []
        numeric = [kind for marks in conventions for kind in numbers(*marks)]
        return cls({name: [*simple, *numeric, *TEMPORAL, TEXT] for name in names})

    def narrow(self, frame: pl.DataFrame) -> None:
        """Drop the kinds that do not fit these rows."""
        open_names = [name for name in frame.columns if len(self.kinds[name]) > 1]
        trimmed = frame.select(pl.col(open_names).str.strip_chars(BLANKS).replace("", None))
        for name in open_names:
            kinds = self.kinds[name]
            text = trimmed[name].drop_nulls()
            if len(text):
                self.seen.add(name)
                self.kinds[name] = _fitting(kinds, text)

    def first(self, name: str) -> Kind:
        """The narrowest kind left; a column without any value is text."""
        return self.kinds[name][0] if name in self.seen else TEXT


def _fitting(kinds: list[Kind], text: pl.Series) -> list[Kind]:
    """The kinds that fit; where whole numbers do, so do all kinds of numbers, and nothing else but text."""
    if INTEGER in kinds and INTEGER.fits(text):
        return [kind for kind in kinds if kind in (INTEGER, LONG, TEXT) or kind.marks]
    return [kind for kind in kinds if kind != INTEGER and kind.fits(text)]
