"""Records that two searches of a release have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.compiled import interpreted_if_few

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEW = 5_000
"""Rows up to which loading the compiled code would take longer than the count."""


# One pass over the near rows of both searches of each person and over the pairs of the first ones: O(near rows + their pairs).
@interpreted_if_few(_FEW)
def count_common_records(
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    tied: NDArray[np.bool_],
    other_offsets: NDArray[np.int64],
    other_rows: NDArray[np.int64],
    other_tied: NDArray[np.bool_],
    pair_starts: NDArray[np.int64],
    pair_rows: NDArray[np.int64],
    pair_counts: NDArray[np.int64],
    others: int,
) -> NDArray[np.int64]:
    """For each person the records that both searches find: sure and sure, sure and tied, tied and sure, tied and tied.

    The records of row r of the first search are pair_counts of the rows pair_rows of the second one, from pair_starts[r] on;
    ``others`` is the number of rows of the second search.
    """
    people = len(offsets) - 1
    common = np.zeros((people, 4), dtype=np.int64)
    state = np.zeros(others, dtype=np.int64)  # of each row of the second search: 0 not near, 1 nearer than the last, 2 as near
    for person in range(people):
        for index in range(other_offsets[person], other_offsets[person + 1]):
            state[other_rows[index]] = 2 if other_tied[index] else 1
        for index in range(offsets[person], offsets[person + 1]):
            base = 2 if tied[index] else 0
            for pair in range(pair_starts[rows[index]], pair_starts[rows[index] + 1]):
                if state[pair_rows[pair]] > 0:
                    common[person, base + state[pair_rows[pair]] - 1] += pair_counts[pair]
        for index in range(other_offsets[person], other_offsets[person + 1]):
            state[other_rows[index]] = 0
    return common
