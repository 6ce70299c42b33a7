"""Data intrusion simulation (DIS): the probability that a match is correct, spread over the records by their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Pairs = Literal["records", "pairs"]


def probability_of_correct_match(uniques: int, in_pairs: int, fraction: float, pairs: Pairs) -> float:
    """D = U f / (U f + P (1 - f)): the probability that a unique match with the file is correct (Skinner & Elliot 2002).

    ``in_pairs`` are the records in classes of exactly two. ``pairs``: P counts these records, or the classes.
    """
    matches = uniques * fraction
    mismatches = (in_pairs if pairs == "records" else in_pairs / 2) * (1 - fraction)
    return matches / (matches + mismatches) if uniques else 0.0


def simulate_intrusion(
    scores: NDArray[np.float64], keys: int, uniques: int, in_pairs: int, fraction: float, pairs: Pairs
) -> NDArray[np.float64]:
    """DIS_i = 1 / (1 + (U/D - U) / (s_i^Q A)), Q = 1 + (8 - m) / 20, A = sum over records of s^-Q; 0 where the score is 0.

    D is spread over the records by their scores: records with equal scores have DIS = D.
    """
    dis = np.zeros(len(scores))
    scored = scores > 0
    if not scored.any() or not uniques:
        return dis
    exponent = 1 + (8 - keys) / 20
    # scores relative to the largest one: s^Q A does not change, and neither power can overflow
    relative = np.power(scores[scored] / scores.max(), exponent)
    inverse_sum = float(np.sort(1 / relative).sum())
    correct = probability_of_correct_match(uniques, in_pairs, fraction, pairs)
    dis[scored] = 1 / (1 + (uniques / correct - uniques) / (relative * inverse_sum))
    return dis
