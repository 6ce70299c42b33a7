"""How the values of a sensitive attribute lie in classes of records: counts, diversity, and distances between distributions.

A null in a sensitive attribute is no value: it adds nothing to diversity and has no place in a distribution. A class
without any value has nothing to be learnt, and no number here speaks of it (not a number).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.groups import consistent_counts
from discreet.engine.encoding.columns import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

_QUERIES_AT_ONCE = 2_000_000
_TABLE_PER_RECORD = 4
_TABLE_LEAST = 1 << 16


@dataclass(frozen=True)
class Histograms:
    """Counts of values class by class: those of class c are ``values[starts[c]:starts[c + 1]]`` and ``counts`` likewise."""

    starts: NDArray[np.int64]
    values: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def classes(self) -> NDArray[np.int64]:
        """The class of each pair of class and value."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @property
    def totals(self) -> NDArray[np.int64]:
        """Records with a value, class by class."""
        upto = np.concatenate(([0], np.cumsum(self.counts)))
        return np.asarray(upto[self.starts[1:]] - upto[self.starts[:-1]], dtype=np.int64)

    def by(self, labels: NDArray[np.int64]) -> Histograms:
        """The same records counted by a label a value."""
        room = int(labels.max()) + 1 if len(labels) else 1
        return _collected(self.classes * room + labels[self.values], self.counts, len(self.starts) - 1, room)


def histograms(
    ids: NDArray[np.int64], number: int, codes: NDArray[Any], values: int, weights: NDArray[np.int64] | None = None
) -> Histograms:
    """Counts of each value in each class; codes of ``values`` and above are nulls."""
    known = codes < values
    if not known.all():
        ids, codes = ids[known], codes[known]
        weights = None if weights is None else weights[known]
    return _collected(ids * values + codes, weights, number, values)


def _collected(keys: NDArray[np.int64], weights: NDArray[np.int64] | None, number: int, values: int) -> Histograms:
    """Histograms from keys ``class x values + value``."""
    room = number * values
    if room <= max(_TABLE_LEAST, _TABLE_PER_RECORD * len(keys)):
        found = np.bincount(keys, weights=weights, minlength=room).astype(np.int64)
        occurring = np.flatnonzero(found)
        counts = found[occurring]
    else:
        occurring, back = np.unique(keys, return_inverse=True)
        counts = np.bincount(back, weights=weights, minlength=len(occurring)).astype(np.int64)
    classes = occurring // max(values, 1)
    starts = np.searchsorted(classes, np.arange(number + 1))
    return Histograms(starts.astype(np.int64), occurring - classes * values, counts)


def histograms_of(
    columns: Sequence[Column], sensitive: Column, ids: NDArray[np.int64], number: int, *, wildcard: bool = False
) -> Histograms:
    """Counts of a sensitive attribute among the records that agree with each class on the keys.

    Under ``wildcard`` a null in a key agrees with anything on either side, so that a record may count in many classes.
    """
    if not (wildcard and any(column.has_null for column in columns)):
        return histograms(ids, number, sensitive.codes, len(sensitive.values))
    values = len(sensitive.values)
    known = ~sensitive.is_null
    if not known.any():
        return Histograms(np.zeros(number + 1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    first = np.empty(number, dtype=np.int64)
    first[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)
    table = [column.codes[known] for column in columns] + [sensitive.codes[known].astype(np.int64)]
    cardinalities = [column.cardinality for column in columns] + [values]
    nulls = [column.null_code for column in columns] + [None]
    step = max(1, _QUERIES_AT_ONCE // values)
    keys, counts = [], []
    for begin in range(0, number, step):
        rows = first[begin : begin + step]
        asked = [np.repeat(column.codes[rows], values) for column in columns] + [np.tile(np.arange(values), len(rows))]
        found = consistent_counts(asked, table, cardinalities, nulls)
        occurring = np.flatnonzero(found)
        keys.append(begin * values + occurring)
        counts.append(found[occurring])
    return _collected(np.concatenate(keys), np.concatenate(counts), number, values)


def distinct(found: Histograms) -> NDArray[np.float64]:
    """Different values a class."""
    return _known(np.diff(found.starts).astype(np.float64), found)


def entropy_l(found: Histograms) -> NDArray[np.float64]:
    """The exponential of the entropy of the values of a class: the l of entropy l-diversity (Machanavajjhala et al. 2007)."""
    totals = found.totals
    sums = np.bincount(found.classes, weights=found.counts * np.log(found.counts), minlength=len(totals))
    with np.errstate(invalid="ignore", divide="ignore"):
        return _known(np.exp(np.maximum(0.0, np.log(totals) - sums / totals)), found)


def recursive_l(found: Histograms, c: float) -> NDArray[np.float64]:
    """The largest l with r_1 < c (r_l + … + r_m), r falling: recursive (c, l)-diversity; 0 where not even l = 1 holds."""
    classes = found.classes
    order = np.lexsort((-found.counts, classes))
    counts = found.counts[order]
    upto = np.concatenate(([0], np.cumsum(counts)))
    starts = found.starts[classes]
    tails = upto[found.starts[classes + 1]] - upto[:-1]
    holds = counts[starts] < c * tails
    return _known(np.bincount(classes, weights=holds, minlength=len(found.starts) - 1).astype(np.float64), found)


def _known(numbers: NDArray[np.float64], found: Histograms) -> NDArray[np.float64]:
    return np.where(np.diff(found.starts) > 0, numbers, np.nan)


def overall(codes: NDArray[Any], values: int, weights: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    """The distribution of the values in the whole table."""
    counts = np.bincount(codes, weights=weights, minlength=values)[:values].astype(np.float64)
    return np.asarray(counts / max(counts.sum(), 1.0))


def emd_equal(found: Histograms, whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Earth mover's distance where any two values are 1 apart: half of sum |p - q|."""
    totals = found.totals
    share = found.counts / totals[found.classes]
    # values that a class lacks contribute q each: all of q, less that of the values it has
    parts = np.abs(share - whole[found.values]) - whole[found.values]
    sums = np.bincount(found.classes, weights=parts, minlength=len(found.starts) - 1)
    return _known(np.maximum(0.0, (sums + whole.sum()) / 2), found)


def emd_ordered(found: Histograms, whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Earth mover's distance where values i and j are |i - j| / (m - 1) apart: sum of |P - Q| over m - 1.

    Between two values of a class P does not move and Q only rises, so each stretch is two differences of running sums,
    split where Q passes P: the work is that of the values a class has, not of all m.
    """
    number, m = len(found.starts) - 1, len(whole)
    if m < 2:
        return _known(np.zeros(number), found)
    q = np.cumsum(whole)
    running = np.concatenate(([0.0], np.cumsum(q)))
    classes, totals = found.classes, found.totals
    upto = np.cumsum(found.counts)
    before = np.concatenate(([0], upto))[found.starts[classes]]
    level = (upto - before) / totals[classes]
    begin = found.values
    end = np.append(begin[1:], m - 1)
    last = found.starts[1:][np.diff(found.starts) > 0] - 1
    end[last] = m - 1
    cross = np.clip(np.searchsorted(q, level), begin, end)
    parts = level * (2 * cross - begin - end) - 2 * running[cross] + running[begin] + running[end]
    sums = np.bincount(classes, weights=parts, minlength=number)
    filled = np.diff(found.starts) > 0
    sums[filled] += running[begin[found.starts[:-1][filled]]]
    return _known(np.maximum(0.0, sums / (m - 1)), found)


def emd_hierarchical(found: Histograms, whole: NDArray[np.float64], levels: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
    """Earth mover's distance where two values are (level of their lowest common label) / height apart.

    On a tree whose leaves are all equally deep this is the mean, over the levels below the top, of half of sum |p - q|
    between labels: each edge of the tree has length 1 / (2 height) and carries |p - q|. ``levels[h][value]`` are labels.
    """
    total = np.zeros(len(found.starts) - 1)
    for labels in levels:
        total += emd_equal(found.by(labels), np.bincount(labels, weights=whole).astype(np.float64))
    return np.asarray(total / max(len(levels), 1))
