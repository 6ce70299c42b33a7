"""The level of measurement: nominal, ordinal with its order, numeric, or date."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from discreet.analysis.orders import detect_order
from discreet.engine.recognition.name_rules import word_set
from discreet.engine.recognition.value_facts import Facts
from discreet.model.attribute import Level, Role

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
_OTHER_ORDER = {"%d/%m/%Y": "%m/%d/%Y", "%m/%d/%Y": "%d/%m/%Y", "%d-%m-%Y": "%m-%d-%Y"}
_COUNT_WORDS = word_set("number num count nof anzahl nombre numero hours weeks days months year years yrs age visits times")
_MOST_CODES = 20
_MOST_CODES_OF_A_KIND = 100
_MOST_CONSECUTIVE = 9
_LEAST_YEARS, _MOST_YEARS_OF_SCHOOL = 8, 25
_LEAST_DATE_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class ProposedLevel:
    """A proposed level of measurement, with the reason; the order of an ordinal one, and the format of dates in text."""

    level: Level
    reason: str
    order: tuple[str, ...] | None = None
    date_format: str | None = None
    scale: str = ""
    """The name of the scale that the values are words of."""


def propose_level(facts: Facts) -> ProposedLevel:
    """The level of measurement of a column, from its type, its name and its values."""
    if facts.dtype.is_temporal():
        return ProposedLevel(Level.DATE, "stored as dates")
    if facts.dtype == pl.Boolean or not facts.distinct:
        return ProposedLevel(Level.NOMINAL, "true or false" if facts.distinct else "no values")
    return _level_of_numbers(facts) if facts.is_number else _level_of_text(facts)


def _level_of_numbers(facts: Facts) -> ProposedLevel:
    low, high = (float(end) for end in facts.extremes)
    if facts.is_labelled:
        return _level_of_labelled_codes(facts)
    if facts.is_whole:
        if low >= 18000101 and high <= 21001231 and detect_date_format(facts) == ("%Y%m%d", 1.0):
            return ProposedLevel(Level.DATE, "whole numbers that are dates, written YYYYMMDD", date_format="%Y%m%d")
        counted = bool(_COUNT_WORDS & set(facts.naming.words))
        kind = facts.naming.kind
        if facts.distinct == 2 and not counted and low >= 0 and high <= 9:
            return ProposedLevel(Level.NOMINAL, "two codes")
        if facts.distinct == 3 and (low, high) == (-1, 1):
            return ProposedLevel(Level.NOMINAL, "the codes -1, 0 and 1")
        if kind is not None and kind.name == "school" and facts.distinct >= _LEAST_YEARS and high <= _MOST_YEARS_OF_SCHOOL:
            return ProposedLevel(Level.NUMERIC, "whole numbers as of years of schooling")
        measured = kind is not None and kind.role is Role.CONFIDENTIAL and _is_measured(facts, kind.name, low, high)
        if not counted and not measured and (facts.naming.is_code or (kind is not None and kind.coded)):
            return ProposedLevel(Level.NOMINAL, "numeric codes (from the column name)")
        if not counted and kind is None and _has_gaps(facts.numbers, high):
            return ProposedLevel(Level.NOMINAL, f"{facts.distinct} whole numbers up to {high:g} with gaps, probably codes")
        if not counted and kind is None and _rises_and_falls_often(facts, low, high):
            return ProposedLevel(
                Level.NOMINAL, f"{facts.distinct} codes whose frequencies rise and fall as those of no quantity do"
            )
    return ProposedLevel(Level.NUMERIC, "")


def _is_measured(facts: Facts, kind: str, low: float, high: float) -> bool:
    """Whether whole numbers of a confidential kind are amounts: many values of several orders of magnitude.

    Codes of diseases are the exception: they begin at 1 and end in the hundreds.
    """
    if kind in ("disease", "genetic"):
        return False
    return facts.distinct > _MOST_CODES_OF_A_KIND and high >= 10 * max(low, 1.0)


def _level_of_labelled_codes(facts: Facts) -> ProposedLevel:
    """Codes with value labels: ordinal where the labels are words of a scale in the order of the codes, else nominal."""
    labels = [facts.value_labels[value] for value in facts.column.values.to_list() if value in facts.value_labels]
    if len(set(labels)) == len(labels) and (detected := detect_order(labels)) is not None:
        order, scale = detected
        if labels in (list(order), list(reversed(order))):
            return ProposedLevel(Level.ORDINAL, f"codes whose labels form an ordered scale ({scale})", scale=scale)
    return ProposedLevel(Level.NOMINAL, "codes with value labels")


def _rises_and_falls_often(facts: Facts, low: float, high: float) -> bool:
    """Whether 3 to 9 consecutive codes from 1 have several peaks of frequency, as categories have and quantities have not."""
    if low != 1 or not 3 <= facts.distinct <= _MOST_CONSECUTIVE or high != facts.distinct:
        return False
    counts = np.concatenate([[0], facts.counts[: facts.distinct], [0]])
    peaks = int(((counts[1:-1] > counts[:-2]) & (counts[1:-1] >= counts[2:])).sum())
    return peaks > 1


def _has_gaps(values: np.ndarray[tuple[int], np.dtype[np.float64]], high: float) -> bool:
    """Whether few numbers leave most of their range unused and have no common divisor: codes, not counts or rounded amounts."""
    if not 3 <= len(values) <= _MOST_CODES or values.min() < 1 or high > 9_999:
        return False
    divisor = np.gcd.reduce(values.astype(np.int64))
    return bool(divisor == 1 and high - values.min() + 1 >= 3 * len(values))


def _level_of_text(facts: Facts) -> ProposedLevel:
    if (detected := detect_date_format(facts)) is not None:
        date_format, share = detected
        if share == 1 and (other := _OTHER_ORDER.get(date_format)) and _count_days(facts.column.values, other) == facts.distinct:
            reason = (
                f"dates, but day and month cannot be told apart ({date_format} or {other}); set read: dates to make it a date"
            )
            return ProposedLevel(Level.NOMINAL, reason, date_format=date_format)
        if share == 1:
            return ProposedLevel(Level.DATE, f"text in which every value is a date ({date_format})", date_format=date_format)
        reason = f"{share:.1%} of its distinct values are dates ({date_format}); correct or blank the others to make it a date"
        return ProposedLevel(Level.NOMINAL, reason, date_format=date_format)
    ordered = detect_order(facts.column.values.cast(pl.String).to_list()) if facts.distinct <= 60 else None
    if ordered is not None:
        order, scale = ordered
        return ProposedLevel(Level.ORDINAL, f"its {len(order)} values form an ordered scale ({scale})", order=order, scale=scale)
    coded = facts.naming.is_code or (facts.naming.kind is not None and facts.naming.kind.coded)
    if facts.distinct > 1 and facts.is_text and not coded:
        numbers = facts.column.values.str.replace_all(r"[, ']", "").cast(pl.Float64, strict=False)
        if not numbers.null_count() and not _has_leading_zero(facts):
            return ProposedLevel(
                Level.NOMINAL, "text that looks like numbers; set its thousands or decimal mark under read: to make it numeric"
            )
    return ProposedLevel(Level.NOMINAL, "")


def _has_leading_zero(facts: Facts) -> bool:
    return bool(facts.column.values.str.contains(r"^0\d").any())


def detect_date_format(facts: Facts) -> tuple[str, float] | None:
    """The format in which most distinct values are dates between 1800 and 2100, and their share."""
    values = facts.column.values.cast(pl.String)
    if not facts.distinct or int(values.str.len_chars().max()) > 32:  # type: ignore[arg-type]
        return None
    best: tuple[str, float] | None = None
    sample = pl.Series(facts.sample)
    for date_format in (*_DATE_FORMATS, *_TIME_FORMATS):
        if _count_days(sample, date_format) < _LEAST_DATE_SHARE * len(sample):
            continue
        share = _count_days(values, date_format) / len(values)
        if share >= _LEAST_DATE_SHARE and (best is None or share > best[1]):
            best = date_format, share
    return best


def _count_days(values: pl.Series, date_format: str) -> int:
    """The number of values that are dates in this format."""
    if date_format in _TIME_FORMATS:
        days = values.str.to_datetime(date_format, strict=False).dt.date()
    else:
        days = values.str.to_date(date_format, strict=False)
    return int(days.dt.year().is_between(1800, 2100).sum())
