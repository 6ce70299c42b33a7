"""Least risk by enumeration: the losses of every record for every set of attributes that it may disclose.

Given the dictionary, the loss of a record depends only on its own disclosed entries, so the best rule is composed record by
record: the best set of k entries per record; the best numbers of entries that sum to k; or, for the worst of several
dictionaries, the Pareto-optimal sums over the dictionaries.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from discreet.masking.min_risk_disclosure.losses import Disclosure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rule = NDArray[np.bool_]
    Floats = NDArray[np.float64]

Per = Literal["record", "table", "attribute"]
INFINITE_LOSS = 1e200
"""Stands for infinity in sums that are compared, because infinite sums cannot be."""
MAX_SUMS = 50_000  # Pareto-optimal sums up to which the minimax rule is enumerated
_MAX_STATES = 5_000_000  # records times entries up to which entries are allocated by dynamic programming


@dataclass(frozen=True)
class LossTable:
    """``losses[s, d, i]`` of record i under dictionary d if it discloses ``sets[s]``; ``allowed[s, i]`` if it may."""

    sets: Rule
    losses: Floats
    allowed: Rule

    def under(self, prior: Floats) -> Floats:
        """The losses under a prior, one row per set and one column per record; infinite for a set that is not allowed."""
        losses = np.einsum("d,sdi->si", prior, np.minimum(self.losses, INFINITE_LOSS))
        return np.where(self.allowed, losses, np.inf)


def tabulate_losses(problem: Disclosure, sizes: Iterator[int] | range, k: int | None = None) -> LossTable:
    """The losses of all sets of the given sizes.

    A set is allowed if the record has all its values; with ``k``, if it discloses k values of the record (or all it has).
    """
    sets = [members for size in sizes for members in itertools.combinations(range(problem.width), size)]
    masks = np.zeros((len(sets), problem.width), dtype=np.bool_)
    for index, members in enumerate(sets):
        masks[index, list(members)] = True
    losses = np.empty((len(sets), len(problem.dictionaries), len(problem)))
    allowed = np.empty((len(sets), len(problem)), dtype=np.bool_)
    for index, mask in enumerate(masks):
        rule = problem.available & mask
        losses[index] = problem.losses(rule)
        disclosed = rule.sum(axis=1)
        allowed[index] = disclosed == (mask.sum() if k is None else np.minimum(k, problem.available.sum(axis=1)))
    return LossTable(masks, losses, allowed)


def least_by_size(table: LossTable, values: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """For each record and number of entries, the least value and the set that has it."""
    number = values.shape[1]
    width = table.sets.shape[1]
    least = np.full((number, width + 1), np.inf)
    best_set = np.zeros((number, width + 1), dtype=np.int64)
    for index, mask in enumerate(table.sets):
        size = int(mask.sum())
        better = values[index] < least[:, size]
        least[better, size] = values[index][better]
        best_set[better, size] = index
    return least, best_set


def allocate_entries(least: Floats, total: int) -> tuple[NDArray[np.int64], float]:
    """The numbers of entries per record that sum to ``total`` at the least sum of ``least[i, c]``, and a lower bound of the sum.

    ``least[i, c]`` is infinite if record i has fewer than c values. Exact by dynamic programming for small problems, in
    O(records * total * width). Otherwise by the lower convex hull of each record's losses: the cheapest segments of all hulls
    give a lower bound, which all of them but the last attain, so that the gap is at most that of one record.
    """
    number, width = least.shape
    if number * (total + 1) <= _MAX_STATES:
        return _allocate_exactly(least, total)
    counts = np.zeros(number, dtype=np.int64)
    segments = []
    for record in range(number):
        points = [c for c in range(width) if np.isfinite(least[record, c])]
        hull: list[int] = []
        for c in points:
            while len(hull) > 1 and _is_above_line(least[record], hull[-2], hull[-1], c):
                hull.pop()
            hull.append(c)
        segments += [((least[record, b] - least[record, a]) / (b - a), record, a, b) for a, b in itertools.pairwise(hull)]
    segments.sort(key=lambda segment: segment[:3])
    left, bound = total, float(least[:, 0].sum())
    for slope, record, a, b in segments:
        step = min(left, b - a)
        bound += slope * step
        counts[record] = a + step
        left -= step
        if left == 0:
            break
    return counts, bound


def _is_above_line(values: Floats, a: int, b: int, c: int) -> bool:
    """Whether the point at b lies on or above the line from a to c."""
    return bool((values[b] - values[a]) * (c - b) >= (values[c] - values[b]) * (b - a))


def _allocate_exactly(values: Floats, total: int) -> tuple[NDArray[np.int64], float]:
    """Dynamic programming over records: ``best[t]`` is the least sum with t entries, ``choice[i, t]`` those of record i."""
    number, width = values.shape
    best = np.full(total + 1, np.inf)
    best[0] = 0.0
    choice = np.zeros((number, total + 1), dtype=np.int8)
    for record in range(number):
        new_best = np.full(total + 1, np.inf)
        for c in range(min(width, total + 1)):
            candidates = best[: total + 1 - c] + values[record, c]
            better = candidates < new_best[c:]
            new_best[c:][better] = candidates[better]
            choice[record, c:][better] = c
        best = new_best
    counts = np.zeros(number, dtype=np.int64)
    left = total
    for record in range(number - 1, -1, -1):
        counts[record] = choice[record, left]
        left -= int(counts[record])
    return counts, float(best[total])


def minimax_rule(table: LossTable, total: int | None) -> Rule | None:
    """The minimax rule, from the Pareto-optimal sums of losses over the dictionaries; None if there are too many of them.

    With ``total``, the entries of all records sum to it; otherwise each record takes any allowed set.
    """
    number, counts = table.losses.shape[2], table.sets.sum(axis=1)
    start = np.zeros((1, table.losses.shape[1]))
    fronts: dict[int, tuple[Floats, list[tuple[int, ...]]]] = {-1 if total is None else 0: (start, [()])}
    for record in range(number):
        extended: dict[int, tuple[list[Floats], list[tuple[int, ...]]]] = {}
        for used, (sums, paths) in fronts.items():
            for set_index in np.flatnonzero(table.allowed[:, record]):
                new_used = used if total is None else used + int(counts[set_index])
                if total is not None and new_used > total:
                    continue
                vectors, new_paths = extended.setdefault(new_used, ([], []))
                vectors.append(sums + np.minimum(table.losses[set_index, :, record], INFINITE_LOSS))
                new_paths += [(*path, int(set_index)) for path in paths]
        fronts = {}
        for used, (vectors, new_paths) in extended.items():
            stacked = np.concatenate(vectors)
            if len(stacked) > MAX_SUMS:
                return None
            front = _pareto_front(stacked)
            fronts[used] = (stacked[front], [new_paths[set_index] for set_index in front])
        if sum(len(sums) for sums, _ in fronts.values()) > MAX_SUMS:
            return None
    sums, paths = fronts[-1 if total is None else total]
    chosen = paths[int(np.argmin(sums.max(axis=1)))]
    return table.sets[list(chosen)]


def _pareto_front(vectors: Floats) -> list[int]:
    """The vectors to which no other is smaller or equal in every component (of equal ones the first)."""
    order = np.lexsort(vectors.T[::-1])
    indices: list[int] = []
    front = np.empty((0, vectors.shape[1]))
    for index in order:
        if len(front) and (front <= vectors[index]).all(axis=1).any():
            continue
        indices.append(int(index))
        front = np.vstack((front, vectors[index]))
    return indices
