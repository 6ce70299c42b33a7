"""Whether dates, ages and places are as coarse as 45 CFR 164.514(b)(2)(i)(B) and (C) ask."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from discreet.engine.cells.reader import meaning_of, printed_texts
from discreet.engine.recognition.value_facts import Facts
from discreet.engine.recognition.written_dates import date_format, read_dates
from discreet.model.cells import EVERYTHING, Cell, ColumnCells, Group, Interval, Prefix
from discreet.risks.safe_harbor.states import are_states_or_larger

OLDEST = 89
"""Ages above it may be released as one category 'ninety or older' only."""
LEAST_PERSONS = 20_000
"""A three-digit ZIP area must have more people than this."""
_PARTS_OF_DATES = frozenset(
    {"day", "month", "quarter", "week", "weekday", "tag", "monat", "quartal", "woche", "mois", "mes", "dia"}
)
_MONTHS = re.compile(
    r"(?i)(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?|(mon|tues?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?"
)
_QUANTITIES = frozenset(
    {"per", "hours", "hour", "hrs", "number", "num", "no", "count", "amount", "total", "avg", "mean", "each", "a"}
)
"""Words of names such as 'hours per week', which are about quantities and not about dates."""
_SHARE = 0.95
_BIRTHS = ("birth date", "birth year")


def finer_than_year(facts: Facts, cells: ColumnCells | None) -> str | None:
    """Why a column tells more of a date than its year; None where it does not."""
    values = facts.column.values
    if not facts.distinct or facts.dtype in (pl.Time, pl.Duration):
        return None
    if facts.dtype.is_temporal():
        return None if _are_new_years(values) else "it holds dates with day and month"
    if (form := date_format(values)) is not None:
        return None if _are_new_years(read_dates(values, form).drop_nulls()) else f"it holds dates with day and month ({form})"
    described = cells is None or cells.kind in ("date", "datetime")
    if facts.is_text and described and (reason := _fine_labels(values, cells)) is not None:
        return reason
    kind = facts.naming.kind
    if facts.distinct > 1 and kind is not None and kind.name == "birth month":
        return f"{facts.naming.description}: an element of a date other than the year"
    words = set(facts.naming.words)
    if facts.distinct > 1 and _PARTS_OF_DATES & words and not _QUANTITIES & words and _are_parts_of_dates(facts):
        return "by its name and values it holds the day, week, month or quarter of a date"
    return None


def _are_new_years(days: pl.Series) -> bool:
    """Whether every date is the first of January, as years are that are stored as dates."""
    return bool(((days.dt.month() == 1) & (days.dt.day() == 1)).all())


def _fine_labels(values: pl.Series, cells: ColumnCells | None) -> str | None:
    """Labels of dates, such as 2014-05 or an interval, that do not begin and end with a year; None where they all do."""
    texts = printed_texts(values).to_list()
    if cells is None and not any(re.search(r"\d{4}", text) for text in texts[:20]):
        return None
    meanings = {text: meaning_of(text, "date", cells) for text in texts}
    explained = [text for text, meaning in meanings.items() if meaning is not None]
    if len(explained) < _SHARE * len(texts) or all(meaning == EVERYTHING for meaning in meanings.values()):
        return None
    fine = next((text for text in explained if not _is_whole_years(meanings[text])), None)
    return None if fine is None else f"it holds parts of a year, such as '{fine}'"


def _is_whole_years(meaning: Cell | str | None) -> bool:
    if meaning == EVERYTHING or (isinstance(meaning, Group) and meaning.others):
        return True
    if isinstance(meaning, Group):
        return not meaning.members and all(_is_whole_years(part) for part in meaning.parts)
    if not isinstance(meaning, Interval):
        return False
    return _is_new_year(meaning.lower, meaning.lower_inside) and _is_new_year(meaning.upper, not meaning.upper_inside)


def _is_new_year(bound: Any, boundary: bool) -> bool:
    """Whether a bound lies between two years; ``boundary``: it is that of the period that begins on it."""
    if isinstance(bound, float) and math.isinf(bound):
        return True
    if not isinstance(bound, datetime.date):
        return False
    day = bound if boundary else bound + datetime.timedelta(days=1)
    return (day.month, day.day) == (1, 1)


def _are_parts_of_dates(facts: Facts) -> bool:
    if facts.is_whole and facts.extremes[0] is not None:
        return int(facts.extremes[0]) >= 0 and int(facts.extremes[1]) <= 366
    return facts.is_text and all(_MONTHS.fullmatch(text.strip()) or re.fullmatch(r"[QW]?\d{1,2}", text) for text in facts.sample)


def too_old(facts: Facts, cells: ColumnCells | None, year: int) -> str | None:
    """Why a column tells an age over 89, or a year of birth that implies one; None where it does not."""
    kind = facts.naming.kind
    if kind is None or not facts.distinct:
        return None
    if kind.name in _BIRTHS and (years := _years(facts)):
        first = year - OLDEST - 1
        return f"years of birth up to {first} imply an age over {OLDEST} in {year}" if min(years) <= first else None
    if kind.name != "age":
        return None
    for text in printed_texts(facts.column.values).to_list():
        meaning = meaning_of(text, "number", cells) or _written_band(text)
        age = float(meaning) if isinstance(meaning, str) and meaning != EVERYTHING else meaning
        # 90 is how 'ninety or older' is written in a column of numbers
        if (isinstance(age, float) and age > OLDEST and age != OLDEST + 1) or (isinstance(age, Interval) and _tells_old_age(age)):
            return f"it tells ages over {OLDEST} apart, such as '{text}'; they may be released as '{OLDEST + 1} or older' only"
    return None


def _written_band(text: str) -> Interval | None:
    """The ages of a label such as ``90-99`` or ``90 and over``, which is not in the grammar of cells; None without a number."""
    ends = [float(number) for number in re.findall(r"\d+", text)]
    if not 1 <= len(ends) <= 2:
        return None
    return Interval(ends[0], ends[1] if len(ends) == 2 else math.inf)


def _tells_old_age(ages: Interval) -> bool:
    """Whether an interval of ages is finer than 'ninety or older'."""
    above = ages.lower > OLDEST + 1 or (ages.lower == OLDEST + 1 and not ages.lower_inside)
    return above or (ages.lower > OLDEST and not math.isinf(ages.upper))


def _years(facts: Facts) -> list[int]:
    """The years of birth in a column of dates, or of whole numbers that are years."""
    values = facts.column.values
    if facts.dtype in (pl.Date,) or isinstance(facts.dtype, pl.Datetime):
        return values.dt.year().to_list()
    if facts.is_whole:
        return [int(number) for number in facts.numbers if 1850 <= number <= 2100]
    form = date_format(values)
    return [] if form is None else read_dates(values, form).drop_nulls().dt.year().to_list()


def small_place(facts: Facts, cells: ColumnCells | None, populations: Mapping[str, float] | None) -> str | None:
    """Why a column tells a place smaller than a state; None where it does not."""
    kind = facts.naming.kind
    if kind is None or not facts.distinct:
        return None
    if kind.name == "postal code":
        return _fine_zip_codes(facts, cells, populations)
    if kind.name == "coordinates" and (facts.is_number or facts.is_text):
        return facts.naming.description
    if kind.name != "region" or are_states_or_larger(facts):
        return None
    return f"{facts.naming.description}, and its values are not states: it may be smaller than a state"


def _fine_zip_codes(facts: Facts, cells: ColumnCells | None, populations: Mapping[str, float] | None) -> str | None:
    width = 5 if facts.is_whole and float(facts.extremes[1]) > 999 else 3
    unknown: list[str] = []
    for text in printed_texts(facts.column.values).to_list():
        for code in _zip_prefixes(text.zfill(width) if facts.is_whole else text.strip(), cells):
            if code is None or len(code) > 3:
                return f"it holds postal codes of more than three digits, such as '{text}'"
            if len(code) < 3 or code == "000":
                continue
            if populations is None:
                unknown.append(code)
            elif populations.get(code, 0.0) <= LEAST_PERSONS:
                persons = f"{populations[code]:,.0f}" if code in populations else "an unknown number of"
                return f"the ZIP area {code} has {persons} people; more than {LEAST_PERSONS:,} are needed, or the code 000"
    if unknown:
        return f"no table gives the population of its {len(set(unknown)):,} three-digit ZIP areas (parameter zip_population)"
    return None


def _zip_prefixes(text: str, cells: ColumnCells | None) -> Iterable[str | None]:
    """The digits that a label tells of a ZIP code; None for a label that nothing explains."""
    meaning = meaning_of(text, "text", cells)
    if meaning == EVERYTHING or (isinstance(meaning, Group) and meaning.others):
        return [""]
    if isinstance(meaning, Prefix):
        return [meaning.prefix]
    if isinstance(meaning, Group):
        parts = [part.prefix if isinstance(part, Prefix) else None for part in meaning.parts]
        return [*parts, *(digits for member in meaning.members for digits in _zip_prefixes(member, None))]
    digits = str(meaning).strip().rstrip("*xX")
    return [digits if re.fullmatch(r"\d*", digits) else None]
