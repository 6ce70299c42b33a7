"""Which original record each masked record comes from, where that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import DataError
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


def linked(masked: Microdata, original: Microdata) -> NDArray[np.int64] | None:
    """For each masked record the row of its original, -1 where it was simulated; None where nobody knows.

    A release carries its record numbers. A masked table read from a file does not: its rows are taken to be the
    original's in their order where both tables have the same length, and are unknown otherwise.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 55, 66]}, key=["age"])
    >>> linked(data.take(np.array([2, 0])), data)
    array([2, 0])
    """
    if len(masked) != len(original) and masked.is_initial and original.is_initial:
        # 0, 1, 2, … is what a table read from a file says of itself, and what a release says that lost its last rows only
        return None
    return rows_of(masked.records, original.records)


def rows_of(records: NDArray[np.int64], among: NDArray[np.int64]) -> NDArray[np.int64]:
    """The position of each record number among others, -1 where it is not there."""
    order = np.argsort(among, kind="stable")
    places = np.searchsorted(among[order], records)
    inside = np.minimum(places, max(len(among) - 1, 0))
    found = np.full(len(records), -1, dtype=np.int64)
    if len(among):
        known = (records >= 0) & (among[order[inside]] == records)
        found[known] = order[inside[known]]
    return found


def links_or_raise(masked: Microdata, original: Microdata, measure: str) -> NDArray[np.int64]:
    """The links, or an error that says how to have them."""
    found = linked(masked, original)
    if found is None:
        raise DataError(
            f"{measure} needs to know which original record each masked one comes from, but {masked.source} has {len(masked):,} "
            f"records and {original.source} {len(original):,}; measure the release itself, or tables of equal length and order"
        )
    return found
