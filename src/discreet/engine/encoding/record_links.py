"""Links between masked and original records: which original record each masked record comes from, where this is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.errors import DataError
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


def original_rows(masked: Microdata, original: Microdata) -> NDArray[np.int64] | None:
    """For each masked record the row of its original, -1 where it was simulated; None where the links are unknown.

    A release in memory carries its record numbers. A masked table read from a file does not: where both tables have the same
    length, its rows are taken to be in the order of the original; otherwise the links are unknown. Numbers 0, 1, 2, … alone do
    not tell: a release without the last records has them too.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 55, 66]}, key=["age"])
    >>> original_rows(data.take(np.array([2, 0])), data)
    array([2, 0])
    """
    if len(masked) != len(original) and masked.is_initial and original.is_initial and not masked.has_links:
        return None
    return positions_of_records(masked.records, original.records)


def positions_of_records(records: NDArray[np.int64], among: NDArray[np.int64]) -> NDArray[np.int64]:
    """The position of each record number in ``among``, -1 where it is absent."""
    order = np.argsort(among, kind="stable")
    ranks = np.searchsorted(among[order], records)
    index = np.minimum(ranks, max(len(among) - 1, 0))
    rows = np.full(len(records), -1, dtype=np.int64)
    if len(among):
        known = (records >= 0) & (among[order[index]] == records)
        rows[known] = order[index[known]]
    return rows


def require_original_rows(masked: Microdata, original: Microdata, measure: str) -> NDArray[np.int64]:
    """The row of each masked record's original; raises DataError where the links are unknown."""
    rows = original_rows(masked, original)
    if rows is None:
        raise DataError(
            f"{measure} needs to know which original record each masked one comes from, but {masked.source} has {len(masked):,} "
            f"records and {original.source} {len(original):,}; measure the release itself, or give the link of mask --link"
        )
    return rows


LINK_COLUMN = "record"
"""The column of a link table that holds the number of the original record, counted from 1."""


def link_table(records: NDArray[np.int64]) -> pl.DataFrame:
    """The link table: for each masked row the number of its original record, counted from 1; null where it was simulated."""
    numbers = pl.Series(LINK_COLUMN, records + 1)
    return numbers.to_frame().select(pl.when(pl.col(LINK_COLUMN) > 0).then(pl.col(LINK_COLUMN)))


def attach_link(masked: Microdata, original: Microdata, link: Microdata) -> Microdata:
    """The masked table with the record numbers of a link table; raises DataError where the link does not belong to it."""
    check_link(
        link.source, len(link) if LINK_COLUMN in link.columns and link.frame[LINK_COLUMN].dtype.is_integer() else None, masked
    )
    numbers = link.frame[LINK_COLUMN]
    known = numbers.drop_nulls()
    outside = known.filter((known < 1) | (known > len(original)))
    if len(outside):
        raise DataError(f"{link.source}: names record {outside[0]:,}, but {original.source} has {len(original):,}")
    if known.n_unique() != len(known):
        raise DataError(f"{link.source}: names record {known.filter(known.is_duplicated())[0]:,} twice")
    simulated = -1 - np.cumsum(numbers.is_null().to_numpy())
    known_rows = numbers.fill_null(1).to_numpy().astype(np.int64) - 1
    record_numbers = original.records[known_rows] if len(original) else known_rows
    return masked.replace(masked.frame, np.where(numbers.is_null().to_numpy(), simulated, record_numbers))


def check_link(source: str, rows: int | None, masked: Any) -> None:
    """Raise DataError where a link table has no numbers (``rows`` is None), or another number of rows than the masked table."""
    if rows is None:
        raise DataError(
            f"{source}: a link table needs an integer column '{LINK_COLUMN}' with the number of each row's original record"
        )
    if rows != len(masked):
        raise DataError(f"{source}: links {rows:,} rows, but {masked.source} has {len(masked):,}; it belongs to another release")
