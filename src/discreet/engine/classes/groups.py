"""Groups of records that look alike: who shares a combination of values with whom, and how many they are."""

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
_DEARER_THAN_LOOKING = 10
"""How many rows can be looked at in the time in which one is grouped."""


def refine(ids: NDArray[np.int64], number: int, codes: NDArray[Any], cardinality: int) -> tuple[NDArray[np.int64], int]:
    """Split groups by one more attribute; ids stay dense."""
    keys = ids * cardinality + codes
    room = number * cardinality
    if room <= max(_TABLE_LEAST, _TABLE_PER_RECORD * len(ids)):
        present = np.zeros(room, dtype=np.bool_)
        present[keys] = True
        table = np.cumsum(present, dtype=np.int64) - 1
        return table[keys], int(table[-1]) + 1 if room else 0
    occurring, dense = np.unique(keys, return_inverse=True)
    return dense.astype(np.int64, copy=False), len(occurring)


def group_ids(columns: Sequence[tuple[NDArray[Any], int]], size: int) -> tuple[NDArray[np.int64], int]:
    """A dense group number a record for equal values in all of the ``(codes, cardinality)``, and how many groups there are."""
    ids, number = np.zeros(size, dtype=np.int64), min(size, 1)
    for codes, cardinality in sorted(columns, key=lambda column: column[1]):
        ids, number = refine(ids, number, codes, cardinality)
    return ids, number


def groups_of(columns: Sequence[Column], size: int) -> tuple[NDArray[np.int64], int]:
    """Groups by encoded columns, a null being one more value."""
    return group_ids([(column.codes, column.cardinality) for column in columns], size)


def class_sizes(columns: Sequence[Column], size: int, *, wildcard: bool = False) -> NDArray[np.int64]:
    """For each record how many records agree with it on all columns, itself included.

    A null agrees with another null only, or with anything (on either side) where ``wildcard``.
    """
    if wildcard and any(column.has_null for column in columns):
        codes = [column.codes for column in columns]
        nulls = [column.null_code for column in columns]
        return consistent_counts(codes, codes, [column.cardinality for column in columns], nulls)
    ids, number = groups_of(columns, size)
    return np.bincount(ids, minlength=number)[ids] if size else np.zeros(0, dtype=np.int64)


def refuse_wildcards_beside_original(measure: str, columns: Sequence[Column], missing: str, original: object) -> None:
    """Raise where an intruder who knows the original values is not covered: nulls in keys that agree with anything.

    Without such nulls he learns no more than the classes of the release tell: the true key values of a record agree with its own
    released cells, so with those of its whole class.
    """
    if original is not None and missing == "wildcard" and (blank := [column.name for column in columns if column.has_null]):
        raise DataError(
            f"{measure} is not defined for an intruder who knows the original values where '{blank[0]}' is suppressed and "
            "missing: wildcard lets a null agree with anything; use missing: category, or a limit on known_sets or k_anonymity"
        )


def consistent_counts(
    queries: Sequence[NDArray[Any]],
    table: Sequence[NDArray[Any]],
    cardinalities: Sequence[int],
    nulls: Sequence[int | None],
    weights: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """For each query how many rows of the table agree with it where both say something.

    Both sides are code arrays over shared dictionaries, an array an attribute; ``nulls`` are the codes that agree with
    anything. Exact, by patterns of nulls: rows with the same attributes missing are counted together, so the work is
    (patterns of the queries) x (patterns of the table) group counts on distinct rows. Where that is more than looking
    through the rows that share each query's rarest value, those are looked through. ``weights`` counts a row that often.
    """
    if not queries:
        raise DataError("counting needs at least one attribute")
    asked, asked_back = _distinct(queries, cardinalities)
    held, held_back = _distinct(table, cardinalities)
    times = np.bincount(held_back, weights=weights, minlength=len(held[0])).astype(np.int64)
    asked_patterns = _patterns(asked, nulls)
    held_patterns = _patterns(held, nulls)
    if len(asked_patterns) * len(held_patterns) > _FEW_PATTERN_PAIRS:
        from discreet.engine.classes.postings import posting_counts, rarest

        attribute, fewest = rarest(asked, held, cardinalities, nulls)
        grouping = len(held_patterns) * len(asked[0]) + len(asked_patterns) * len(held[0])
        if fewest.sum() < _DEARER_THAN_LOOKING * grouping:
            return posting_counts(asked, held, cardinalities, nulls, times, attribute)[asked_back]
        if grouping > _MOST_GROUPED:
            raise DataError(
                f"nulls stand in {len(asked_patterns):,} and {len(held_patterns):,} different patterns, too many to compare; "
                "use missing: category, or fewer attributes"
            )
    found = np.zeros(len(asked[0]), dtype=np.int64)
    for held_pattern, held_rows in held_patterns.items():
        for asked_pattern, asked_rows in asked_patterns.items():
            both = [at for at in range(len(asked)) if not (held_pattern >> at | asked_pattern >> at) & 1]
            if not both:
                found[asked_rows] += times[held_rows].sum()
                continue
            stacked = [(np.concatenate((held[at][held_rows], asked[at][asked_rows])), cardinalities[at]) for at in both]
            ids, number = group_ids(stacked, len(held_rows) + len(asked_rows))
            counts = np.bincount(ids[: len(held_rows)], weights=times[held_rows], minlength=number)
            found[asked_rows] += counts[ids[len(held_rows) :]].astype(np.int64)
    return found[asked_back]


def _distinct(codes: Sequence[NDArray[Any]], cardinalities: Sequence[int]) -> tuple[list[NDArray[Any]], NDArray[np.int64]]:
    """The distinct rows, and which of them each row is."""
    size = len(codes[0])
    ids, number = group_ids(list(zip(codes, cardinalities, strict=True)), size)
    first = np.empty(number, dtype=np.int64)
    first[ids[::-1]] = np.arange(size - 1, -1, -1)
    return [column[first] for column in codes], ids


def _patterns(codes: Sequence[NDArray[Any]], nulls: Sequence[int | None]) -> dict[int, NDArray[np.int64]]:
    """Rows by the attributes they lack, as a bit mask of Python integers (any number of attributes)."""
    size = len(codes[0])
    flags = [(column == null).astype(np.uint8) if null is not None else None for column, null in zip(codes, nulls, strict=True)]
    present = [(at, flag) for at, flag in enumerate(flags) if flag is not None and flag.any()]
    ids, number = group_ids([(flag, 2) for _, flag in present], size)
    if not present:
        return {0: np.arange(size)} if size else {}
    order = np.argsort(ids, kind="stable")
    bounds = np.searchsorted(ids[order], np.arange(number + 1))
    rows = [order[bounds[group] : bounds[group + 1]] for group in range(number)]
    return {sum(1 << at for at, flag in present if flag[members[0]]): members for members in rows}
