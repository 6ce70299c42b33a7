"""Intervals of estimated numbers of records."""

from __future__ import annotations

from math import exp

NORMAL_95 = 1.959964


def interval(estimate: float, error: float, most: float) -> tuple[float, float]:
    """A 95 % interval of a number between 0 and ``most``.

    Relative errors are skewed, so that the upper end is as far away as on the scale of logarithms. The lower end is as far away
    as on the scale of square roots, which is farther: a few records are overestimated as easily as they are underestimated.
    """
    if estimate <= 0:
        return 0.0, min(most, NORMAL_95 * error)
    relative = min(NORMAL_95 * error / estimate, 50.0)
    return estimate * max(0.0, 1 - relative / 2) ** 2, min(most, estimate * exp(relative))
