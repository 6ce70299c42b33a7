"""Numbers that stand for a missing value, such as -1 or 999 among ages.

Statistical packages, registers and questionnaires write codes of nines, eights and sevens, or negative numbers. A code lies
outside all other values, and too many records have it for an error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.engine.recognition.name_rules import word_set
from discreet.engine.recognition.value_facts import Facts

_NEGATIVE = frozenset({-1, -7, -8, -9, -77, -88, -99, -777, -888, -999, -7777, -8888, -9999, -99999})
_LARGE = frozenset({77, 88, 99, 777, 888, 999, 7777, 8888, 9999, 88888, 99999, 888888, 999999})
_BEYOND_DOUBT = frozenset({-1, -9, -99, -999})
_NEVER_NEGATIVE = frozenset(
    {"age", "birth year", "household", "work experience", "hours of work", "income", "sick leave", "looks", "body weight"}
)
"""Kinds of numbers that are never negative."""
_COUNTS = word_set("number num count nof anzahl nombre numero numer age alter year years jahr jahre annee ano anno hours stunden")
_DIFFERENCES = word_set(
    "change changes diff difference delta growth lag lead balance saldo net profit loss deviation score index"
)
"""Words of numbers that may be negative, whatever else the name says."""
_LEAST_RECORDS, _LEAST_SHARE = 3, 0.002
"""Records that must have a code: so many, and so many or as many as have the median value."""
_LEAST_OTHERS, _MANY_OTHERS = 3, 10
"""Distinct other values that a column must have, and from which the number below zero is outside them."""
_FAR, _LEAST_GAP = 0.5, 3.0
"""How far above all others a large code lies: as a share of their range, and at least."""


@dataclass(frozen=True, slots=True)
class MissingCodes:
    """Numbers that read like codes for a missing value: their records by the number as text, and which are beyond doubt."""

    records: dict[str, int]
    beyond_doubt: tuple[str, ...]
    others: str
    """The range of all other values, as text."""


def find_missing_codes(facts: Facts) -> MissingCodes | None:
    """The codes for missing values of a column of numbers, None where there are none.

    >>> from discreet.engine.recognition.value_facts import facts_of
    >>> from discreet.testing import table
    >>> find_missing_codes(facts_of(table({"age": [20, 31, -1, 45, -1, 50, 62, -1]}))[0])
    MissingCodes(records={'-1': 3}, beyond_doubt=('-1',), others='20 to 62')
    """
    if not facts.is_number or facts.is_labelled or facts.distinct <= _LEAST_OTHERS:
        return None
    values, counts = facts.numbers, facts.counts[: facts.distinct]
    codes = _find_negative(values) | _find_large(values)
    if not codes.any() or int((~codes).sum()) < _LEAST_OTHERS:
        return None
    codes &= counts >= max(_LEAST_RECORDS, min(_LEAST_SHARE * facts.present, float(np.median(counts[~codes]))))
    if not codes.any():
        return None
    rest = values[~codes]
    may_be_negative = bool(_DIFFERENCES & set(facts.naming.words))
    doubtless = rest[0] >= 0 and not may_be_negative and _is_never_negative(facts)
    below_many = rest[0] >= 0 and not may_be_negative and len(rest) >= _MANY_OTHERS and facts.is_whole
    # a number just below few others may be one like them
    codes &= doubtless | below_many | (values >= 0) | (rest[0] - values >= 2)
    if not codes.any():
        return None
    records = {_as_text(value): int(count) for value, count in zip(values[codes], counts[codes], strict=True)}
    sure = tuple(_as_text(value) for value in values[codes] if doubtless and float(value) in _BEYOND_DOUBT)
    return MissingCodes(records, sure, f"{rest[0]:,.12g} to {rest[-1]:,.12g}")


def _find_negative(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Where all negative numbers are codes: these."""
    negative = values < 0
    return np.asarray(negative & bool(np.isin(values[negative], list(_NEGATIVE)).all()))


def _find_large(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Codes that lie above all other numbers, by far more than these are apart."""
    nothing = np.zeros(len(values), dtype=np.bool_)
    listed = np.isin(values, list(_LARGE))
    others = values[~listed & (values >= 0)]
    if not listed.any() or not len(others):
        return nothing
    above = listed & (values > others[-1])
    if not above.any():
        return nothing
    gap = float(values[above][0] - others[-1])
    return above if gap >= max(_LEAST_GAP, _FAR * float(others[-1] - others[0])) else nothing


def _is_never_negative(facts: Facts) -> bool:
    kind = facts.naming.kind
    return bool(_COUNTS & set(facts.naming.words)) or (kind is not None and kind.name in _NEVER_NEGATIVE)


def _as_text(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else str(value)
