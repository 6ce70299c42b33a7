"""The loop that adds up, set by set, what all queries together contribute; see :mod:`.influence`.

``columns[slot]`` are the query's C and the weights of its singles, each times the number of records it stands for; ``own`` and
``alone`` are ``[pattern, 1 + singles]`` sums of one set: over queries that share their values with others, divided by the count,
and over queries that are alone, which stay so in every larger set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled_unless_small


def gather_few(
    active: Any, counts: Any, pattern: Any, columns: Any, kept: Any, kept_below: Any, own: Any, alone: Any, likelihood: Any
) -> None:
    """The same as :func:`gather` with NumPy alone."""
    number, shape = counts[active], pattern[active]
    single, inverse = number == 1, 1.0 / number
    part = columns[active]
    np.add.at(alone, shape[single], part[single])
    np.add.at(own, shape[~single], part[~single] * inverse[~single, None])
    likelihood[active] += np.where(single, kept_below[shape], kept[shape] * inverse)


@compiled_unless_small(gather_few)
def gather(
    active: Any, counts: Any, pattern: Any, columns: Any, kept: Any, kept_below: Any, own: Any, alone: Any, likelihood: Any
) -> None:
    """Add the active queries of one set to its sums, and PK(S) / count to each query's likelihood. O(active * singles).

    ``kept[pattern]`` is PK(S), ``kept_below[pattern]`` its sum over the subtree, which a query that is alone gets at once.
    Trap: ``own`` and ``alone`` are shared by all queries, so slices must not run on several threads.
    """
    width = columns.shape[1]
    for at in range(len(active)):
        slot = active[at]
        shape = pattern[slot]
        if counts[slot] == 1:
            for column in range(width):
                alone[shape, column] += columns[slot, column]
            likelihood[slot] += kept_below[shape]
        else:
            inverse = 1.0 / counts[slot]
            for column in range(width):
                own[shape, column] += columns[slot, column] * inverse
            likelihood[slot] += kept[shape] * inverse
