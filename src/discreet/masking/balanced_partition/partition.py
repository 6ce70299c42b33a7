"""Recursive partitioning of records into balanced groups (Kartal & Li 2016, Table 3)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.classes.persons import Persons, counting_sort
from discreet.engine.encoding.columns import Column, thread_count
from discreet.engine.runtime.progress import report_progress
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.masking.balanced_partition.axes import Axis
from discreet.masking.balanced_partition.cuts import INDEX, KEYS, PERSON, Scratch, SplitRules
from discreet.masking.balanced_partition.split import split_once, split_recursively

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TASK_RECORDS = 1 << 15  # sets of at most this many records are split down to groups by one task


@dataclass(frozen=True)
class Requirements:
    """The requirements on every group.

    Minimum g-balance, maximum h-affiliation per sensitive attribute, and minimum numbers of records, persons and distinct
    sensitive values. ``by_balance`` ranks the keys by the balance-variance ratio (eq. 4), otherwise by variance alone.
    """

    by_balance: bool
    g: float = 0.0
    h: tuple[float, ...] = ()
    records: int = 1
    persons: int = 1
    values: int = 1


@dataclass(frozen=True)
class Partition:
    """The group of each record, and the lowest and highest code by group and key.

    ``open_groups`` is the number of groups that a time limit left unsplit.
    """

    group: NDArray[np.int64]
    number: int
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    open_groups: int


def partition_records(
    axes: Sequence[Axis],
    weights: Sequence[float],
    persons: Persons,
    sensitive: Sequence[Column],
    requirements: Requirements,
    *,
    seconds: float | None = None,
) -> Partition:
    """Split at the median of the key with the least ratio whose parts satisfy the requirements, until no set can be split.

    The whole table must satisfy the requirements. The groups are the same for any number of threads and any order of the
    records, unless ``seconds`` run out: then the sets that are not split yet become groups, which also satisfy the requirements.
    """
    size = len(persons.codes)
    if size == 0:
        empty = np.zeros((0, len(axes)), dtype=np.int32)
        return Partition(np.zeros(0, dtype=np.int64), 0, empty, empty, 0)
    rows = _build_rows(axes, persons, sensitive)
    rules = _build_rules(axes, weights, sensitive, requirements)
    starts = np.zeros(size, dtype=np.bool_)
    open_groups = _Splitting(rows, rules, starts, seconds).run()
    begins = np.flatnonzero(starts)
    group = np.empty(size, dtype=np.int64)
    group[rows[:, INDEX]] = np.cumsum(starts) - 1
    codes = rows[:, KEYS : KEYS + len(axes)]
    return Partition(group, len(begins), np.minimum.reduceat(codes, begins), np.maximum.reduceat(codes, begins), open_groups)


def _build_rows(axes: Sequence[Axis], persons: Persons, sensitive: Sequence[Column]) -> NDArray[np.int32]:
    """The matrix that the kernels work on, one row per record, sorted by person; see ``cuts``."""
    person_codes = persons.codes
    order = counting_sort(np.arange(len(person_codes)), person_codes, persons.number)
    rows = np.empty((len(person_codes), KEYS + len(axes) + len(sensitive)), dtype=np.int32)
    rows[:, PERSON], rows[:, INDEX] = person_codes[order], order
    for position, codes in enumerate([*(axis.codes for axis in axes), *(column.codes for column in sensitive)], KEYS):
        rows[:, position] = codes[order]
    return rows


def _build_rules(
    axes: Sequence[Axis], weights: Sequence[float], sensitive: Sequence[Column], requirements: Requirements
) -> SplitRules:
    sizes = np.array([0, *(len(axis.positions) for axis in axes)], dtype=np.int64)
    values = np.array([0, *(column.cardinality for column in sensitive)], dtype=np.int64)
    # the g-balance of N records is at most 1 - 1/N, so smaller parts need not be tried
    min_records = int(np.ceil(1.0 / (1.0 - requirements.g) - 1e-6)) if requirements.by_balance else 1
    return SplitRules(
        np.concatenate([axis.positions for axis in axes]) if axes else np.zeros(0),
        np.cumsum(sizes),
        np.array(weights, dtype=np.float64),
        requirements.by_balance,
        requirements.g,
        np.array(requirements.h or [1.0] * len(sensitive), dtype=np.float64),
        max(1, requirements.records, min_records),
        requirements.persons,
        requirements.values,
        np.cumsum(values),
    )


class _Splitting:
    """The sets of records that are still to be split, by several threads; a large set is split once per task."""

    def __init__(self, rows: NDArray[np.int32], rules: SplitRules, starts: NDArray[np.bool_], seconds: float | None) -> None:
        self.rows, self.rules, self.starts = rows, rules, starts
        self.spare = np.empty_like(rows)
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.scratch: SimpleQueue[Scratch] = SimpleQueue()

    def run(self) -> int:
        """Split all sets; returns the number of sets that the deadline left unsplit."""
        size, done, left_open = len(self.rows), 0, 0
        workers = thread_count() if size > _TASK_RECORDS else 1
        for _ in range(workers):
            self.scratch.put(_allocate_scratch(self.rules, size))
        running: dict[Future[int], tuple[int, int]] = {}
        waiting = [(0, size)]
        with WorkerThreads(workers) as pool:
            try:
                while waiting or running:
                    while waiting and len(running) < 2 * workers:
                        low, high = waiting.pop()
                        if self.deadline is not None and time.monotonic() >= self.deadline:
                            self.starts[low] = True
                            done, left_open = done + high - low, left_open + 1
                        else:
                            running[pool.submit(self._split_set, low, high)] = (low, high)
                    for future in wait(running, return_when=FIRST_COMPLETED).done if running else ():
                        low, high = running.pop(future)
                        middle = future.result()
                        if middle < 0:
                            done += high - low
                            report_progress("partitioning records", done, size)
                        else:
                            waiting += [(low, middle), (middle, high)]
            finally:
                for future in running:
                    future.cancel()
        return left_open

    def _split_set(self, low: int, high: int) -> int:
        """Split a large set once, or a small one down to its groups; returns where the right part begins, or -1."""
        scratch = self.scratch.get()
        try:
            if high - low <= _TASK_RECORDS:
                split_recursively(self.rows, self.spare, low, high, self.rules, scratch, self.starts)
                return -1
            middle = int(split_once(self.rows, self.spare, low, high, self.rules, scratch))
            if middle < 0:
                self.starts[low] = True
            return middle
        finally:
            self.scratch.put(scratch)


def _allocate_scratch(rules: SplitRules, size: int) -> Scratch:
    values = 2 * int(rules.sensitive_offsets[-1])
    return Scratch(
        np.zeros(int(rules.offsets[-1]), dtype=np.int64),
        np.empty(size, dtype=np.int32),
        np.zeros(values, dtype=np.int64),
        np.zeros(values, dtype=np.int64),
        np.empty(values, dtype=np.int64),
    )
