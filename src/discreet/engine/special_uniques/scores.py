"""What a minimal sample unique of k of m keys adds to the score of its record."""

from __future__ import annotations

from math import factorial, prod
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Scores = Literal["elliot", "factorial", "sdcmicro"]


def score_of_size(scores: Scores, keys: int, size: int, max_size: int) -> float:
    """The score of one minimal sample unique.

    ``elliot``: product over i = k .. M of (ATT - i) (Elliot, Manning & Ford 2002), M being ``max_size``; the factor 0 at
    i = ATT is left out, because every score would be 0. ``factorial``: (m - k)!, which is the same for M >= m - 1.
    ``sdcmicro``: (2^(m-k) - 1) k! (m - k)! / m!, which is 0 for a set of all keys.

    >>> [score_of_size("elliot", 8, size, 3) for size in (1, 2, 3)]
    [210.0, 30.0, 5.0]
    """
    if scores == "elliot":
        return float(prod(keys - i for i in range(size, min(max_size, keys - 1) + 1)))
    if scores == "factorial":
        return float(factorial(keys - size))
    return ((1 << (keys - size)) - 1) * factorial(size) * factorial(keys - size) / factorial(keys)


def weigh_sizes(scores: Scores, keys: int, max_size: int) -> NDArray[np.float64]:
    """The score of a minimal sample unique of 1, 2, ... keys."""
    return np.array([score_of_size(scores, keys, size, max_size) for size in range(1, min(max_size, keys) + 1)])


def sum_scores(by_record: NDArray[np.uint32], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The score of each record from its numbers of minimal sample uniques (``by_record[size - 1, record]``).

    Large sets first, always in this order: a record that a method leaves at the threshold is there for the measure too.
    """
    total = np.zeros(by_record.shape[1], dtype=np.float64)
    for size in range(len(weights), 0, -1):
        total += by_record[size - 1] * weights[size - 1]
    return total
