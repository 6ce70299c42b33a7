"""Sentences for a public report: no row numbers, no counts below five, no more than a few digits.

Sentences come from measures and methods, also from plug-ins of others. A :class:`~discreet.model.notes.Note` has a public text of
its own; any other sentence goes through these rules.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from discreet.model.notes import public_text
from discreet.report.bands import band_text, round_significant
from discreet.report.small_counts import LEAST

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


def soften(sentence: str, *, band_numbers: bool = False, exempt: Collection[float] = ()) -> str:
    """A sentence with its row numbers and small counts taken out, and its numbers rounded.

    With ``band_numbers`` a decimal number is taken for the risk of a single record, and given as a band; numbers in ``exempt``,
    such as limits, stay.

    >>> soften("3 records stay above 0.01, with risks of 0.0123456: records 3, 17, 22 and 4 more")
    'fewer than 5 records stay above 0.01, with risks of 0.0123: records (numbers withheld)'
    >>> soften("known_sets.max is 0.0345678 (limit 0.01)", band_numbers=True, exempt=[0.01])
    'known_sets.max is 0.02 to 0.05 (limit 0.01)'
    """

    def coarse(found: re.Match[str]) -> str:
        value = float(found[1].replace(",", ""))
        if value in exempt:
            return found[1]
        if band_numbers:
            return band_text(value)
        shorter = round_significant(value)
        return found[1] if shorter == value else f"{shorter:,.3g}" if abs(shorter) < 1000 else f"{shorter:,.0f}"

    text = _ROWS.sub(lambda found: f"{found[1]} (numbers withheld)", public_text(sentence))
    text = _SMALL.sub(f"fewer than {LEAST}", text)
    text = _ONE.sub(lambda found: f"fewer than {LEAST} {found[1]}s", text)
    return _DECIMAL.sub(coarse, text)
