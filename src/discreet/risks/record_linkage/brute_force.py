"""Brute-force search for the originals that are at least as near to a masked record as its own original.

The distance to an original is computed only until it exceeds that of the record's own original.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SAME = 1e-9


# codes[attribute]: the categories of a masked record; costs, first, last and starts: at offsets[attribute] + original code.
# members: the masked codes that agree with an original category beside those from first to last. O(categories + members).
@compiled
def _fill_costs(
    codes: NDArray[np.int64], blanks: NDArray[np.int64], offsets: NDArray[np.int64], first: NDArray[np.int64],
    last: NDArray[np.int64], starts: NDArray[np.int64], members: NDArray[np.int64], costs: NDArray[np.float64],
) -> None:  # fmt: skip
    """What each original category adds to the squared distance from a masked record: 0 where it agrees, else 1."""
    for attribute in range(len(codes)):
        code = codes[attribute]
        for value in range(offsets[attribute], offsets[attribute + 1]):
            cost = 0.0
            if code != blanks[attribute] and not first[value] <= code < last[value]:
                cost = 1.0
                for index in range(starts[value], starts[value + 1]):
                    if members[index] == code:
                        cost = 0.0
                        break
            costs[value] = cost


# originals[row, number], masked[row, number]: standardised numbers, NaN where missing. original_codes[row, attribute] and
# masked_codes[row, attribute]: categories. first/last and starts/members, at offsets[attribute] + original code: the masked codes
# that agree with an original category. own[row]: the masked record's original. O(masked x originals x attributes) in the worst
# case. Trap: distances are compared with a relative slack (_SAME), because equal distances may differ in the last bits.
@compiled
def count_nearer(
    originals: NDArray[np.float64], masked: NDArray[np.float64], original_codes: NDArray[np.int64],
    masked_codes: NDArray[np.int64], blanks: NDArray[np.int64], offsets: NDArray[np.int64], first: NDArray[np.int64],
    last: NDArray[np.int64], starts: NDArray[np.int64], members: NDArray[np.int64], own: NDArray[np.int64], enough: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """For each masked record the number of originals nearer than its own, and of those equally near (its own included).

    Counting stops when ``enough`` are nearer. ``costs`` holds for the current masked record what each original category adds to
    the squared distance, so that a pair costs one lookup per attribute.
    """
    size, numbers, attributes = len(originals), originals.shape[1], original_codes.shape[1]
    nearer = np.zeros(len(masked), dtype=np.int64)
    ties = np.ones(len(masked), dtype=np.int64)
    costs = np.zeros(offsets[-1], dtype=np.float64)
    for row in range(len(masked)):
        _fill_costs(masked_codes[row], blanks, offsets, first, last, starts, members, costs)
        bound, tie_count, nearer_count, above = np.inf, 0, 0, np.inf
        # the own original first (candidate -1), for the bound; then all originals
        for candidate in range(-1, size):
            original = own[row] if candidate < 0 else candidate
            total = 0.0
            for attribute in range(attributes):
                total += costs[offsets[attribute] + original_codes[original, attribute]]
                if total > above:
                    break
            for number in range(numbers):
                if total > above:
                    break
                masked_value = masked[row, number]
                if not np.isnan(masked_value):
                    difference = originals[original, number] - masked_value
                    total += 1.0 if np.isnan(difference) else difference * difference
            if candidate < 0:
                bound = total
                above = bound * (1 + 2 * _SAME)
            elif total < bound * (1 - 2 * _SAME):
                nearer_count += 1
                if nearer_count >= enough:
                    break
            elif total <= above:
                tie_count += 1
        nearer[row] = nearer_count
        ties[row] = max(tie_count, 1)
    return nearer, ties
