"""Intervals of estimated numbers of records."""

from __future__ import annotations

from math import exp

NORMAL_95 = 1.959964


def interval(estimate: float, error: float, most: float) -> tuple[float, float]:
    """A 95 % interval of a number between 0 and ``most``, symmetric on the scale of logarithms: relative errors are skewed."""
    if estimate <= 0:
        return 0.0, min(most, NORMAL_95 * error)
    factor = exp(min(NORMAL_95 * error / estimate, 50.0))
    return estimate / factor, min(most, estimate * factor)
