"""The records above a threshold in turns of growing size, in an order that does not depend on the order of the rows.

A turn sees the changes of earlier turns, so the order matters. Records are sorted by falling risk, records with equal risk by
their values in the order of the codes (that of the values on every engine). Records that are identical in everything that the
measure reads are never split, because only their row numbers could decide which of them comes first. So the rows of a table may
be shuffled: the same records are changed, or others that are identical in every attribute of the measure and change alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.targeting.state import TargetingState

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIRST_SHARE = 64
"""The first turn contains this fraction (1 / 64) of the records; each later turn twice as many as the one before."""


def order_in_turns(table: TargetingState, rows: NDArray[np.int64], risk: NDArray[np.float64]) -> Iterator[NDArray[np.int64]]:
    """The rows in turns, the highest risk first; identical records are in the same turn. O(n log n) for n rows."""
    if not len(rows):
        return
    keys = _measured_content(table, rows)
    order = np.lexsort((*keys[::-1], -risk))
    ends = np.append(_differs_from_previous(risk[order]), True)  # the last record ends the last group of identical records
    for key in keys:
        ends[:-1] |= _differs_from_previous(key[order])
    last = np.flatnonzero(ends) + 1
    begin, size = 0, max(1, len(rows) // _FIRST_SHARE)
    while begin < len(rows):
        end = int(last[np.searchsorted(last, min(begin + size, len(rows)))])
        yield rows[order[begin:end]]
        begin, size = end, 2 * size


def _measured_content(table: TargetingState, rows: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    """What the measure reads of each record: codes of attributes that may be known; nulls and weights of the other attributes."""
    width = table.tree.width
    nulls, weights = table.nulls(rows), table.record_weights(rows)
    known: list[NDArray[np.float64]] = [column.codes[rows].astype(np.float64) for column in table.columns[:width]]
    unknown = [key for index in range(width, len(table.names)) for key in (nulls[:, index].astype(np.float64), weights[:, index])]
    return [*known, *unknown]


def _differs_from_previous(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(values[1:] != values[:-1])
