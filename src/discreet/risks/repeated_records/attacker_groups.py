"""Groups for intruders who know more than the key values: the person's number of records, or all records of the person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.classes.groups import count_agreeing_rows, distinct_rows, group_ids, refine_groups, rows_by_null_pattern
from discreet.engine.classes.persons import Persons
from discreet.engine.encoding.columns import Column, encode_series
from discreet.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ENTRIES = 50_000_000


def split_by_record_count(group: NDArray[np.int64], groups: int, persons: Persons) -> tuple[NDArray[np.int64], int]:
    """Split groups by the number of records of each record's person in the table."""
    column = record_count_column(persons)
    return refine_groups(group, groups, column.codes, column.cardinality)


def record_count_column(persons: Persons) -> Column:
    """The number of records of each record's person, as a further key."""
    totals = np.bincount(persons.codes, minlength=persons.number)[persons.codes]
    return encode_series(pl.Series("records of the person", totals))


def group_by_all_records(group: NDArray[np.int64], persons: Persons) -> tuple[NDArray[np.int64], int]:
    """Group the records of all persons who have the same multiset of groups: one composite key per person.

    The sorted list of each person's groups is read position by position; persons who agree so far share a number.
    """
    order = np.lexsort((group, persons.codes))
    totals = np.bincount(persons.codes, minlength=persons.number)
    starts = np.cumsum(totals) - totals
    numbers = np.zeros(persons.number, dtype=np.int64)
    next_number, position, width = 1, 0, int(group.max(initial=0)) + 1
    unfinished = np.argsort(
        totals, kind="stable"
    )  # persons in order of their number of records; those whose lists end drop out attribute the front
    while len(unfinished := unfinished[np.searchsorted(totals[unfinished], position, side="right") :]):
        pairs = numbers[unfinished] * width + group[order[starts[unfinished] + position]]
        distinct, dense = np.unique(pairs, return_inverse=True)
        numbers[unfinished] = next_number + dense
        next_number, position = next_number + len(distinct), position + 1
    occurring, dense = np.unique(numbers, return_inverse=True)
    return dense[persons.codes].astype(np.int64, copy=False), len(occurring)


def agreeing_entries(columns: Sequence[Column], group: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs (group, record) of the records that agree with each group, where a null agrees with anything on either side.

    ``group`` numbers the distinct rows of the columns. The number of pairs is the sum over the groups of their class sizes.
    """
    codes = [column.codes for column in columns]
    cardinalities = [column.cardinality for column in columns]
    nulls = [column.null_code for column in columns]
    first = np.unique(group, return_index=True)[1]
    query_codes = [column[first] for column in codes]
    total = int(count_agreeing_rows(query_codes, codes, cardinalities, nulls).sum())
    if total > MOST_ENTRIES:
        raise DataError(
            f"with missing: wildcard {total:,} pairs of a group and a record would be compared "
            f"(attribute most {MOST_ENTRIES:,}); use missing: category, or fewer keys"
        )
    row_codes, row_index = distinct_rows(codes, cardinalities)
    members = np.argsort(row_index, kind="stable")
    sizes = np.bincount(row_index, minlength=len(row_codes[0]))
    begins = np.cumsum(sizes) - sizes
    pairs = []
    for row_pattern, rows_of_pattern in rows_by_null_pattern(row_codes, nulls).items():
        for query_pattern, queries_of_pattern in rows_by_null_pattern(query_codes, nulls).items():
            known_to_both = [
                attribute for attribute in range(len(codes)) if not (row_pattern >> attribute | query_pattern >> attribute) & 1
            ]
            stacked = [
                (
                    np.concatenate((row_codes[attribute][rows_of_pattern], query_codes[attribute][queries_of_pattern])),
                    cardinalities[attribute],
                )
                for attribute in known_to_both
            ]
            ids, number = group_ids(stacked, len(rows_of_pattern) + len(queries_of_pattern))
            pairs.append(
                _pairs_with_equal_ids(
                    ids[len(rows_of_pattern) :], queries_of_pattern, ids[: len(rows_of_pattern)], rows_of_pattern, number
                )
            )
    rows = np.concatenate([row for _, row in pairs])
    group_of_pair = np.concatenate([groups for groups, _ in pairs])
    return np.repeat(group_of_pair, sizes[rows]), members[_concatenate_ranges(begins[rows], sizes[rows])]


def _pairs_with_equal_ids(
    left: NDArray[np.int64], left_rows: NDArray[np.int64], right: NDArray[np.int64], right_rows: NDArray[np.int64], number: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of rows with the same id on both sides."""
    order = np.argsort(right, kind="stable")
    sizes = np.bincount(right, minlength=number)
    begins = np.cumsum(sizes) - sizes
    return np.repeat(left_rows, sizes[left]), right_rows[order[_concatenate_ranges(begins[left], sizes[left])]]


def _concatenate_ranges(begins: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The ranges begin, begin + 1, …, begin + size - 1, concatenated."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(begins - (ends - sizes), sizes))
