"""Compiled kernels of the walk over sets of keys: split groups of rows by one more key, and flag the rows that are alone.

Rows stand in the order of their groups, so that a table of one counter per code of the next key suffices for every group: no
hashing, O(rows) per set whatever the number of combinations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.runtime.compiled import compiled_unless_small
from discreet.engine.special_uniques import small_kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SMALL = 1 << 14
"""Rows up to which sorting with NumPy is fast enough for a few hundred sets."""


# rows[bounds[g] : bounds[g + 1]]: the distinct rows of group g. codes[row]: code of the key that is added. records[row]: 1 where
# one record has the row, else 2 (more than one). tally: zeros, one per code; they are zeros again at the end.
@compiled_unless_small(small_kernels.flag_uniques, _SMALL)
def flag_uniques(
    rows: NDArray[np.int32],
    bounds: NDArray[np.int32],
    codes: NDArray[Any],
    records: NDArray[np.uint8],
    null_code: int,
    tally: NDArray[np.int32],
    flags: NDArray[np.bool_],
) -> None:
    """Flag the rows that no other record shares the group and the code with; rows with ``null_code`` (-1: none) do not count."""
    for group in range(len(bounds) - 1):
        for at in range(bounds[group], bounds[group + 1]):
            row = rows[at]
            if codes[row] != null_code:
                tally[codes[row]] += records[row]
        for at in range(bounds[group], bounds[group + 1]):
            row = rows[at]
            # a code with a tally of 1 has no second row, so the tally can be reset in the same pass
            if tally[codes[row]] == 1:
                flags[row] = True
            tally[codes[row]] = 0


# offsets: one per code, no matter what it holds. Subgroups come in the order in which their codes first occur in their group.
@compiled_unless_small(small_kernels.refine_groups, _SMALL)
def refine_groups(
    rows: NDArray[np.int32],
    bounds: NDArray[np.int32],
    codes: NDArray[Any],
    candidates: int,
    null_code: int,
    least: int,
    tally: NDArray[np.int32],
    offsets: NDArray[np.int32],
    flags: NDArray[np.bool_],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Split groups by one more key; only subgroups of at least ``least`` rows with a candidate (row < ``candidates``) are kept.

    A subgroup without a candidate holds no sample unique; a subgroup of one row is alone in every larger set too, where it is not
    minimal. Candidates that are alone in their subgroup are flagged.
    """
    new_rows = np.empty(len(rows), dtype=np.int32)
    new_bounds = np.empty(len(rows) + 1, dtype=np.int32)
    has_candidate = np.zeros(len(tally), dtype=np.bool_)
    new_bounds[0] = 0
    number = 0
    filled = 0
    for group in range(len(bounds) - 1):
        for at in range(bounds[group], bounds[group + 1]):
            code = codes[rows[at]]
            if code != null_code:
                tally[code] += 1
                if rows[at] < candidates:
                    has_candidate[code] = True
        for at in range(bounds[group], bounds[group + 1]):
            code = codes[rows[at]]
            if tally[code] == 1 and rows[at] < candidates:
                flags[rows[at]] = True
            if tally[code] > 0:  # the first row of its code: the subgroup gets its place
                if has_candidate[code] and tally[code] >= least:
                    offsets[code] = filled
                    filled += tally[code]
                    number += 1
                    new_bounds[number] = filled
                else:
                    offsets[code] = -1
                tally[code] = 0
                has_candidate[code] = False
            if code != null_code and offsets[code] >= 0:
                new_rows[offsets[code]] = rows[at]
                offsets[code] += 1
    return new_rows[:filled].copy(), new_bounds[: number + 1].copy()
