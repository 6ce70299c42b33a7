"""Which original record each masked record comes from, where that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

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
            f"records and {original.source} {len(original):,}; measure the release itself, or give the link of mask --link"
        )
    return found


LINK = "record"
"""The column of a link."""


def link_of(masked: Microdata) -> pl.DataFrame:
    """The link as its owner keeps it: for each masked row the number of its original from 1, null where it was simulated."""
    numbers = pl.Series(LINK, masked.records + 1)
    return numbers.to_frame().select(pl.when(pl.col(LINK) > 0).then(pl.col(LINK)))


def with_link(masked: Microdata, original: Microdata, link: Microdata) -> Microdata:
    """A masked table whose rows are tied to their originals by a link; raises where the link is not theirs."""
    check_link(link.source, len(link) if LINK in link.columns and link.frame[LINK].dtype.is_integer() else None, masked)
    numbers = link.frame[LINK]
    known = numbers.drop_nulls()
    outside = known.filter((known < 1) | (known > len(original)))
    if len(outside):
        raise DataError(f"{link.source}: names the record {outside[0]:,}, but {original.source} has {len(original):,}")
    if known.n_unique() != len(known):
        raise DataError(f"{link.source}: names the record {known.filter(known.is_duplicated())[0]:,} twice")
    simulated = -1 - np.cumsum(numbers.is_null().to_numpy())
    known_rows = numbers.fill_null(1).to_numpy().astype(np.int64) - 1
    named = original.records[known_rows] if len(original) else known_rows
    return masked.replace(masked.frame, np.where(numbers.is_null().to_numpy(), simulated, named))


def check_link(source: str, rows: int | None, masked: Any) -> None:
    """Raise where a link has no numbers (``rows`` is None), or not as many as the masked table has rows."""
    if rows is None:
        raise DataError(f"{source}: a link has a column '{LINK}' with the number of each masked row's original")
    if rows != len(masked):
        raise DataError(f"{source}: links {rows:,} rows, but {masked.source} has {len(masked):,}; it is another's link")
