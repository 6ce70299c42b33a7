"""The sums over known sets, cover by cover (:mod:`discreet.risks.known_sets.large.covers`).

For each cover the distinct rows are numbered, its sets are summed on the rows, and the sums are added to the records. Terms
(:mod:`discreet.engine.known_sets.terms`) are linear in what would be learnt of a record: with the count n of a set S

    near += p C / n - p c_S / n        far += p P_q (C - rest - D_q) / n - p P_q c_S / n

where c_S, what is known already, follows from the row, for S is a subset of the cover. C and D_q do not; they multiply sums of
p / n and of p P_q / n. D_q, what dropped sets would take off, depends on which sensitive attributes stand behind the last one
that a set keeps: the *step* of the set. So a row has one sum for C, one for each step that occurs in the cover, and two for c_S
where the cover has sensitive attributes. No row needs to be split by what else would be learnt of its records.

Covers are summed at the same time on several threads, and added to the records in their order: results do not depend on the
number of threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.distinct import number_rows
from discreet.engine.encoding.columns import thread_count
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.terms import Terms
from discreet.engine.runtime.progress import report_progress
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.risks.known_sets.large.covers import Cover
from discreet.risks.known_sets.large.row_sums import CoverTable, RowSums

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORTH = 0.6
"""Share of the records up to which the distinct rows of a cover are worth being summed instead of the records."""
_MANY_ROWS, _SHARE_OF_MANY = 1 << 20, 0.25
"""More rows than so many must be at most this share of the records, because a row takes some 80 bytes on each thread."""


@dataclass(frozen=True)
class CoverSums:
    """A cover's row of each record, and the sums of each row.

    ``sums[row]`` are the coefficient of C, those of C - rest - D of each of ``steps``, and, where the cover has sensitive
    attributes, what is taken off near and far. ``steps`` are numbers of sensitive attributes up to the last kept one.
    """

    of: NDArray[np.uint32]
    sums: NDArray[np.float64]
    steps: NDArray[np.int64]


def _most_rows(records: int) -> int:
    worth = _WORTH * records
    return max(1, int(min(worth, max(_MANY_ROWS, _SHARE_OF_MANY * records))))


def sum_covers(
    table: CoverTable, tree: Family, terms: Terms, covers: Sequence[Cover]
) -> Iterator[tuple[Cover, CoverSums | None]]:
    """For each cover in turn the row of each record and the sums of each row; None where the rows are too many or too wide."""

    def sum_cover(cover: Cover, memory: NDArray[np.uint32]) -> CoverSums | None:
        if not table.can_pack(cover.places):
            return None
        columns = [(table.codes[place], table.cardinalities[place]) for place in cover.places]
        rows = number_rows(columns, table.size, most=_most_rows(table.size), of=memory)
        if rows is None:
            return None
        row_sums = RowSums(table, rows, cover.places)
        del rows  # what is needed of it is in the sums and in the memory for the rows of the records
        return CoverSums(memory, *row_sums.add_sets(tree, terms, cover.nodes, stopped))

    stopped = Event()
    workers = thread_count()
    spare = [np.empty(table.size, dtype=np.uint32) for _ in range(min(workers + 1, len(covers)))]
    remaining = deque(covers)
    running: deque[tuple[Cover, NDArray[np.uint32], Future[Any]]] = deque()
    with WorkerThreads(workers) as pool:
        try:
            while remaining or running:
                while remaining and spare:
                    cover, memory = remaining.popleft(), spare.pop()
                    running.append((cover, memory, pool.submit(sum_cover, cover, memory)))
                cover, memory, future = running.popleft()
                report_progress("counting known sets", len(covers) - len(remaining) - len(running), len(covers))
                summed = future.result()
                yield cover, summed
                spare.append(memory)
        finally:  # Ctrl-C reaches this thread only, and the pool would wait for the others to end by themselves
            stopped.set()
