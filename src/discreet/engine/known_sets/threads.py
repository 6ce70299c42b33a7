"""Our own threads for compiled loops over slices of a list, and the table of counts they fill together.

Results do not depend on the number of threads: a slice writes to places of its own, and counts are integers.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.encoding.columns import thread_count
from discreet.engine.runtime.worker_threads import WorkerThreads

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALL = 1 << 16
"""Lists up to this length are run on one thread, and tables of counts up to this length are always worth their memory."""


class KernelThreads:
    """Runs kernels whose last two arguments are the start and the stop of a slice; use it as a context manager."""

    def __init__(self, number: int | None = None) -> None:
        self.number = thread_count() if number is None else number
        self._pool: WorkerThreads | None = None
        self._table = np.zeros(0, dtype=np.int32)

    def __enter__(self) -> KernelThreads:
        if self.number > 1:
            self._pool = WorkerThreads(self.number)
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def run_slices(self, kernel: Callable[..., Any], size: int, *arguments: Any, least: int | None = None) -> None:
        """Run a kernel over equal slices of a list, on one thread where it is at most ``least`` long (default: SMALL)."""
        bounds = self._slices(size, SMALL if least is None else least)
        self._run(lambda at: kernel(*arguments, bounds[at], bounds[at + 1]), len(bounds) - 1)

    def count_keys(
        self,
        kernel: Callable[..., None],
        rows: NDArray[np.uint32] | None,
        group: NDArray[np.uint32],
        codes: NDArray[Any] | None,
        cardinality: int,
        keys: int,
    ) -> NDArray[np.int32]:
        """The number of records of each key ``group * cardinality + code``; the next call writes over the table it returns.

        Every thread counts into a table of its own where these are short beside the list. O(records + threads * keys).
        """
        size = len(group)
        bounds = self._slices(size, SMALL if keys * self.number <= size // 4 else size)
        workers = len(bounds) - 1
        if len(self._table) < keys * workers:
            self._table = self._table[:0]  # never two long tables at once
            self._table = np.zeros(max(SMALL, keys * workers), dtype=np.int32)
        self._table[: keys * workers] = 0
        tables = self._table[: keys * workers].reshape(workers, keys)
        self._run(lambda at: kernel(rows, group, codes, cardinality, tables[at], bounds[at], bounds[at + 1]), workers)
        for other in tables[1:]:
            tables[0] += other
        counts: NDArray[np.int32] = tables[0]
        return counts

    def count_staying(self, kernel: Callable[..., int], size: int, *arguments: Any) -> list[int]:
        """How many members of each slice a kernel says stay, summed: slice i is to be packed from place i of the answer on."""
        bounds = self._slices(size, SMALL)
        staying = [0] * len(bounds)

        def count(at: int) -> None:
            staying[at + 1] = kernel(*arguments, bounds[at], bounds[at + 1])

        self._run(count, len(bounds) - 1)
        return list(accumulate(staying))

    def pack_slices(self, kernel: Callable[..., None], size: int, begin: list[int] | None, *arguments: Any) -> None:
        """Run a kernel that also takes where its slice is packed to: ``begin``, or None where every member stays."""
        bounds = self._slices(size, SMALL)
        begin = bounds if begin is None else begin
        self._run(lambda at: kernel(*arguments, bounds[at], bounds[at + 1], begin[at]), len(bounds) - 1)

    def _slices(self, size: int, least: int) -> list[int]:
        """Where the equal parts of a list begin and end."""
        workers = self.number if size > least else 1
        return [size * at // workers for at in range(workers + 1)]

    def _run(self, job: Callable[[int], Any], workers: int) -> None:
        if self._pool is None or workers == 1:
            for at in range(workers):
                job(at)
            return
        for future in [self._pool.submit(job, at) for at in range(workers)]:
            future.result()
