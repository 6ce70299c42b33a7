"""Equivalence classes of records: dense class numbers, class sizes, and counts of agreeing rows where nulls are wildcards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.encoding.columns import Column
from discreet.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TABLE_PER_RECORD = 4
_TABLE_LEAST = 1 << 16
_FEW_PATTERN_PAIRS = 64
_MOST_GROUPED = 100_000_000_000
_COMPILED_LEAST = 50_000
"""Records from which on classes are numbered by compiled code; below, loading it would take longer."""
_GROUPING_COST = 10
"""How many rows can be compared in the time in which one row is grouped."""


def refine_groups(ids: NDArray[np.int64], number: int, codes: NDArray[Any], cardinality: int) -> tuple[NDArray[np.int64], int]:
    """Split groups by one more attribute; the group numbers stay dense."""
    keys = ids * cardinality + codes
    key_count = number * cardinality
    if key_count <= max(_TABLE_LEAST, _TABLE_PER_RECORD * len(ids)):
        present = np.zeros(key_count, dtype=np.bool_)
        present[keys] = True
        table = np.cumsum(present, dtype=np.int64) - 1
        return table[keys], int(table[-1]) + 1 if key_count else 0
    occurring, dense = np.unique(keys, return_inverse=True)
    return dense.astype(np.int64, copy=False), len(occurring)


def group_ids(columns: Sequence[tuple[NDArray[Any], int]], size: int) -> tuple[NDArray[np.int64], int]:
    """A dense group number per record, the same where all ``(codes, cardinality)`` columns agree, and the number of groups."""
    ids, number = np.zeros(size, dtype=np.int64), min(size, 1)
    for codes, cardinality in sorted(columns, key=lambda column: column[1]):
        ids, number = refine_groups(ids, number, codes, cardinality)
    return ids, number


def group_columns(columns: Sequence[Column], size: int) -> tuple[NDArray[np.int64], int]:
    """Group numbers by encoded columns, null being one more value, and the number of groups."""
    return group_ids([(column.codes, column.cardinality) for column in columns], size)


def number_classes(columns: Sequence[Column], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The equivalence class of each record, null being one more value, and the size of each class; in any order."""
    if len(columns) == 1 and size >= _COMPILED_LEAST:
        counts = np.bincount(columns[0].codes, minlength=columns[0].cardinality)
        if counts.all():  # the codes of one attribute are its classes, unless a value of its dictionary does not occur
            return columns[0].codes.astype(np.int64), counts
    ids, number = number_distinct_rows([(column.codes, column.cardinality) for column in columns], size)
    return ids, np.bincount(ids, minlength=number)


def number_distinct_rows(columns: Sequence[tuple[NDArray[Any], int]], size: int) -> tuple[NDArray[np.int64], int]:
    """As :func:`group_ids`, but with numbers in any order, and in compiled code for many records."""
    if size < _COMPILED_LEAST:
        return group_ids(columns, size)
    from discreet.engine.classes.distinct import number_rows

    rows = number_rows(columns, size)
    assert rows is not None
    return rows.of.astype(np.int64), len(rows)


def class_sizes(columns: Sequence[Column], size: int, *, wildcard: bool = False) -> NDArray[np.int64]:
    """For each record the size of its equivalence class: the records that agree with it on all columns, itself included.

    A null agrees with another null only, or with anything (on either side) where ``wildcard``.
    """
    if wildcard and any(column.has_null for column in columns):
        codes = [column.codes for column in columns]
        nulls = [column.null_code for column in columns]
        return count_agreeing_rows(codes, codes, [column.cardinality for column in columns], nulls)
    ids, sizes = number_classes(columns, size)
    return sizes[ids]


def refuse_nulls_beside_original(measure: str, columns: Sequence[Column], missing: str, original: object) -> None:
    """Raise DataError where the measure does not cover an intruder who knows the original values: nulls of keys are no values.

    Without such nulls this intruder learns no more than the classes of the release show: the original key values of a record
    agree with its own released cells, and so with those of its whole class.
    """
    if original is not None and missing != "category" and (blank := [column.name for column in columns if column.has_null]):
        effect = "lets a null agree with anything" if missing == "wildcard" else "takes a null for no value"
        raise DataError(
            f"{measure} is not defined for an intruder who knows the original values where '{blank[0]}' is suppressed and "
            f"missing: {missing} {effect}; use missing: category, or a limit on known_sets or k_anonymity"
        )


def count_agreeing_rows(
    queries: Sequence[NDArray[Any]],
    table: Sequence[NDArray[Any]],
    cardinalities: Sequence[int],
    nulls: Sequence[int | None],
    weights: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """For each query the number of rows of the table that agree with it on all attributes that neither of them lacks.

    Both sides are code arrays over shared dictionaries, one array per attribute; ``nulls`` are the codes that agree with
    anything, and ``weights`` the multiplicity (an integer) or the weight (a float) of each row. The count is exact and goes by
    patterns of nulls: rows that lack the same attributes are counted together, so the cost is (patterns of the queries) x
    (patterns of the table) groupings of distinct rows. Where comparing each query with the rows that share its rarest value is
    cheaper, that is done instead.
    """
    if not queries:
        raise DataError("counting needs at least one attribute")
    query_rows, query_index = distinct_rows(queries, cardinalities)
    table_rows, table_index = distinct_rows(table, cardinalities)
    kind = np.float64 if weights is not None and weights.dtype.kind == "f" else np.int64
    multiplicities = np.bincount(table_index, weights=weights, minlength=len(table_rows[0])).astype(kind)
    query_patterns = rows_by_null_pattern(query_rows, nulls)
    table_patterns = rows_by_null_pattern(table_rows, nulls)
    if len(query_patterns) * len(table_patterns) > _FEW_PATTERN_PAIRS:
        from discreet.engine.classes.postings import choose_rarest_attribute, count_by_postings

        attribute, fewest = choose_rarest_attribute(query_rows, table_rows, cardinalities, nulls)
        grouped_rows = len(table_patterns) * len(query_rows[0]) + len(query_patterns) * len(table_rows[0])
        if fewest.sum() < _GROUPING_COST * grouped_rows:
            return count_by_postings(query_rows, table_rows, cardinalities, nulls, multiplicities, attribute)[query_index]
        if grouped_rows > _MOST_GROUPED:
            raise DataError(
                f"nulls stand in {len(query_patterns):,} and {len(table_patterns):,} different patterns, too many to compare; "
                "use missing: category, or fewer attributes"
            )
    totals = np.zeros(len(query_rows[0]), dtype=kind)
    for table_pattern, rows_of_pattern in table_patterns.items():
        for query_pattern, queries_of_pattern in query_patterns.items():
            known_to_both = [
                column for column in range(len(query_rows)) if not (table_pattern >> column | query_pattern >> column) & 1
            ]
            if not known_to_both:
                totals[queries_of_pattern] += multiplicities[rows_of_pattern].sum()
                continue
            stacked = [
                (
                    np.concatenate((table_rows[column][rows_of_pattern], query_rows[column][queries_of_pattern])),
                    cardinalities[column],
                )
                for column in known_to_both
            ]
            ids, number = group_ids(stacked, len(rows_of_pattern) + len(queries_of_pattern))
            counts = np.bincount(ids[: len(rows_of_pattern)], weights=multiplicities[rows_of_pattern], minlength=number)
            totals[queries_of_pattern] += counts[ids[len(rows_of_pattern) :]].astype(kind)
    return totals[query_index]


def distinct_rows(codes: Sequence[NDArray[Any]], cardinalities: Sequence[int]) -> tuple[list[NDArray[Any]], NDArray[np.int64]]:
    """The distinct rows, and for each row the index of its distinct row."""
    size = len(codes[0])
    ids, number = group_ids(list(zip(codes, cardinalities, strict=True)), size)
    first = np.empty(number, dtype=np.int64)
    first[ids[::-1]] = np.arange(size - 1, -1, -1)
    return [column[first] for column in codes], ids


def rows_by_null_pattern(codes: Sequence[NDArray[Any]], nulls: Sequence[int | None]) -> dict[int, NDArray[np.int64]]:
    """Rows by the attributes they lack, as a bit mask in a Python integer (for any number of attributes)."""
    size = len(codes[0])
    flags = [(column == null).astype(np.uint8) if null is not None else None for column, null in zip(codes, nulls, strict=True)]
    present = [(index, flag) for index, flag in enumerate(flags) if flag is not None and flag.any()]
    ids, number = group_ids([(flag, 2) for _, flag in present], size)
    if not present:
        return {0: np.arange(size)} if size else {}
    order = np.argsort(ids, kind="stable")
    bounds = np.searchsorted(ids[order], np.arange(number + 1))
    rows = [order[bounds[group] : bounds[group + 1]] for group in range(number)]
    return {sum(1 << index for index, flag in present if flag[members[0]]): members for members in rows}
