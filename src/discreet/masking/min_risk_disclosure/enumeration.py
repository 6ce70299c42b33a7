"""Least risk by enumeration: the losses of every record for every set of attributes it might disclose.

With the dictionary given, a record's loss depends on what it discloses itself, so the best rule is put together from
records: the best set of k a record; the best numbers of entries that sum to k; or, where the worst of several
dictionaries counts, the sums that no other sum betters under every dictionary.
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
LARGEST = 1e200
"""Stands for infinity in sums that are compared."""
MOST_SUMS = 50_000
_MOST_STATES = 5_000_000


@dataclass(frozen=True)
class Tabulated:
    """``losses[s, d, i]`` of record i under dictionary d disclosing ``sets[s]``; infinity with ``allowed`` false."""

    sets: Rule
    losses: Floats
    allowed: Rule

    def under(self, prior: Floats) -> Floats:
        """The losses under a prior: a row a set, a column a record."""
        made = np.einsum("d,sdi->si", prior, np.minimum(self.losses, LARGEST))
        return np.where(self.allowed, made, np.inf)


def tabulate(problem: Disclosure, sizes: Iterator[int] | range, k: int | None = None) -> Tabulated:
    """All sets of the given sizes. With ``k`` a set is allowed that discloses k values (or all that a record has)."""
    sets = [members for size in sizes for members in itertools.combinations(range(problem.width), size)]
    masks = np.zeros((len(sets), problem.width), dtype=np.bool_)
    for at, members in enumerate(sets):
        masks[at, list(members)] = True
    losses = np.empty((len(sets), len(problem.dictionaries), len(problem)))
    allowed = np.empty((len(sets), len(problem)), dtype=np.bool_)
    for at, mask in enumerate(masks):
        rule = problem.available & mask
        losses[at] = problem.losses(rule)
        given = rule.sum(axis=1)
        allowed[at] = given == (mask.sum() if k is None else np.minimum(k, problem.available.sum(axis=1)))
    return Tabulated(masks, losses, allowed)


def by_size(table: Tabulated, values: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """For each record and number of entries the least value, and the set that has it."""
    number = values.shape[1]
    width = table.sets.shape[1]
    least = np.full((number, width + 1), np.inf)
    which = np.zeros((number, width + 1), dtype=np.int64)
    for at, mask in enumerate(table.sets):
        size = int(mask.sum())
        better = values[at] < least[:, size]
        least[better, size] = values[at][better]
        which[better, size] = at
    return least, which


def allocate(least: Floats, total: int) -> tuple[NDArray[np.int64], float]:
    """Numbers of entries a record that sum to ``total`` at the least sum of ``least[i, c]``, and a lower bound of that sum.

    An infinite entry says that the record has no so many values. Exact by dynamic programming where that is small.
    Otherwise by the lower convex hull of each record's losses: the hulls' cheapest segments give a lower bound, and
    all of them but the last are reached, so the gap is at most that of one record.
    """
    number, width = least.shape
    if number * (total + 1) <= _MOST_STATES:
        return _dynamic(least, total)
    counts = np.zeros(number, dtype=np.int64)
    segments = []
    for record in range(number):
        points = [c for c in range(width) if np.isfinite(least[record, c])]
        hull: list[int] = []
        for c in points:
            while len(hull) > 1 and _above(least[record], hull[-2], hull[-1], c):
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


def _above(values: Floats, a: int, b: int, c: int) -> bool:
    """Whether the middle point lies on or above the line between its neighbours."""
    return bool((values[b] - values[a]) * (c - b) >= (values[c] - values[b]) * (b - a))


def _dynamic(values: Floats, total: int) -> tuple[NDArray[np.int64], float]:
    number, width = values.shape
    best = np.full(total + 1, np.inf)
    best[0] = 0.0
    choice = np.zeros((number, total + 1), dtype=np.int8)
    for record in range(number):
        made = np.full(total + 1, np.inf)
        for c in range(min(width, total + 1)):
            tried = best[: total + 1 - c] + values[record, c]
            better = tried < made[c:]
            made[c:][better] = tried[better]
            choice[record, c:][better] = c
        best = made
    counts = np.zeros(number, dtype=np.int64)
    left = total
    for record in range(number - 1, -1, -1):
        counts[record] = choice[record, left]
        left -= int(counts[record])
    return counts, float(best[total])


def minimax(table: Tabulated, total: int | None) -> Rule | None:
    """The rule whose worst risk is least, by sums that no other betters; None where there are too many of them.

    With ``total`` the entries of all records sum to it; otherwise each record takes any allowed set.
    """
    number, counts = table.losses.shape[2], table.sets.sum(axis=1)
    start = np.zeros((1, table.losses.shape[1]))
    fronts: dict[int, tuple[Floats, list[tuple[int, ...]]]] = {-1 if total is None else 0: (start, [()])}
    for record in range(number):
        made: dict[int, tuple[list[Floats], list[tuple[int, ...]]]] = {}
        for used, (sums, paths) in fronts.items():
            for at in np.flatnonzero(table.allowed[:, record]):
                now = used if total is None else used + int(counts[at])
                if total is not None and now > total:
                    continue
                vectors, ways = made.setdefault(now, ([], []))
                vectors.append(sums + np.minimum(table.losses[at, :, record], LARGEST))
                ways += [(*path, int(at)) for path in paths]
        fronts = {}
        for used, (vectors, ways) in made.items():
            stacked = np.concatenate(vectors)
            if len(stacked) > MOST_SUMS:
                return None
            kept = _unbettered(stacked)
            fronts[used] = (stacked[kept], [ways[at] for at in kept])
        if sum(len(sums) for sums, _ in fronts.values()) > MOST_SUMS:
            return None
    sums, paths = fronts[-1 if total is None else total]
    chosen = paths[int(np.argmin(sums.max(axis=1)))]
    return table.sets[list(chosen)]


def _unbettered(vectors: Floats) -> list[int]:
    """Vectors of which no other is smaller or equal in every place (of equal ones the first)."""
    order = np.lexsort(vectors.T[::-1])
    kept: list[int] = []
    front = np.empty((0, vectors.shape[1]))
    for at in order:
        if len(front) and (front <= vectors[at]).all(axis=1).any():
            continue
        kept.append(int(at))
        front = np.vstack((front, vectors[at]))
    return kept
