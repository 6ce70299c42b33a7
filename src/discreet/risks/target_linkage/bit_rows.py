"""Agreeing records by bits: for each value of a target the masked rows that agree with it, one bit per row.

A target agrees with the rows whose bit is set for all its values. Coarse cells that overlap many others make the tree search
follow nearly every branch, once per target; the bits cost the same whatever overlaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.encoding.columns import thread_count
from discreet.engine.linkage.comparisons import Comparison
from discreet.engine.runtime.compiled import is_compiler_loaded
from discreet.engine.runtime.progress import report_progress
from discreet.engine.runtime.worker_threads import WorkerThreads

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 22
"""Pairs of a value or target and a row that are held at once."""


_MOST_PAIRS = 300_000_000
"""Pairs of a value or target and a row up to which bits are combined without the compiler, in about as many nanoseconds."""
_MOST_BYTES = 512 << 20
"""Memory of all bits, up to which they are used."""
_FEW_PAIRS = 20_000_000
"""Pairs up to which bits are used whatever the tree would cost: they take some hundredths of a second, and where many cells are
blank the tree may follow any number of branches for a single target."""
_PAIRS_PER_BRANCH = 100
"""Pairs that take as long as it takes the tree to follow a branch of its first level to the end, in the mean."""
_PAIRS_AT_ONCE = 30
"""Pairs of a target and a row that compiled code combines in the time of one pair of a value and a row."""
_QUERIES_PER_TURN = 4000
"""Distinct targets that are searched for between two reports of progress."""


def is_quicker_by_bits(first: Comparison, table: NDArray[np.int64], queries: NDArray[np.int64]) -> bool:
    """Whether bits are expected to take less time than the tree, whose first level is the attribute ``first``.

    The tree follows one branch per row that agrees with a target on its first attribute; the bits compare every row with every
    distinct value of every attribute.
    """
    values = sum(int((np.bincount(column) > 0).sum()) for column in queries.T)
    rows_by_code = np.bincount(table[:, 0], minlength=first.blank + 1)
    branches = int(first.sum_agreeing(rows_by_code)[queries[:, 0]].sum()) + len(queries) * int(rows_by_code[first.blank])
    pairs = len(table) * (values + len(queries) / (1 if _is_few(table, queries) else _PAIRS_AT_ONCE))
    return values * len(table) <= 8 * _MOST_BYTES and pairs <= max(_FEW_PAIRS, _PAIRS_PER_BRANCH * branches)


def _is_few(table: NDArray[np.int64], queries: NDArray[np.int64]) -> bool:
    """Whether so few pairs of a target and a row are compared that the compiler is not worth loading."""
    return len(table) * len(queries) <= _MOST_PAIRS and not is_compiler_loaded()


# table[row, level]: codes of the distinct masked rows, in the order of their first records. sizes[row]: records of the row.
# first_records[row]: its first record. queries[query, level]: target codes, none of them unknown. Time: rows x (distinct values
# of the queries, over all levels) comparisons, and queries x rows x levels / 8 bytes that are combined.
def search_bits(
    known: Sequence[Comparison], table: NDArray[np.int64], sizes: NDArray[np.int64], first_records: NDArray[np.int64],
    queries: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """For each query the number of records in agreeing rows, and the first of these records (-1 for none)."""
    bits, places = [], []
    for level, comparison in enumerate(known):
        report_progress("target_linkage", level, len(known))
        values, place = _distinct_codes(queries[:, level], comparison.unknown)
        bits.append(_agreeing_bits(comparison, values, table[:, level]))
        places.append(place)
    combine = _combine_few if _is_few(table, queries) else _combine_many
    return combine(bits, places, sizes, first_records)


def _distinct_codes(codes: NDArray[np.int64], number: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The codes below ``number`` that occur, in ascending order, and the place of each code among them."""
    occurs = np.zeros(number, dtype=np.bool_)
    occurs[codes] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]


def _combine_few(
    bits: Sequence[NDArray[np.uint8]], places: Sequence[NDArray[np.int64]], sizes: NDArray[np.int64],
    first_records: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """Combine the bits of each query's values without the compiler."""
    queries, rows = len(places[0]), len(sizes)
    counts, first = np.zeros(queries, dtype=np.int64), np.full(queries, -1, dtype=np.int64)
    block = max(1, _BLOCK // max(rows, 1))
    for begin in range(0, queries, block):
        report_progress("target_linkage", begin, queries)
        part = slice(begin, begin + block)
        agreed = bits[0][places[0][part]]
        for level in range(1, len(bits)):
            agreed &= bits[level][places[level][part]]
        agrees = np.unpackbits(agreed, axis=1, count=rows, bitorder="little").view(np.bool_)
        counts[part] = agrees.astype(np.float64) @ sizes  # exact: fewer than 2^53 records
        some = agrees.any(axis=1)
        first[part] = np.where(some, first_records[agrees.argmax(axis=1)], -1)
    return counts, first


def _combine_many(
    bits: Sequence[NDArray[np.uint8]], places: Sequence[NDArray[np.int64]], sizes: NDArray[np.int64],
    first_records: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """Combine the bits of each query's values in compiled code."""
    from discreet.risks.target_linkage.bit_kernels import count_by_bits

    offsets = np.cumsum([0, *(len(level) for level in bits)])[:-1]
    words = np.concatenate(bits).view(np.uint64)
    where = np.stack([place + offset for place, offset in zip(places, offsets, strict=True)], axis=1)
    counts, first = np.zeros(len(where), dtype=np.int64), np.full(len(where), -1, dtype=np.int64)
    at_once = _QUERIES_PER_TURN * thread_count()
    with WorkerThreads(thread_count()) as pool:
        for begin in range(0, len(where), at_once):
            report_progress("target_linkage", begin, len(where))
            turns = [slice(at, at + _QUERIES_PER_TURN) for at in range(begin, begin + at_once, _QUERIES_PER_TURN)]
            results = pool.map(lambda turn: count_by_bits(words, where[turn], sizes, first_records), turns)
            for turn, result in zip(turns, results, strict=True):
                counts[turn], first[turn] = result
    return counts, first


def _agreeing_bits(comparison: Comparison, values: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.uint8]:
    """One row of bits per value: the masked rows with these codes that agree with it, filled up to whole words of 64 bits."""
    if is_compiler_loaded():
        return _set_agreeing_bits(comparison, values, codes)
    packed = np.zeros((len(values), (len(codes) + 63) // 64 * 8), dtype=np.uint8)
    filled = (len(codes) + 7) // 8
    block = max(1, _BLOCK // max(len(codes), comparison.blank + 1))
    for begin in range(0, len(values), block):
        agrees = _agreeing_flags(comparison, values[begin : begin + block])
        packed[begin : begin + block, :filled] = np.packbits(agrees[:, codes], axis=1, bitorder="little")
    return packed


def _agreeing_flags(comparison: Comparison, values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[value, masked code] Whether they agree."""
    every_code, listed = np.arange(comparison.blank + 1), comparison.listed
    agrees = (every_code >= comparison.first[values, None]) & (every_code < comparison.last[values, None])
    for place, value in enumerate(values if comparison.has_lists else ()):
        agrees[place, listed.members[listed.starts[value] : listed.starts[value + 1]]] = True
    agrees[:, comparison.blank] = True
    return agrees


def _set_agreeing_bits(comparison: Comparison, values: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The same in compiled code, which sets the bits of the agreeing rows and looks at no others."""
    from discreet.risks.target_linkage.bit_kernels import set_agreeing_bits, spread_bits

    rows = np.argsort(codes, kind="stable")
    row_starts = np.searchsorted(codes[rows], np.arange(comparison.blank + 2))
    bits, listed = np.zeros((len(values), (len(codes) + 63) // 64), dtype=np.uint64), comparison.listed
    for begin in range(0, len(values), _QUERIES_PER_TURN):
        report_progress("target_linkage", begin, len(values))
        turn = slice(begin, begin + _QUERIES_PER_TURN)
        if comparison.has_lists and listed.bits is not None:
            spread_bits(rows, row_starts, listed.bits, values[turn], comparison.blank, bits[turn])
        else:
            set_agreeing_bits(
                rows, row_starts, values[turn], comparison.first, comparison.last, listed.starts, listed.members,
                comparison.blank, bits[turn],
            )  # fmt: skip
    return bits.view(np.uint8)
