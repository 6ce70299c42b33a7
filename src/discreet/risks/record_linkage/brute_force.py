"""Looking through all originals for those as near to a masked record as its own, leaving each as soon as it is too far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SAME = 1e-9


@compiled
def look(
    originals: NDArray[np.float64], masked: NDArray[np.float64], codes: NDArray[np.int64], asked: NDArray[np.int64],
    blanks: NDArray[np.int64], offsets: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64],
    starts: NDArray[np.int64], members: NDArray[np.int64], own: NDArray[np.int64], enough: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """For each masked record: originals nearer than its own, and those as near.

    Counting stops where ``enough`` are nearer. ``costs`` says for the masked record at hand what each original category
    adds to the squared distance, so that a pair costs one look an attribute.
    """
    size, numbers, attributes = len(originals), originals.shape[1], codes.shape[1]
    nearer = np.zeros(len(masked), dtype=np.int64)
    ties = np.ones(len(masked), dtype=np.int64)
    costs = np.zeros(offsets[-1], dtype=np.float64)
    for row in range(len(masked)):
        for attribute in range(attributes):
            code = asked[row, attribute]
            for value in range(offsets[attribute], offsets[attribute + 1]):
                cost = 0.0
                if code != blanks[attribute] and not first[value] <= code < last[value]:
                    cost = 1.0
                    for index in range(starts[value], starts[value + 1]):
                        if members[index] == code:
                            cost = 0.0
                            break
                costs[value] = cost
        bound, tied, near, above = np.inf, 0, 0, np.inf
        # its own original first, for the bound; then all of them
        for turn in range(-1, size):
            other = own[row] if turn < 0 else turn
            total = 0.0
            for attribute in range(attributes):
                total += costs[offsets[attribute] + codes[other, attribute]]
                if total > above:
                    break
            for number in range(numbers):
                if total > above:
                    break
                said = masked[row, number]
                if not np.isnan(said):
                    difference = originals[other, number] - said
                    total += 1.0 if np.isnan(difference) else difference * difference
            if turn < 0:
                bound = total
                above = bound * (1 + 2 * _SAME)
            elif total < bound * (1 - 2 * _SAME):
                near += 1
                if near >= enough:
                    break
            elif total <= above:
                tied += 1
        nearer[row] = near
        ties[row] = max(tied, 1)
    return nearer, ties
