"""Local suppression: the values to blank so that at least k records agree with each record.

For every row with fewer than k agreeing records: the cheapest set of attributes whose suppression leaves a combination that k
records share; of equally cheap sets the one whose combination is most frequent. Then the rows are checked again one after the
other, those with the costliest sets first: a row that the blanks of earlier rows have made safe keeps its values.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.classes.tables import ClassTable, class_table
from discreet.engine.encoding.columns import Column, thread_count
from discreet.engine.runtime.progress import report_progress
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_SETS = 4096  # sets of attributes that are tried; beyond these only nested ones
_MAX_WORD = 1 << 62  # largest number of combinations in one 64-bit word


def find_suppressions(
    columns: Sequence[Column], size: int, k: int, costs: Sequence[float], *, blanks_agree: bool
) -> NDArray[np.bool_]:
    """For each record (row) and column, whether the value is to be suppressed.

    With ``blanks_agree`` a blank agrees with any value, in either record; otherwise only equal values agree.
    """
    if size < k:
        raise DataError(f"{size:,} records cannot form a class of {k:,}; require a smaller k")
    table, rows = class_table([(column.codes, column.cardinality) for column in columns], size)
    missing = np.stack([table.codes[:, index] == _null_code(column) for index, column in enumerate(columns)], axis=1)
    agreement = _AgreementCounts(table, missing)
    agreeing = agreement.of((), slice(None))
    sets, chosen = _find_cheapest_sets(agreement, np.flatnonzero(agreeing < k), k, costs)
    in_set = np.zeros((len(sets) + 1, len(columns)), dtype=np.bool_)
    for index, attributes in enumerate(sets):
        in_set[index, list(attributes)] = True
    blanks = missing | in_set[chosen]
    if blanks_agree:
        price = np.where(in_set, np.asarray(costs), 0.0).sum(axis=1)[chosen]
        still_unsafe = _find_still_unsafe(table, missing, blanks, agreeing, np.flatnonzero(chosen >= 0), price, k)
        blanks[~still_unsafe] = missing[~still_unsafe]
    return np.asarray(blanks & ~missing)[rows]


def _null_code(column: Column) -> int:
    """The code of null in a column, or -1."""
    return len(column.values) if column.has_null else -1


class _AgreementCounts:
    """The number of records that share a row's values outside a set of attributes; its missing values are left out too."""

    def __init__(self, table: ClassTable, missing: NDArray[np.bool_]) -> None:
        self.table, self.missing, self.pattern_of_row = table, missing, _number_patterns(missing)
        self.patterns = [int(pattern) for pattern in np.unique(self.pattern_of_row)]

    @property
    def width(self) -> int:
        return len(self.table.cards)

    def of(self, suppressed: tuple[int, ...], rows: NDArray[np.int64] | slice) -> NDArray[np.int64]:
        """The number of records that share the remaining values of the rows if ``suppressed`` attributes are blanked."""
        row_patterns = self.pattern_of_row[rows]
        counts = np.zeros(len(row_patterns), dtype=np.int64)
        missing = self.missing[rows]
        for pattern in self.patterns:
            with_pattern = np.flatnonzero(row_patterns == pattern)
            if not len(with_pattern):
                continue
            left_out = set(suppressed) | set(np.flatnonzero(missing[with_pattern[0]]).tolist())
            maps = [
                np.zeros(card, dtype=np.int32) if attribute in left_out else np.arange(card, dtype=np.int32)
                for attribute, card in enumerate(self.table.cards)
            ]
            cards = [1 if attribute in left_out else card for attribute, card in enumerate(self.table.cards)]
            ids, _, totals = self.table.classes(maps, cards)
            counts[with_pattern] = totals[ids[rows][with_pattern]]
        return counts


def _find_cheapest_sets(
    agreement: _AgreementCounts, unsafe: NDArray[np.int64], k: int, costs: Sequence[float]
) -> tuple[list[tuple[int, ...]], NDArray[np.int64]]:
    """Sets of attributes, and for each row the index of the cheapest one to suppress, -1 if none is needed.

    Of equally cheap sets the one that leaves the most frequent combination.
    """
    chosen = np.full(len(agreement.table), -1, dtype=np.int64)
    tried: list[tuple[int, ...]] = []
    with WorkerThreads(thread_count()) as pool:
        for sets in sets_by_cost(costs, agreement.width):
            if not len(unsafe):
                break
            report_progress("suppressing values", len(agreement.table) - len(unsafe), len(agreement.table))
            highest, best = np.full(len(unsafe), k - 1, dtype=np.int64), np.full(len(unsafe), -1)
            rows = unsafe
            for index, counts in enumerate(pool.map(lambda suppressed, rows=rows: agreement.of(suppressed, rows), sets)):
                better = counts > highest
                highest[better], best[better] = counts[better], index + len(tried)
            chosen[unsafe] = best
            unsafe = unsafe[best < 0]
            tried += sets
    return tried, chosen


def sets_by_cost(costs: Sequence[float], width: int) -> Iterator[list[tuple[int, ...]]]:
    """Sets of attributes in increasing order of cost, those of equal cost together.

    Beyond ``_MAX_SETS`` sets, only nested ones: the cheapest attributes of every larger number, up to all.
    """
    priced_sets: list[tuple[float, tuple[int, ...]]] = []
    size = 1
    while size <= width and len(priced_sets) + math.comb(width, size) <= _MAX_SETS:
        sets = itertools.combinations(range(width), size)
        priced_sets += [(sum(costs[attribute] for attribute in attributes), attributes) for attributes in sets]
        size += 1
    order = sorted(range(width), key=lambda attribute: costs[attribute])
    for number in range(size, width + 1):
        cheapest = order[:number]
        priced_sets.append((sum(costs[attribute] for attribute in cheapest), tuple(sorted(cheapest))))
    priced_sets.sort()
    for _, same in itertools.groupby(priced_sets, key=lambda priced_set: round(priced_set[0], 9)):
        yield [attributes for _, attributes in same]  # costs that differ by rounding only are equal


def _find_still_unsafe(
    table: ClassTable,
    missing: NDArray[np.bool_],
    blanks: NDArray[np.bool_],
    agreeing: NDArray[np.int64],
    unsafe: NDArray[np.int64],
    price: NDArray[np.float64],
    k: int,
) -> NDArray[np.bool_]:
    """The rows that still have fewer than k agreeing records when their turn comes, given the blanks of the rows before."""
    from discreet.masking.local_suppression.kernels import RowPatterns, find_unsafe_rows

    # by cost, then by values, so that the result does not depend on the order of the records
    order = unsafe[np.lexsort((*(table.codes[unsafe, attribute] for attribute in range(table.codes.shape[1])), -price[unsafe]))]
    no_blanks = np.zeros((1, missing.shape[1]), dtype=np.bool_)
    patterns, pattern_of_row = np.unique(_number_patterns(np.vstack((missing, blanks, no_blanks))), return_inverse=True)
    before, after = pattern_of_row[: len(table)], pattern_of_row[len(table) : -1]
    flags = np.zeros((len(patterns), missing.shape[1]), dtype=np.bool_)
    flags[before], flags[after] = missing, blanks
    parts, word = _combination_parts(table)
    rows = RowPatterns(parts, word, flags)
    return find_unsafe_rows(rows, int(word.max()) + 1, before, after, order, table.counts, agreeing, k)


def _combination_parts(table: ClassTable) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Codes as summands of a number for every combination of values, in as many 64-bit words as that takes.

    Returns ``parts[row, attribute]``, and the word to which each attribute belongs.
    """
    parts, word = np.empty(table.codes.shape, dtype=np.uint64), np.zeros(table.codes.shape[1], dtype=np.int64)
    multiplier, word_index = 1, 0
    for attribute, card in enumerate(table.cards):
        if multiplier * card > _MAX_WORD:
            multiplier, word_index = 1, word_index + 1
        parts[:, attribute] = table.codes[:, attribute].astype(np.uint64) * np.uint64(multiplier)
        word[attribute] = word_index
        multiplier *= max(card, 1)
    return parts, word


def _number_patterns(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """One number per row of flags, equal for equal rows, 0 without flags: its bits or, from 62 attributes on, a dense number."""
    if flags.shape[1] < 62:
        return np.asarray(flags @ (1 << np.arange(flags.shape[1], dtype=np.int64)))
    _, dense = np.unique(np.vstack((np.zeros((1, flags.shape[1]), dtype=np.bool_), flags)), axis=0, return_inverse=True)
    return np.asarray(dense[1:], dtype=np.int64)
