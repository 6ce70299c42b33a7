"""The level of measurement: nominal, ordinal with its order, numeric, or date."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from discreet.analysis.orders import order_of
from discreet.engine.recognition.name_rules import words
from discreet.engine.recognition.value_facts import Facts
from discreet.model.attribute import Level

_DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y%m%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
)
_TIME_FORMATS = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.fZ")
_COUNT_WORDS = words("number num count nof anzahl nombre numero hours weeks days months year years age")
_FEW = 20
_MOSTLY = 0.9


@dataclass(frozen=True, slots=True)
class LevelFound:
    """A proposed level: the order of an ordinal one, the format of a date in text, and why."""

    level: Level
    reason: str
    order: tuple[str, ...] | None = None
    date_format: str | None = None


def level_of(facts: Facts) -> LevelFound:
    """The level of a column, from its type, its name and its values."""
    if facts.dtype.is_temporal():
        return LevelFound(Level.DATE, "stored as dates")
    if facts.dtype == pl.Boolean or not facts.distinct:
        return LevelFound(Level.NOMINAL, "true or false" if facts.distinct else "no values")
    return _level_of_numbers(facts) if facts.is_number else _level_of_text(facts)


def _level_of_numbers(facts: Facts) -> LevelFound:
    low, high = (float(end) for end in facts.extremes)
    if facts.is_whole:
        if low >= 18000101 and high <= 21001231 and date_format(facts) == ("%Y%m%d", 1.0):
            return LevelFound(Level.DATE, "whole numbers that are days written YYYYMMDD", date_format="%Y%m%d")
        counted = bool(_COUNT_WORDS & set(facts.naming.words))
        kind = facts.naming.kind
        if facts.distinct == 2 and not counted and low >= 0 and high <= 9:
            return LevelFound(Level.NOMINAL, "two codes")
        if not counted and (facts.naming.is_code or (kind is not None and kind.coded)):
            return LevelFound(Level.NOMINAL, "numbers that are codes, by the name")
        if not counted and kind is None and _has_gaps(facts.numbers, high):
            return LevelFound(Level.NOMINAL, f"{facts.distinct} whole numbers with gaps up to {high:g}, as codes have")
    return LevelFound(Level.NUMERIC, "")


def _has_gaps(values: np.ndarray[tuple[int], np.dtype[np.float64]], high: float) -> bool:
    """Few numbers, most of the range unused, and no common step: codes rather than counts or rounded amounts."""
    if not 3 <= len(values) <= _FEW or values.min() < 1 or high > 9_999:
        return False
    step = np.gcd.reduce(values.astype(np.int64))
    return bool(step == 1 and high - values.min() + 1 >= 3 * len(values))


def _level_of_text(facts: Facts) -> LevelFound:
    found = date_format(facts)
    if found is not None:
        form, share = found
        if share == 1:
            return LevelFound(Level.DATE, f"text that is a date throughout ({form})", date_format=form)
        reason = f"{share:.1%} of its distinct values are dates ({form}); mend or empty the others to have it a date"
        return LevelFound(Level.NOMINAL, reason, date_format=form)
    ordered = order_of(facts.column.values.cast(pl.String).to_list()) if facts.distinct <= 60 else None
    if ordered is not None:
        order, scale = ordered
        return LevelFound(Level.ORDINAL, f"its {len(order)} values lie on a scale ({scale})", order=order)
    coded = facts.naming.is_code or (facts.naming.kind is not None and facts.naming.kind.coded)
    if facts.distinct > 1 and facts.is_text and not coded:
        numbers = facts.column.values.str.replace_all(r"[, ']", "").cast(pl.Float64, strict=False)
        if not numbers.null_count() and not _has_leading_zero(facts):
            return LevelFound(
                Level.NOMINAL, "text that reads as numbers; name its thousands or decimal mark under read: to have it numeric"
            )
    return LevelFound(Level.NOMINAL, "")


def _has_leading_zero(facts: Facts) -> bool:
    return bool(facts.column.values.str.contains(r"^0\d").any())


def date_format(facts: Facts) -> tuple[str, float] | None:
    """The format by which most distinct values are a day between 1800 and 2100, and their share."""
    values = facts.column.values.cast(pl.String)
    if not facts.distinct or int(values.str.len_chars().max()) > 32:  # type: ignore[arg-type]
        return None
    best: tuple[str, float] | None = None
    for form in (*_DATE_FORMATS, *_TIME_FORMATS):
        tried = pl.Series(facts.sample)
        if _days(tried, form) < _MOSTLY * len(tried):
            continue
        share = _days(values, form) / len(values)
        if share >= _MOSTLY and (best is None or share > best[1]):
            best = form, share
    return best


def _days(values: pl.Series, form: str) -> int:
    """How many values are a day by this format."""
    timed = form in _TIME_FORMATS
    days = values.str.to_datetime(form, strict=False).dt.date() if timed else values.str.to_date(form, strict=False)
    return int(days.dt.year().is_between(1800, 2100).sum())
