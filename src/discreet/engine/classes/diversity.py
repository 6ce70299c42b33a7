"""The distribution of a sensitive attribute in equivalence classes: counts, diversity, and distances between distributions.

A null in a sensitive attribute is no value: it adds nothing to diversity and is left out of distributions. A class without any
value discloses nothing, and its diversity and distance are NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.groups import count_agreeing_rows
from discreet.engine.encoding.columns import Column
from discreet.engine.runtime.compiled import compiled_unless_small

if TYPE_CHECKING:
    from numpy.typing import NDArray

_QUERIES_AT_ONCE = 2_000_000
_TABLE_PER_RECORD = 4
_TABLE_LEAST = 1 << 16
_SORTED_BY_INSERTION = 16


@dataclass(frozen=True)
class Histograms:
    """Counts of values by class: class c has the values ``values[starts[c]:starts[c + 1]]``, and ``counts`` likewise."""

    starts: NDArray[np.int64]
    values: NDArray[np.int64]
    counts: NDArray[np.int64]

    @cached_property
    def classes(self) -> NDArray[np.int64]:
        """The class of each (class, value) pair."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """The number of records with a value in each class."""
        upto = np.concatenate(([0], np.cumsum(self.counts)))
        return np.asarray(upto[self.starts[1:]] - upto[self.starts[:-1]], dtype=np.int64)

    def relabelled(self, labels: NDArray[np.int64]) -> Histograms:
        """The histograms of coarser labels; ``labels[value]`` is the label of a value."""
        label_count = int(labels.max()) + 1 if len(labels) else 1
        return _histograms_from_keys(
            self.classes * label_count + labels[self.values], self.counts, len(self.starts) - 1, label_count
        )


def class_histograms(
    ids: NDArray[np.int64], number: int, codes: NDArray[Any], values: int, weights: NDArray[np.int64] | None = None
) -> Histograms:
    """Count each value in each class; codes of ``values`` and above are nulls."""
    known = codes < values
    if not known.all():
        ids, codes = ids[known], codes[known]
        weights = None if weights is None else weights[known]
    return _histograms_from_keys(ids * values + codes, weights, number, values)


def _histograms_from_keys(keys: NDArray[np.int64], weights: NDArray[np.int64] | None, number: int, values: int) -> Histograms:
    """Histograms from one key ``class x values + value`` per record."""
    key_count = number * values
    if 0 < key_count <= max(_TABLE_LEAST, _TABLE_PER_RECORD * len(keys)):
        table = np.bincount(keys, weights=weights, minlength=key_count).astype(np.int64, copy=False)
        occurring = np.flatnonzero(table)
        counts = table[occurring]
        starts = np.concatenate(([0], np.cumsum(table > 0)))[::values]
        classes = np.repeat(np.arange(number), np.diff(starts))
    else:
        occurring, positions = np.unique(keys, return_inverse=True)
        counts = np.bincount(positions, weights=weights, minlength=len(occurring)).astype(np.int64, copy=False)
        classes = occurring // max(values, 1)
        starts = np.concatenate(([0], np.cumsum(np.bincount(classes, minlength=number))))
    return Histograms(starts.astype(np.int64, copy=False), occurring - classes * values, counts)


def histograms_by_agreement(
    columns: Sequence[Column], sensitive: Column, ids: NDArray[np.int64], number: int, *, wildcard: bool = False
) -> Histograms:
    """Count the values of a sensitive attribute among the records that agree with each class on the keys.

    Under ``wildcard`` a null in a key agrees with anything on either side, so that a record may be counted in many classes.
    """
    if not (wildcard and any(column.has_null for column in columns)):
        return class_histograms(ids, number, sensitive.codes, len(sensitive.values))
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
        queries = [np.repeat(column.codes[rows], values) for column in columns] + [np.tile(np.arange(values), len(rows))]
        counts_of_queries = count_agreeing_rows(queries, table, cardinalities, nulls)
        occurring = np.flatnonzero(counts_of_queries)
        keys.append(begin * values + occurring)
        counts.append(counts_of_queries[occurring])
    return _histograms_from_keys(np.concatenate(keys), np.concatenate(counts), number, values)


def merge_values(histograms: Histograms, entries: NDArray[np.int64], others: NDArray[np.int64], values: int) -> Histograms:
    """The histograms with values of a class counted as one; the pairs are indices of (class, value) pairs of the same class."""
    first = np.arange(len(histograms.values))
    while True:  # each pass hands the smallest index on to the neighbours: as many passes as the longest chain has links
        before = first.copy()
        np.minimum.at(first, entries, before[others])
        if (first == before).all():
            break
    keys = histograms.classes * values + histograms.values[first]
    return _histograms_from_keys(keys, histograms.counts, len(histograms.starts) - 1, values)


def distinct_values(histograms: Histograms) -> NDArray[np.float64]:
    """The number of distinct values in each class."""
    return _nan_for_empty_classes(np.diff(histograms.starts).astype(np.float64), histograms)


def entropy_l(histograms: Histograms) -> NDArray[np.float64]:
    """The exponential of the entropy of the values in each class: the l of entropy l-diversity (Machanavajjhala et al. 2007)."""
    totals = histograms.totals
    sums = np.bincount(histograms.classes, weights=histograms.counts * np.log(histograms.counts), minlength=len(totals))
    with np.errstate(invalid="ignore", divide="ignore"):
        return _nan_for_empty_classes(np.exp(np.maximum(0.0, np.log(totals) - sums / totals)), histograms)


def recursive_l(histograms: Histograms, c: float) -> NDArray[np.float64]:
    """The largest l with r_1 < c (r_l + … + r_m), where r_1 >= r_2 >= … are the counts: recursive (c, l)-diversity; 0 if none."""
    largest = np.zeros(len(histograms.starts) - 1)
    _find_recursive_l(histograms.starts, histograms.counts, float(c), largest)
    return _nan_for_empty_classes(largest, histograms)


def _find_recursive_l_of_few(
    starts: NDArray[np.int64], counts: NDArray[np.int64], c: float, largest: NDArray[np.float64]
) -> None:
    """The same as the compiled loop, with one sort of all classes."""
    classes = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    most = int(counts.max(initial=0))
    base = classes * (most + 1) + most
    falling = base - np.sort(base - counts)  # by class, then by falling count
    upto = np.concatenate(([0], np.cumsum(falling)))
    tails = upto[starts[classes + 1]] - upto[:-1]
    largest[:] = np.bincount(classes, weights=falling[starts[classes]] < c * tails, minlength=len(largest))


# starts, counts: as in Histograms. largest[class]: receives l, for classes without values it is left as it is. Values of a class
# are few as a rule: their counts are sorted by insertion, and by NumPy where they are many. O(pairs log values).
@compiled_unless_small(_find_recursive_l_of_few)
def _find_recursive_l(starts: Any, counts: Any, c: float, largest: Any) -> None:
    longest = 0
    for number in range(len(largest)):
        longest = max(longest, starts[number + 1] - starts[number])
    falling = np.empty(longest, np.int64)
    for number in range(len(largest)):
        size, tail = starts[number + 1] - starts[number], np.int64(0)
        if size > _SORTED_BY_INSERTION:
            falling[:size] = -np.sort(-counts[starts[number] : starts[number + 1]])
            tail = falling[:size].sum()
        else:
            for at in range(size):
                own, place = counts[starts[number] + at], at
                tail += own
                while place and falling[place - 1] < own:
                    falling[place] = falling[place - 1]
                    place -= 1
                falling[place] = own
        for at in range(size):  # the sums of the tails fall, so the first that is too small ends it
            if not falling[0] < c * tail:
                break
            largest[number] = at + 1
            tail -= falling[at]


def _nan_for_empty_classes(numbers: NDArray[np.float64], histograms: Histograms) -> NDArray[np.float64]:
    return np.where(np.diff(histograms.starts) > 0, numbers, np.nan)


def overall_distribution(codes: NDArray[Any], values: int, weights: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    """The distribution of the values in the whole table."""
    counts = np.bincount(codes, weights=weights, minlength=values)[:values].astype(np.float64)
    return np.asarray(counts / max(counts.sum(), 1.0))


def emd_equal(histograms: Histograms, whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Earth mover's distance where any two values are 1 apart: half of sum |p - q|."""
    totals = histograms.totals
    share = histograms.counts / totals[histograms.classes]
    # a value that does not occur in the class contributes its q: the sum of all q, less the q of the values that occur
    parts = np.abs(share - whole[histograms.values]) - whole[histograms.values]
    sums = np.bincount(histograms.classes, weights=parts, minlength=len(histograms.starts) - 1)
    return _nan_for_empty_classes(np.maximum(0.0, (sums + whole.sum()) / 2), histograms)


def emd_ordered(histograms: Histograms, whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Earth mover's distance where values i and j are |i - j| / (m - 1) apart: sum of |P - Q| over m - 1.

    P and Q are the cumulative distributions of the class and of the table. Between two values of a class P is constant and Q
    increases, so each stretch is two differences of running sums, split where Q crosses P: the cost is that of the values that
    occur in the class, not of all m.
    """
    number, m = len(histograms.starts) - 1, len(whole)
    if m < 2:
        return _nan_for_empty_classes(np.zeros(number), histograms)
    q = np.cumsum(whole)
    running = np.concatenate(([0.0], np.cumsum(q)))
    classes, totals = histograms.classes, histograms.totals
    upto = np.cumsum(histograms.counts)
    before = np.concatenate(([0], upto))[histograms.starts[classes]]
    level = (upto - before) / totals[classes]
    begin = histograms.values
    end = np.append(begin[1:], m - 1)
    last = histograms.starts[1:][np.diff(histograms.starts) > 0] - 1
    end[last] = m - 1
    cross = np.clip(np.searchsorted(q, level), begin, end)
    parts = level * (2 * cross - begin - end) - 2 * running[cross] + running[begin] + running[end]
    sums = np.bincount(classes, weights=parts, minlength=number)
    filled = np.diff(histograms.starts) > 0
    sums[filled] += running[begin[histograms.starts[:-1][filled]]]
    return _nan_for_empty_classes(np.maximum(0.0, sums / (m - 1)), histograms)


def emd_hierarchical(
    histograms: Histograms, whole: NDArray[np.float64], levels: Sequence[NDArray[np.int64]]
) -> NDArray[np.float64]:
    """Earth mover's distance where two values are (level of their lowest common label) / height apart.

    On a tree whose leaves all have the same depth this is the mean, over the levels below the top, of half of sum |p - q| over
    the labels: each edge of the tree has length 1 / (2 height) and carries a mass of |p - q|. ``levels[h][value]`` is a label.
    """
    total = np.zeros(len(histograms.starts) - 1)
    for labels in levels:
        total += emd_equal(histograms.relabelled(labels), np.bincount(labels, weights=whole).astype(np.float64))
    return np.asarray(total / max(len(levels), 1))
