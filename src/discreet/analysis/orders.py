"""Detection of ordered values: scales of agreement, size, schooling, months, and bands of numbers."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from discreet.analysis.scales import SCALES, Scale

_NUMBER = r"[$€£]?\s*(\d[\d,' ]*(?:\.\d+)?)\s*(k|m|mio|tsd)?\s*(?:[$€£%]|years?|yrs?|y)?"
_BETWEEN = re.compile(rf"[\[(]?\s*{_NUMBER}\s*(?:-|–|—|to|bis|a|\.\.|,|;)\s*{_NUMBER}\s*[\])]?")
_BELOW = re.compile(rf"(?:<=|<|≤|under|below|less than|up to|unter|bis|moins de|menos de)\s*{_NUMBER}")
_ABOVE = re.compile(
    rf"(?:>=|>|≥|over|above|more than|at least|über|ab|plus de|mas de)\s*{_NUMBER}"
    rf"|{_NUMBER}\s*(?:\+|and over|and above|or more|or older|und mehr)"
)
_ALONE = re.compile(_NUMBER)
_UNITS = {"": 1.0, "k": 1e3, "tsd": 1e3, "m": 1e6, "mio": 1e6}
_MOST_BANDS = 60


def detect_order(values: Sequence[str]) -> tuple[tuple[str, ...], str] | None:
    """The values in their order and the name of the scale, if all values belong to one scale.

    >>> detect_order(["High", "Low", "medium"])
    (('Low', 'medium', 'High'), 'low to high')
    >>> detect_order(["[10-20)", "[0-10)", "65+"])
    (('[0-10)', '[10-20)', '65+'), 'bands of numbers')
    >>> detect_order(["red", "green"]) is None
    True
    """
    if not 2 <= len(values) <= _MOST_BANDS:
        return None
    normalised = [_normalise(value) for value in values]
    for scale in SCALES:
        rank_by_name = _ranks_of(scale)
        ranks = [rank_by_name.get(text, -1) for text in normalised]
        if min(ranks) >= 0 and len(set(ranks)) >= scale.least:
            return tuple(value for _, value in sorted(zip(ranks, values, strict=True))), scale.name
    bands = [band for value in values if (band := parse_band(value)) is not None]
    if len(bands) < len(values) or all(low == high for low, high in bands):
        return None
    ordered = sorted(zip(bands, values, strict=True))
    if any(after[0][1] < before[0][1] for before, after in pairwise(ordered)):
        return None  # a band inside another one
    return tuple(value for _, value in ordered), "bands of numbers"


def parse_band(text: str) -> tuple[float, float] | None:
    """The bounds of a band of numbers, such as ``10-19``, ``[10, 20)``, ``<18``, ``65+``, ``3``."""
    lower = text.strip().lower()
    if match := _BETWEEN.fullmatch(lower):
        low, high = _parse_number(match[1], match[2] or match[4]), _parse_number(match[3], match[4])
        return (low, high) if low < high else None
    if match := _BELOW.fullmatch(lower):
        return -math.inf, _parse_number(match[1], match[2])
    if match := _ABOVE.fullmatch(lower):
        return _parse_number(match[1] or match[3], match[2] or match[4]), math.inf
    if match := _ALONE.fullmatch(lower):
        return (_parse_number(match[1], match[2]),) * 2
    return None


def _parse_number(digits: str, unit: str | None) -> float:
    return float(re.sub(r"[,' ]", "", digits)) * _UNITS[unit or ""]


@cache
def _ranks_of(scale: Scale) -> dict[str, int]:
    """The rank of each name of a scale."""
    return {_normalise(name): rank for rank, step in enumerate(scale.steps.split(",")) for name in step.split("|")}


def _normalise(text: str) -> str:
    """Lower case, without accents and punctuation; a grade such as A+ keeps its sign."""
    bare = "".join(char for char in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(char))
    undotted = re.sub(r"[.]", "", bare).strip()
    sign = undotted[-1:] if re.fullmatch(r"[a-f][+-]", undotted) else ""
    return re.sub(r"[\s_\-'’(),]+", " ", undotted).strip() + sign
