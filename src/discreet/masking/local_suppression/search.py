"""Local suppression: which values of which records to blank so that at least k records agree with each.

For every row that is too rare, the cheapest set of values whose suppression leaves a combination that k records of the table
truly share; of equally cheap sets the one whose combination is most frequent. Then the rows are taken in turn, those that
need most first, and looked at again: a row that blanks of earlier rows have made safe by then keeps its values.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.classes.tables import ClassTable, class_table
from discreet.engine.encoding.columns import Column, threads
from discreet.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_SETS = 4096
_WORD = 1 << 62


def local_suppression(
    columns: Sequence[Column], size: int, k: int, costs: Sequence[float], *, look_again: bool
) -> NDArray[np.bool_]:
    """For each record (row) and column whether the value is to be blanked.

    ``look_again`` counts a blank as agreeing with anything, on either side; else only what records truly share counts.
    """
    if size < k:
        raise DataError(f"{size:,} records cannot be {k:,} alike; ask for a smaller k")
    table, rows = class_table([(column.codes, column.cardinality) for column in columns], size)
    missing = np.stack([table.codes[:, at] == (len(c.values) if c.has_null else -1) for at, c in enumerate(columns)], axis=1)
    counted = _Counts(table, missing)
    safe = counted.of((), slice(None))
    sets, chosen = _cheapest(counted, np.flatnonzero(safe < k), k, costs)
    lost = np.zeros((len(sets) + 1, len(columns)), dtype=np.bool_)
    for at, one in enumerate(sets):
        lost[at, list(one)] = True
    blanks = missing | lost[chosen]
    if look_again:
        price = np.where(lost, np.asarray(costs), 0.0).sum(axis=1)[chosen]
        gone = _look_again(table, missing, blanks, safe, np.flatnonzero(chosen >= 0), price, k)
        blanks[~gone] = missing[~gone]
    return np.asarray(blanks & ~missing)[rows]


class _Counts:
    """How many records share a row's values outside a set of attributes; values that a row lacks are left out too."""

    def __init__(self, table: ClassTable, missing: NDArray[np.bool_]) -> None:
        self.table, self.missing, self.now = table, missing, _numbers(missing)
        self.patterns = [int(pattern) for pattern in np.unique(self.now)]

    @property
    def width(self) -> int:
        return len(self.table.cards)

    def of(self, lost: tuple[int, ...], rows: NDArray[np.int64] | slice) -> NDArray[np.int64]:
        """Records that truly share what the rows keep when ``lost`` is suppressed."""
        asked = self.now[rows]
        found = np.zeros(len(asked), dtype=np.int64)
        own = self.missing[rows]
        for pattern in self.patterns:
            here = np.flatnonzero(asked == pattern)
            if not len(here):
                continue
            left_out = set(lost) | set(np.flatnonzero(own[here[0]]).tolist())
            maps = [
                np.zeros(card, dtype=np.int32) if at in left_out else np.arange(card, dtype=np.int32)
                for at, card in enumerate(self.table.cards)
            ]
            ids, _, totals = self.table.classes(maps, [1 if at in left_out else c for at, c in enumerate(self.table.cards)])
            found[here] = totals[ids[rows][here]]
        return found


def _cheapest(
    counted: _Counts, todo: NDArray[np.int64], k: int, costs: Sequence[float]
) -> tuple[list[tuple[int, ...]], NDArray[np.int64]]:
    """Sets of attributes, and for each row the number of the cheapest one to suppress, -1 where none is needed.

    Of equally cheap sets the one that leaves the most frequent combination.
    """
    chosen = np.full(len(counted.table), -1, dtype=np.int64)
    tried: list[tuple[int, ...]] = []
    with ThreadPoolExecutor(threads()) as pool:
        for sets in _levels(costs, counted.width):
            if not len(todo):
                break
            most, best = np.full(len(todo), k - 1, dtype=np.int64), np.full(len(todo), -1)
            rows = todo
            for at, found in enumerate(pool.map(lambda lost, rows=rows: counted.of(lost, rows), sets)):
                better = found > most
                most[better], best[better] = found[better], at + len(tried)
            chosen[todo] = best
            todo = todo[best < 0]
            tried += sets
    return tried, chosen


def _levels(costs: Sequence[float], width: int) -> Iterator[list[tuple[int, ...]]]:
    """Sets of attributes from the cheapest on, those of equal cost together.

    Beyond some thousands of sets, only nested ones: the cheapest attribute, with the next one, and so on to all.
    """
    taken: list[tuple[float, tuple[int, ...]]] = []
    size = 1
    while size <= width and len(taken) + math.comb(width, size) <= _MOST_SETS:
        taken += [(sum(costs[at] for at in lost), lost) for lost in itertools.combinations(range(width), size)]
        size += 1
    order = sorted(range(width), key=lambda at: costs[at])
    taken += [(sum(costs[at] for at in order[:upto]), tuple(sorted(order[:upto]))) for upto in range(size, width + 1)]
    taken.sort()
    for _, same in itertools.groupby(taken, key=lambda one: round(one[0], 9)):
        yield [lost for _, lost in same]


def _look_again(
    table: ClassTable,
    missing: NDArray[np.bool_],
    blanks: NDArray[np.bool_],
    safe: NDArray[np.int64],
    todo: NDArray[np.int64],
    price: NDArray[np.float64],
    k: int,
) -> NDArray[np.bool_]:
    """Which of the rows to do are still too rare when their turn comes."""
    from discreet.masking.local_suppression.kernels import still_unsafe

    # by cost, then by the values themselves: the same whatever the order of the records
    order = todo[np.lexsort((*(table.codes[todo, at] for at in range(table.codes.shape[1])), -price[todo]))]
    none = np.zeros((1, missing.shape[1]), dtype=np.bool_)
    patterns, both = np.unique(_numbers(np.vstack((missing, blanks, none))), return_inverse=True)
    before, after = both[: len(table)], both[len(table) : -1]
    flags = np.zeros((len(patterns), missing.shape[1]), dtype=np.bool_)
    flags[before], flags[after] = missing, blanks
    parts, word = _parts(table)
    return still_unsafe(parts, word, int(word.max()) + 1, flags, before, after, order, table.counts, safe, k)


def _parts(table: ClassTable) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Codes as parts of sums that number every combination, in as many 64-bit words as that takes."""
    parts, word = np.empty(table.codes.shape, dtype=np.uint64), np.zeros(table.codes.shape[1], dtype=np.int64)
    step, current = 1, 0
    for at, card in enumerate(table.cards):
        if step * card > _WORD:
            step, current = 1, current + 1
        parts[:, at] = table.codes[:, at].astype(np.uint64) * np.uint64(step)
        word[at] = current
        step *= max(card, 1)
    return parts, word


def _numbers(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """A number a pattern of flags: 0 for none, the same for the same; dense where there are too many attributes for bits."""
    if flags.shape[1] < 62:
        return np.asarray(flags @ (1 << np.arange(flags.shape[1], dtype=np.int64)))
    _, dense = np.unique(np.vstack((np.zeros((1, flags.shape[1]), dtype=np.bool_), flags)), axis=0, return_inverse=True)
    return np.asarray(dense[1:], dtype=np.int64)
