"""The records above a threshold in ever larger turns, in an order that does not depend on where their rows stand.

A turn sees what the turns before it took, so who comes first matters. Records come by falling risk, those of equal risk by
their values in the order of the codes (which is that of the values, on every engine), and records that are alike in all that
the measure sees are never parted, because nothing but their row could tell which of them comes first. So the rows of a table
may be shuffled: the records that lose values are the same ones, or others that are alike in every attribute of the measure
and lose the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.targeting.state import Targets

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIRST_SHARE = 64
"""The first turn holds one of so many records; each later one twice as many as the one before."""


def turns(table: Targets, rows: NDArray[np.int64], risk: NDArray[np.float64]) -> Iterator[NDArray[np.int64]]:
    """The rows in turns, the riskiest first. A turn ends with the last record of its kind: O(n log n) for n rows."""
    if not len(rows):
        return
    keys = _content(table, rows)
    order = np.lexsort((*keys[::-1], -risk))
    ends = np.append(_differ(risk[order]), True)  # the last record ends the last kind
    for key in keys:
        ends[:-1] |= _differ(key[order])
    last = np.flatnonzero(ends) + 1
    begin, size = 0, max(1, len(rows) // _FIRST_SHARE)
    while begin < len(rows):
        end = int(last[np.searchsorted(last, min(begin + size, len(rows)))])
        yield rows[order[begin:end]]
        begin, size = end, 2 * size


def _content(table: Targets, rows: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    """What the measure sees of each record: codes of what may be known; blanks and weights of what can only be learnt."""
    width = table.tree.width
    nulls, weights = table.nulls(rows), table.weight(rows)
    known: list[NDArray[np.float64]] = [column.codes[rows].astype(np.float64) for column in table.columns[:width]]
    learnt = [part for at in range(width, len(table.names)) for part in (nulls[:, at].astype(np.float64), weights[:, at])]
    return [*known, *learnt]


def _differ(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(values[1:] != values[:-1])
