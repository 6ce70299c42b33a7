"""The sums of the records of a large table, with what bounds them: few bytes per record, summarized block by block."""

from __future__ import annotations

from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.encoding.columns import thread_count
from discreet.engine.known_sets.effective_size import NEAR, has_no_mass
from discreet.engine.known_sets.order_statistics import order_statistics
from discreet.engine.known_sets.summary import Summary, powers_of_ten
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.model.threshold import Among
from discreet.risks.known_sets.large import summary_kernels as kernels
from discreet.risks.known_sets.large.summary_kernels import powers_of_exponents

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 16
"""Queries that are summarized at once: their numbers stay in the processor's cache."""


@dataclass
class LargeSums:
    """The sum of the kept sets of each query (row ``slots[i]``, or row i where slots is None), and its bounds."""

    records: int
    slots: NDArray[np.uint32] | None
    risk: NDArray[np.float64]
    _far: NDArray[np.float64]
    _counts: NDArray[np.int32]
    _kind: NDArray[Any]
    _spread: NDArray[np.float64]
    _dropped: NDArray[np.float64]
    _masses: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
    """For each consequence class its C, and the sums with every count 1 over the kept and over all sets but the empty one."""
    _empty: float
    """The probability of the empty set."""

    def summarize(self, threshold: float | Among, alpha: float) -> Summary:
        """The summary of the queries, on several threads block by block; the blocks are merged in their order.

        The sizes overwrite the sums that include all larger sets, which are no longer needed.
        """
        starts, workers = range(0, len(self.risk), _BLOCK), thread_count()
        weight, kept, whole = self._masses
        alone = self._empty * weight / max(self.records, 1)
        by_kind = np.column_stack((self._spread, self._dropped, alone, kept, whole))
        flags = np.column_stack((has_no_mass(whole, weight), has_no_mass(kept, weight)))
        spare: SimpleQueue[NDArray[np.float64]] = SimpleQueue()
        for _ in range(workers):
            spare.put(np.empty((3, min(_BLOCK, len(self.risk)))))

        def summarize_block(begin: int) -> Summary:
            memory = spare.get()
            part = self._summarize_block(begin, threshold, alpha, by_kind, flags, memory)
            spare.put(memory)
            return part

        summary = Summary(threshold)
        with WorkerThreads(workers) as pool:
            for part in pool.map(summarize_block, starts):
                summary.merge(part.statistics())
        return summary

    def _summarize_block(
        self, begin: int, threshold: float | Among, alpha: float, by_kind: NDArray[np.float64], flags: NDArray[np.bool_],
        memory: NDArray[np.float64],
    ) -> Summary:  # fmt: skip
        part = slice(begin, begin + _BLOCK)
        sums = self.risk[part]
        risk, lower, upper = memory[:, : len(sums)]
        counts, extremes = np.zeros(kernels.COUNTS, np.int64), np.zeros(kernels.EXTREMES)
        histogram = np.zeros(kernels.POWERS, np.int64)
        level, among = (0.0, threshold.among * NEAR) if isinstance(threshold, Among) else (float(threshold), 0.0)
        doubtful = kernels.summarize_block(
            sums, self._far[part], self._counts[part], self._kind[part], by_kind, flags, float(max(self.records, 1)), alpha,
            level, among, *powers_of_exponents(), risk, risk.view(np.int64), lower, upper, counts, extremes, histogram,
        )  # fmt: skip
        high, certain, possible, positive, sized, few, *fews = map(int, counts)
        largest, low, up, widest, smallest, small_low, small_up, *stretch = map(float, extremes)
        powers = powers_of_ten(risk) if doubtful else {
            int(at) + kernels.FIRST_POWER: int(histogram[at]) for at in np.flatnonzero(histogram)
        }  # fmt: skip
        return Summary(
            threshold, high, certain, possible, positive, float(risk.sum()), (float(lower.sum()), float(upper.sum())), largest,
            (low, up), widest, powers, sized, smallest, (small_low, small_up), few, (fews[0], fews[1]), (stretch[0], stretch[1]),
        )  # fmt: skip

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The bounds of every query's sum, before the coefficient alpha; call before ``summarize``."""
        lower = np.maximum(self._far * self._spread[self._kind], self.risk)
        return lower, np.maximum(self.risk + self._dropped[self._kind] / np.maximum(self._counts, 1), lower)

    def median_size(self) -> float | None:
        """The median of the effective class sizes that are defined; call after ``summarize`` and before ``forget_bounds``."""
        defined = len(self._far) - int(np.isnan(self._far).sum())
        return order_statistics(self._far, [(defined + 1) // 2 - 1])[0] if defined else None

    def forget_bounds(self) -> None:
        """Free everything but the risks."""
        self._far, self._counts, self._kind = self._far[:0], self._counts[:0], self._kind[:0]

    def largest(self, number: int) -> NDArray[np.int64]:
        """The positions of the largest sums, including ties with the last of them; sums of 0 are left out."""
        position = max(len(self.risk) - number, 0)
        least = np.partition(self.risk, position)[position] if len(self.risk) and number else np.inf
        return np.flatnonzero((self.risk >= least) & (self.risk > 0))

    def rows(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of the data of the sums at the given positions."""
        return positions if self.slots is None else self.slots[positions].astype(np.int64)
