"""Numbers coarse enough for a public report: bands for numbers of single records, few digits for averages.

A band excludes its lower end and includes its upper end; ends are 1, 2 or 5 times a power of ten.
"""

from __future__ import annotations

import math

_STEPS = (1.0, 2.0, 5.0, 10.0)
_TINY = 1e-9
DIGITS = 3
FEW_DIGITS = 2
MANY_RECORDS = 100
"""An average over at least this many records has three significant digits; over fewer, two."""


def band(value: float) -> tuple[float, float]:
    """The ends of the band that contains a positive number.

    >>> band(0.0314), band(0.5), band(1.0)
    ((0.02, 0.05), (0.2, 0.5), (0.5, 1.0))
    """
    power = 10.0 ** math.floor(math.log10(value))
    low, ends = power / 2, [_to_three_digits(power * step) for step in _STEPS]
    for high in ends:
        if value <= high * (1 + _TINY):
            return _to_three_digits(low), high
        low = high
    return ends[-2], ends[-1]


def format_band(value: float, *, at_least: float | None = None, at_most: float | None = None) -> str:
    """The band of a number as text, narrowed by bounds that a verdict shows anyway.

    >>> format_band(0.0314), format_band(0.0314, at_most=0.04), format_band(0.0)
    ('0.02 to 0.05', '0.02 to 0.04', '0')
    """
    if value == 0:
        return "0"
    if value < 0 or not math.isfinite(value):
        return "below 0" if value < 0 else "infinite"
    if value < _TINY:
        return f"at most {_TINY:g}"
    low, high = band(value)
    low, high = max(low, at_least or low), min(high, at_most or high)
    return f"{low:,.4g} to {high:,.4g}" if low < high else f"{high:,.4g}"


def round_significant(value: float, digits: int = DIGITS) -> float:
    """A number rounded to significant digits.

    >>> round_significant(0.123456), round_significant(123456)
    (0.123, 123000.0)
    """
    return float(f"{value:.{digits - 1}e}") if math.isfinite(value) else value


def significant_digits(records: int) -> int:
    """How many significant digits an average over this many records may have."""
    return DIGITS if records >= MANY_RECORDS else FEW_DIGITS


def _to_three_digits(value: float) -> float:
    return float(f"{value:.3g}")
