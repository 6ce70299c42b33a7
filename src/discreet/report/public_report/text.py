"""Sentences for a public report: no row numbers, no counts below five, few digits.

Sentences come from measures and methods, also from third-party plug-ins. A :class:`~discreet.model.notes.Note` has a public text
of its own; these rules apply to any other sentence.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from discreet.model.notes import public_text
from discreet.report.bands import format_band, round_significant
from discreet.report.small_counts import MIN_SHOWN_COUNT

_NUMBER = r"(?>[\d,]*\d)"
_ROWS = re.compile(
    rf"\b(records?|rows?|lines?) (?:numbers? |nos?\. ?)?#?{_NUMBER}(?!\.\d)(?:(?:, and |, | and | to |-)#?{_NUMBER}(?! more\b))*"
    rf"(?: and {_NUMBER} more)?(?! (?:records|rows|values|persons|of)\b)"
)
_UNITS = (
    "records?|rows?|values?|persons?|people|individuals?|units?|targets?|entries|entry|cells?|households?|classes|class|groups?|"
    "strata|stratum|matches|links?|candidates?|of them|of the|of [\\d,]+"
)
_SMALL = re.compile(rf"(?<![\w.,:/-])(?<!than )(?<!least )(?<!most )(?<!to )([1-4])(?= (?:\w+ ){{0,2}}?(?:{_UNITS})\b)")
_ONE = re.compile(r"\b(?:one|One) (record|row|value|person|target|household)\b")
_DECIMAL = re.compile(r"(?<![\w.])(\d[\d,]*\.\d+(?:e[+-]?\d+)?|\d(?:\.\d+)?e[+-]?\d+)(?![\w.]*\d)")


def coarsen_sentence(sentence: str, *, band_numbers: bool = False, exempt: Collection[float] = ()) -> str:
    """A sentence without its row numbers and small counts, and with rounded numbers.

    With ``band_numbers`` a decimal number is assumed to be the risk of a single record, and replaced by a band; numbers in
    ``exempt``, such as limits, are kept.

    >>> coarsen_sentence("3 records stay above 0.01, with risks of 0.0123456: records 3, 17, 22 and 4 more")
    'fewer than 5 records stay above 0.01, with risks of 0.0123: records (numbers withheld)'
    >>> coarsen_sentence("known_sets.max is 0.0345678 (limit 0.01)", band_numbers=True, exempt=[0.01])
    'known_sets.max is 0.02 to 0.05 (limit 0.01)'
    """

    def coarsen_number(match: re.Match[str]) -> str:
        value = float(match[1].replace(",", ""))
        if value in exempt:
            return match[1]
        if band_numbers:
            return format_band(value)
        rounded = round_significant(value)
        return match[1] if rounded == value else f"{rounded:,.3g}" if abs(rounded) < 1000 else f"{rounded:,.0f}"

    text = _ROWS.sub(lambda match: f"{match[1]} (numbers withheld)", public_text(sentence))
    text = _SMALL.sub(f"fewer than {MIN_SHOWN_COUNT}", text)
    text = _ONE.sub(lambda match: f"fewer than {MIN_SHOWN_COUNT} {match[1]}s", text)
    return _DECIMAL.sub(coarsen_number, text)
