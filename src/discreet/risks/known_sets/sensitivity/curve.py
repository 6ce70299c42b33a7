"""The share of high-risk records against the threshold, so that a threshold can be chosen by looking.

A record's risk is alpha times a sum that does not depend on alpha, so that another alpha moves the curve along its axis: at the
threshold t and alpha a it is what it is at t b / a and alpha b. One curve shows the dependence on both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.known_sets.effective_size import NEAR
from discreet.model.threshold import Among
from discreet.risks.known_sets.sensitivity.counted import Point

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PLACES = 80


def threshold_curve(
    points: Sequence[Point], kept: Sequence[NDArray[np.float64]], threshold: float | Among, alpha: float
) -> pl.DataFrame:
    """One row per threshold, for the worse intruder; ``kept`` are the risks, or sizes, over the kept sets, in the same order.

    ``share`` is by the kept sets; over all known sets the share lies between ``low`` and ``high``.
    """
    if isinstance(threshold, Among):
        return _among_curve(points, kept, threshold.among)
    lower = [alpha * (point.lower + point.alone) for point in points]
    upper = [alpha * (point.upper + point.alone) for point in points]
    values = np.concatenate([*lower, *upper, *kept])
    values = values[values > 0]
    around = [threshold] if threshold > 0 else []
    values = np.append(values, around) if len(values) or around else np.ones(1)
    least, most = values.min() / 2, values.max() * 1.5
    grid = np.unique(np.append(np.geomspace(least, most, _PLACES), threshold))
    shares = {
        name: np.max([_shares_above(own, point, grid) for own, point in zip(risks, points, strict=True)], axis=0)
        for name, risks in (("share", kept), ("low", lower), ("high", upper))
    }
    return pl.DataFrame({"threshold": grid, **shares})


def _shares_above(risk: NDArray[np.float64], point: Point, grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of all records with a risk greater than each threshold."""
    order = np.argsort(risk)
    number = np.append(0.0, np.cumsum(point.multiplicity[order]))
    return np.asarray((number[-1] - number[np.searchsorted(risk[order], grid, side="right")]) / max(point.records, 1))


def _among_curve(points: Sequence[Point], kept: Sequence[NDArray[np.float64]], among: float) -> pl.DataFrame:
    """The same by effective class size: the share of records that are hidden among fewer."""
    lower, upper = [point.end.sizes.lower for point in points], [point.end.sizes.upper for point in points]
    values = np.concatenate([*lower, *upper])
    most = float(np.nanmax(values, initial=2.0)) * 1.5
    grid = np.unique(np.append(np.geomspace(1.0, max(most, 2.0), _PLACES), among))
    shares = {
        name: np.max([_shares_below(own, point, grid) for own, point in zip(sizes, points, strict=True)], axis=0)
        for name, sizes in (("share", kept), ("low", upper), ("high", lower))
    }
    return pl.DataFrame({"threshold": grid, **shares})


def _shares_below(size: NDArray[np.float64], point: Point, grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of all records with a size below each number; a record with nothing to learn is never below."""
    defined = ~np.isnan(size)
    order = np.argsort(size[defined])
    number = np.append(0.0, np.cumsum(point.multiplicity[defined][order]))
    return np.asarray(number[np.searchsorted(size[defined][order], grid * NEAR, side="left")] / max(point.records, 1))
