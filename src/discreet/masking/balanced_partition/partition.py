"""Recursive partitioning of records into groups that keep their balance (seed 003, Table 3)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.classes.persons import Persons, order_by
from discreet.engine.encoding.columns import Column, threads
from discreet.engine.runtime.progress import tell
from discreet.masking.balanced_partition.axes import Axis
from discreet.masking.balanced_partition.cuts import INDEX, KEYS, PERSON, Rules, Scratch
from discreet.masking.balanced_partition.split import split, split_down

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TASK = 1 << 15  # runs of at most so many records are split down in one go


@dataclass(frozen=True)
class Demands:
    """What every group keeps: least g, most h a sensitive attribute, least records, persons and different sensitive values.

    ``by_balance`` ranks the attributes by the balance-variance ratio (4), otherwise by variance alone.
    """

    by_balance: bool
    g: float = 0.0
    h: tuple[float, ...] = ()
    records: int = 1
    persons: int = 1
    values: int = 1


@dataclass(frozen=True)
class Partition:
    """The group of each record, and by group and key the lowest and highest code; ``open_groups`` a time limit left unsplit."""

    group: NDArray[np.int64]
    number: int
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    open_groups: int


def partition(
    axes: Sequence[Axis],
    weights: Sequence[float],
    persons: Persons,
    sensitive: Sequence[Column],
    demands: Demands,
    *,
    seconds: float | None = None,
) -> Partition:
    """Split at the median of the attribute with the least ratio that keeps the demands, until nothing splits any more.

    The whole table must keep the demands. The groups are the same for any number of threads and any order of the records,
    except where ``seconds`` run out: then the sets that were not split yet stay as they are, and still keep the demands.
    """
    size = len(persons.codes)
    if size == 0:
        empty = np.zeros((0, len(axes)), dtype=np.int32)
        return Partition(np.zeros(0, dtype=np.int64), 0, empty, empty, 0)
    rows = _rows(axes, persons, sensitive)
    rules = _rules(axes, weights, sensitive, demands)
    starts = np.zeros(size, dtype=np.bool_)
    open_groups = _Work(rows, rules, starts, seconds).run()
    begins = np.flatnonzero(starts)
    group = np.empty(size, dtype=np.int64)
    group[rows[:, INDEX]] = np.cumsum(starts) - 1
    codes = rows[:, KEYS : KEYS + len(axes)]
    return Partition(group, len(begins), np.minimum.reduceat(codes, begins), np.maximum.reduceat(codes, begins), open_groups)


def _rows(axes: Sequence[Axis], persons: Persons, sensitive: Sequence[Column]) -> NDArray[np.int32]:
    """All that is needed of a record side by side, sorted by person."""
    who = persons.codes
    order = order_by(np.arange(len(who)), who, persons.number)
    rows = np.empty((len(who), KEYS + len(axes) + len(sensitive)), dtype=np.int32)
    rows[:, PERSON], rows[:, INDEX] = who[order], order
    for at, codes in enumerate([*(axis.codes for axis in axes), *(column.codes for column in sensitive)], KEYS):
        rows[:, at] = codes[order]
    return rows


def _rules(axes: Sequence[Axis], weights: Sequence[float], sensitive: Sequence[Column], demands: Demands) -> Rules:
    sizes = np.array([0, *(len(axis.positions) for axis in axes)], dtype=np.int64)
    values = np.array([0, *(column.cardinality for column in sensitive)], dtype=np.int64)
    # g of N records is at most 1 - 1/N, so smaller parts need not be tried
    fewest = int(np.ceil(1.0 / (1.0 - demands.g) - 1e-6)) if demands.by_balance else 1
    return Rules(
        np.concatenate([axis.positions for axis in axes]) if axes else np.zeros(0),
        np.cumsum(sizes),
        np.array(weights, dtype=np.float64),
        demands.by_balance,
        demands.g,
        np.array(demands.h or [1.0] * len(sensitive), dtype=np.float64),
        max(1, demands.records, fewest),
        demands.persons,
        demands.values,
        np.cumsum(values),
    )


class _Work:
    """Sets of records still to be split, worked off by a few threads; large sets one split at a time."""

    def __init__(self, rows: NDArray[np.int32], rules: Rules, starts: NDArray[np.bool_], seconds: float | None) -> None:
        self.rows, self.rules, self.starts = rows, rules, starts
        self.spare = np.empty_like(rows)
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.scratch: SimpleQueue[Scratch] = SimpleQueue()

    def run(self) -> int:
        """Split everything; how many sets a deadline left as they were."""
        size, done, left_open = len(self.rows), 0, 0
        workers = threads() if size > _TASK else 1
        for _ in range(workers):
            self.scratch.put(_scratch(self.rules, size))
        running: dict[Future[int], tuple[int, int]] = {}
        waiting = [(0, size)]
        with ThreadPoolExecutor(workers) as pool:
            try:
                while waiting or running:
                    while waiting and len(running) < 2 * workers:
                        low, high = waiting.pop()
                        if self.deadline is not None and time.monotonic() >= self.deadline:
                            self.starts[low] = True
                            done, left_open = done + high - low, left_open + 1
                        else:
                            running[pool.submit(self._one, low, high)] = (low, high)
                    for future in wait(running, return_when=FIRST_COMPLETED).done if running else ():
                        low, high = running.pop(future)
                        middle = future.result()
                        if middle < 0:
                            done += high - low
                            tell("partitioning records", done, size)
                        else:
                            waiting += [(low, middle), (middle, high)]
            finally:
                for future in running:
                    future.cancel()
        return left_open

    def _one(self, low: int, high: int) -> int:
        """Split a large set once, or a small one down to its groups."""
        scratch = self.scratch.get()
        try:
            if high - low <= _TASK:
                split_down(self.rows, self.spare, low, high, self.rules, scratch, self.starts)
                return -1
            middle = int(split(self.rows, self.spare, low, high, self.rules, scratch))
            if middle < 0:
                self.starts[low] = True
            return middle
        finally:
            self.scratch.put(scratch)


def _scratch(rules: Rules, size: int) -> Scratch:
    values = 2 * int(rules.sensitive_offsets[-1])
    return Scratch(
        np.zeros(int(rules.offsets[-1]), dtype=np.int64),
        np.empty(size, dtype=np.int32),
        np.zeros(values, dtype=np.int64),
        np.zeros(values, dtype=np.int64),
        np.empty(values, dtype=np.int64),
    )
