"""How a guess of a secret is scored, and the best guess that needs no record of the person."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.attacks.distances import ComparedColumn

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDING = 1e-12


def score_guesses(
    secret: ComparedColumn, truth: NDArray[np.int64], guess: NDArray[np.int64], tolerance: float
) -> NDArray[np.float64]:
    """The probability that an intruder who sees the released cell ``guess`` names the true value, for pairs of codes.

    A value is right where it equals the truth, a number where it differs by at most ``tolerance`` times the truth. An interval or
    set that contains the truth is not yet right: the intruder names one of the m values that it may stand for, and is right with
    probability 1/m, or with the share of the interval that lies within the tolerance, if that is more.
    """
    meaning = secret.containment
    contained = meaning.contains(guess, truth)
    score = np.where(contained, 1 / np.maximum(_values_inside(secret)[guess], 1.0), 0.0)
    if not secret.numeric or not len(meaning.numbers):
        return score
    number = meaning.numbers[truth]
    low, high = meaning.low[guess], meaning.high[guess]
    slack = tolerance * np.abs(number) * (1 + _ROUNDING)
    overlap = np.minimum(high, number + slack) - np.maximum(low, number - slack)
    width = high - low
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(width > 0, overlap / np.where(width > 0, width, 1.0), (overlap >= 0).astype(np.float64))
    return np.asarray(np.maximum(score, np.clip(np.nan_to_num(share, nan=0.0), 0.0, 1.0)))


def _values_inside(secret: ComparedColumn) -> NDArray[np.float64]:
    """For each released code the number of true values that its cell contains."""
    meaning = secret.containment
    inside = (meaning.last - meaning.first).astype(np.float64)
    if len(meaning.keys):
        inside += np.bincount(meaning.keys // max(meaning.originals, 1), minlength=len(inside))
    inside[meaning.blank] = meaning.originals
    return inside


def blind_guess(secret: ComparedColumn, tolerance: float) -> NDArray[np.int64]:
    """The released codes that are the best guess for everybody: the most common ones, suppressed cells apart.

    Of numbers with a tolerance it is the value that is right for most released values.
    """
    counts = np.bincount(secret.released.codes, minlength=secret.released.cardinality).astype(np.float64)
    counts[secret.containment.blank] = 0.0
    if secret.numeric and tolerance > 0 and len(secret.containment.numbers):
        middle = (secret.containment.low + secret.containment.high) / 2
        usable = np.flatnonzero(~np.isnan(middle) & (counts > 0))
        if len(usable):
            order = usable[np.argsort(middle[usable], kind="stable")]
            values, running = middle[order], np.concatenate(([0.0], np.cumsum(counts[order])))
            ends = np.sort(np.stack((values / (1 + tolerance), values / max(1 - tolerance, _ROUNDING))), axis=0)
            right = running[np.searchsorted(values, ends[1], side="right")] - running[np.searchsorted(values, ends[0])]
            counts = np.zeros(len(counts))
            counts[order] = right
    return np.flatnonzero((counts == counts.max()) & (counts > 0)) if len(counts) else np.zeros(0, dtype=np.int64)
