"""Numbers that are the time between two columns of dates, such as a length of stay or an age at an event.

Every pair of date columns is compared with every column of numbers, on some hundred records first and on all records where these
agree. Dates are written by hand, so a share of the records may differ; among those whose number is not the most frequent one as
well, so that a column of zeros proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.analysis.evidence import holds_days
from discreet.analysis.levels import ProposedLevel
from discreet.analysis.relations import Derivation, values_per_record
from discreet.engine.recognition.findings import Finding, describe_defaults
from discreet.engine.recognition.value_facts import Facts
from discreet.engine.recognition.written_dates import date_format, read_dates
from discreet.model.attribute import Role

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_DATES = 24
"""In tables with more columns of dates only the pairs of so many are compared."""
_SAMPLE = 256
_LEAST_RECORDS, _LEAST_VALUES = 20, 4
_MOST_SHARE = 0.97
_REFUTED = 0.5
"""The share of the sample that may differ: far more than of the table, so that the order of the records decides nothing."""
_LEAST_AGREEING, _LEAST_OF_OTHERS = 0.99, 0.95
"""The share of the records that must agree, and of those whose number is not the most frequent one."""
_LEAST_PRESENT = 0.5
"""The share of the records with a number that must have both dates."""
_ROUNDED = 0.051
"""Fractions may be rounded to one decimal."""
_LEAST_SPREAD = 1.0
"""The standard deviation of fractions from which rounding to one decimal says something."""
_KEEP_THEIR_ROLE = (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD, Role.WEIGHT)


@dataclass(frozen=True, slots=True)
class Moments:
    """Points in time, one per record: days since 1970 with fractions, whole months since the year 0, the day of the month."""

    days: NDArray[np.float64]
    months: NDArray[np.float64]
    day_of_month: NDArray[np.float64]

    def take(self, rows: NDArray[np.int64]) -> Moments:
        """The same for some records."""
        return Moments(self.days[rows], self.months[rows], self.day_of_month[rows])


def _completed_months(first: Moments, last: Moments) -> NDArray[np.float64]:
    return np.asarray(last.months - first.months - (last.day_of_month < first.day_of_month))


def _elapsed(first: Moments, last: Moments) -> NDArray[np.float64]:
    return np.asarray(last.days - first.days)


_Measure = Callable[[Moments, Moments], "NDArray[np.float64]"]
_UNITS: tuple[tuple[str, _Measure, bool], ...] = (
    ("days", lambda first, last: np.floor(last.days) - np.floor(first.days), True),
    ("days, both included,", lambda first, last: np.floor(last.days) - np.floor(first.days) + 1, True),
    ("completed years", lambda first, last: np.floor(_completed_months(first, last) / 12), True),
    ("completed months", _completed_months, True),
    ("calendar years", lambda first, last: np.floor(last.months / 12) - np.floor(first.months / 12), True),
    ("calendar months", lambda first, last: np.asarray(last.months - first.months), True),
    ("completed weeks", lambda first, last: np.floor((np.floor(last.days) - np.floor(first.days)) / 7), True),
    ("completed days", lambda first, last: np.floor(_elapsed(first, last) + 1e-9), True),
    ("completed hours", lambda first, last: np.floor(_elapsed(first, last) * 24 + 1e-6), True),
    ("completed minutes", lambda first, last: np.floor(_elapsed(first, last) * 1_440 + 1e-4), True),
    ("days", _elapsed, False),
    ("hours", lambda first, last: _elapsed(first, last) * 24, False),
    ("minutes", lambda first, last: _elapsed(first, last) * 1_440, False),
    ("weeks", lambda first, last: _elapsed(first, last) / 7, False),
    ("months", lambda first, last: _elapsed(first, last) / (365.25 / 12), False),
    ("years", lambda first, last: _elapsed(first, last) / 365.25, False),
)
"""What numbers may count, and whether they are whole; completed months have passed, calendar months begin on their first day."""


def find_date_differences(facts: Sequence[Facts], levels: Sequence[ProposedLevel]) -> dict[str, Derivation]:
    """For each column of numbers that is the time between two columns of dates: which, and in what unit.

    Complexity: pairs of date columns x units x columns of numbers x some hundred records that have both dates; all records of
    those that agree.
    """
    pairs = list(zip(facts, levels, strict=True))
    dates = [column for column, level in pairs if column.distinct > 1 and holds_days(column, level)][:_MOST_DATES]
    may_be_times = [column for column, level in pairs if not holds_days(column, level) and _may_be_a_time(column)]
    if len(dates) < 2 or not may_be_times:
        return {}
    numbers = {is_whole: [column for column in may_be_times if column.is_whole is is_whole] for is_whole in (True, False)}
    moments = {column.name: _moments_per_record(column) for column in dates}
    best: dict[str, tuple[float, Derivation]] = {}
    for one, other in combinations(moments, 2):
        rows = np.flatnonzero(np.isfinite(moments[one].days) & np.isfinite(moments[other].days))
        if len(rows) < _LEAST_RECORDS:
            continue
        rows = rows[np.unique(np.linspace(0, len(rows) - 1, _SAMPLE).astype(np.int64))]
        few = {name: moments[name].take(rows) for name in (one, other)}
        samples = {is_whole: _stack(columns, rows) for is_whole, columns in numbers.items()}
        for (first, last), (unit, measure, is_whole) in product(((one, other), (other, one)), _UNITS):
            times = measure(few[first], few[last])
            for place in np.flatnonzero(_shares_that_differ(times, samples[is_whole], is_whole) <= _REFUTED):
                column = numbers[is_whole][place]
                share = _verify(column, measure(moments[first], moments[last]))
                if share is not None and (column.name not in best or share > best[column.name][0]):
                    exceptions = "" if share == 1 else f" in {int(share * 1000) / 10:g}% of the records"
                    sentence = f"the {unit} from '{first}' to '{last}'{exceptions}"
                    best[column.name] = share, Derivation((first, last), sentence, between_dates=True)
    return {name: derivation for name, (_, derivation) in best.items()}


def propose_for_difference(finding: Finding, derivation: Derivation, sources: Sequence[Finding]) -> Finding:
    """A key where both dates are keys: whoever knows them knows the time between them, as sensitive as it and they are."""
    if finding.role in _KEEP_THEIR_ROLE or finding.role is Role.KEY:
        return finding
    known = min(source.known for source in sources)
    own = finding.sensitivity if finding.kind is not None else 0.0
    sensitivity = max(own, *(source.sensitivity for source in sources))
    because = f"{derivation.sentence}, which are keys: whoever knows both dates knows it"
    numbers = describe_defaults(known, sensitivity, "a time between two known dates")
    own_kind = f"; alone it would be {finding.role.value}: {finding.kind.name}" if finding.kind is not None else ""
    confidence = round(0.9 * min(source.confidence for source in sources), 4)
    return replace(
        sources[0],
        reason=f"{because}; {numbers}{own_kind}",
        known=known,
        sensitivity=sensitivity,
        values=finding.values if own else {},
        confidence=confidence,
    )


def _may_be_a_time(facts: Facts) -> bool:
    return facts.is_number and facts.distinct >= _LEAST_VALUES and facts.top_share < _MOST_SHARE


def _moments_per_record(facts: Facts) -> Moments:
    """The points in time of a column, nulls and texts that are no dates as NaN."""
    values = facts.column.values
    fraction: pl.Series | float = 0.0
    if isinstance(values.dtype, pl.Datetime):
        values = values.dt.replace_time_zone(None)  # the day and the time of day of the place, not of Greenwich
        fraction = values.dt.epoch("us") % 86_400_000_000 / 86_400e6
    days = read_dates(values, date_format(values) or "%Y-%m-%d")
    months = days.dt.year().cast(pl.Float64) * 12 + days.dt.month() - 1
    by_code = (days.cast(pl.Int32).cast(pl.Float64) + fraction, months, days.dt.day().cast(pl.Float64))
    tables = (np.append(part.fill_null(float("nan")).to_numpy(), np.nan) for part in by_code)
    return Moments(*(np.asarray(table[facts.column.codes], dtype=np.float64) for table in tables))


def _agreement(times: NDArray[np.float64], numbers: NDArray[np.float64], whole: bool) -> NDArray[np.bool_]:
    """Where a time and a number agree; false where one is missing."""
    with np.errstate(invalid="ignore"):
        return np.asarray(times == numbers if whole else np.abs(times - numbers) <= _ROUNDED)


def _stack(columns: Sequence[Facts], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """The numbers of some records, one row per column."""
    return np.array([values_per_record(column, rows) for column in columns], dtype=np.float64).reshape(len(columns), len(rows))


def _shares_that_differ(
    times: NDArray[np.float64], numbers: NDArray[np.float64], whole: bool
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """For each row of numbers the share that is not the time, of those that are there; 0 where none is."""
    present = np.isfinite(numbers)
    differing = (present & ~_agreement(times, numbers, whole)).sum(axis=1)
    return np.asarray(differing / np.maximum(present.sum(axis=1), 1), dtype=np.float64)


def _verify(column: Facts, times: NDArray[np.float64]) -> float | None:
    """The share of all records with both dates and a number in which they agree; None where that is no relation."""
    numbers = values_per_record(column)
    both = np.isfinite(times) & np.isfinite(numbers)
    if both.sum() < max(_LEAST_RECORDS, _LEAST_PRESENT * column.present):
        return None
    if not column.is_whole and float(np.std(numbers[both])) < _LEAST_SPREAD:
        return None
    agree = _agreement(times, numbers, column.is_whole)[both]
    frequent = float(column.numbers[int(column.counts[: column.distinct].argmax())])
    others = agree[numbers[both] != frequent]
    if agree.mean() < _LEAST_AGREEING or not len(others) or others.mean() < _LEAST_OF_OTHERS:
        return None
    return float(agree.mean())
