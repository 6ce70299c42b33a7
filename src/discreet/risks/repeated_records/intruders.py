"""What an intruder can tell apart beyond the key values: records by their person's number of records, or by all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.classes.groups import _distinct_rows, _rows_by_null_pattern, count_agreeing_rows, group_ids, refine_groups
from discreet.engine.classes.persons import Persons
from discreet.engine.encoding.columns import Column, encode_series
from discreet.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ENTRIES = 50_000_000


def by_count(group: NDArray[np.int64], groups: int, persons: Persons) -> tuple[NDArray[np.int64], int]:
    """Split groups by how many records each record's person has in the table."""
    column = count_column(persons)
    return refine_groups(group, groups, column.codes, column.cardinality)


def count_column(persons: Persons) -> Column:
    """The number of records of each record's person, as one more key."""
    totals = np.bincount(persons.codes, minlength=persons.number)[persons.codes]
    return encode_series(pl.Series("records of the person", totals))


def by_all_records(group: NDArray[np.int64], persons: Persons) -> tuple[NDArray[np.int64], int]:
    """Put together the records of all persons who have the same multiset of groups: one composite key a person.

    The sorted list of a person's groups is read place by place; persons who agree so far share a number.
    """
    order = np.lexsort((group, persons.codes))
    totals = np.bincount(persons.codes, minlength=persons.number)
    starts = np.cumsum(totals) - totals
    numbers = np.zeros(persons.number, dtype=np.int64)
    known, place, width = 1, 0, int(group.max(initial=0)) + 1
    still = np.argsort(totals, kind="stable")  # falling off at the front as their lists end
    while len(still := still[np.searchsorted(totals[still], place, side="right") :]):
        pairs = numbers[still] * width + group[order[starts[still] + place]]
        distinct, dense = np.unique(pairs, return_inverse=True)
        numbers[still] = known + dense
        known, place = known + len(distinct), place + 1
    occurring, dense = np.unique(numbers, return_inverse=True)
    return dense[persons.codes].astype(np.int64, copy=False), len(occurring)


def agreeing_entries(columns: Sequence[Column], group: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which records agree with each group where a null agrees with anything on either side: pairs (group, record).

    ``group`` numbers the distinct rows of the columns. The pairs are as many as the class sizes add up to, once a group.
    """
    codes = [column.codes for column in columns]
    cardinalities = [column.cardinality for column in columns]
    nulls = [column.null_code for column in columns]
    first = np.unique(group, return_index=True)[1]
    asked = [column[first] for column in codes]
    total = int(count_agreeing_rows(asked, codes, cardinalities, nulls).sum())
    if total > MOST_ENTRIES:
        raise DataError(
            f"with nulls that agree with anything {total:,} pairs of a group and a record would be compared "
            f"(at most {MOST_ENTRIES:,}); use missing: category, or fewer keys"
        )
    held, back = _distinct_rows(codes, cardinalities)
    members = np.argsort(back, kind="stable")
    sizes = np.bincount(back, minlength=len(held[0]))
    begins = np.cumsum(sizes) - sizes
    pairs = []
    for held_pattern, held_rows in _rows_by_null_pattern(held, nulls).items():
        for asked_pattern, asked_rows in _rows_by_null_pattern(asked, nulls).items():
            both = [at for at in range(len(codes)) if not (held_pattern >> at | asked_pattern >> at) & 1]
            stacked = [(np.concatenate((held[at][held_rows], asked[at][asked_rows])), cardinalities[at]) for at in both]
            ids, number = group_ids(stacked, len(held_rows) + len(asked_rows))
            pairs.append(_meet(ids[len(held_rows) :], asked_rows, ids[: len(held_rows)], held_rows, number))
    rows = np.concatenate([row for _, row in pairs])
    where = np.concatenate([one for one, _ in pairs])
    return np.repeat(where, sizes[rows]), members[_ranges(begins[rows], sizes[rows])]


def _meet(
    left: NDArray[np.int64], left_rows: NDArray[np.int64], right: NDArray[np.int64], right_rows: NDArray[np.int64], number: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of rows with the same number on both sides."""
    order = np.argsort(right, kind="stable")
    sizes = np.bincount(right, minlength=number)
    begins = np.cumsum(sizes) - sizes
    return np.repeat(left_rows, sizes[left]), right_rows[order[_ranges(begins[left], sizes[left])]]


def _ranges(begins: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """begin, begin + 1, … as many as the size says, one range behind the other."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(begins - (ends - sizes), sizes))
