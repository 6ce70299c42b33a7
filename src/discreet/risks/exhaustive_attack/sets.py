"""The sets of columns that an intruder may know, and what each of them tells, counted on the distinct rows of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.distinct_classes import DistinctClasses
from discreet.engine.classes.groups import refine_groups
from discreet.engine.known_sets.family import Family, family
from discreet.engine.known_sets.walk import walk_sets
from discreet.engine.runtime.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Level = tuple["NDArray[np.int64]", int]


def sets_up_to(columns: int, size: int, most: int) -> Family:
    """All sets of at most ``size`` columns, as the family of columns with the probability 1/2: powers of two are exact."""
    return family([0.5] * columns, 0.5 ** (min(size, columns) + 1), most)


@dataclass(frozen=True)
class SecretRows:
    """One secret by distinct row of the known columns: ``rows``, ``codes`` and ``counts`` of pairs that occur, sorted by row.

    ``pair_of`` is the pair of each record, -1 where its secret is suppressed; ``total`` are the records with a secret.
    """

    rows: NDArray[np.int64]
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    pair_of: NDArray[np.int64]
    cardinality: int
    total: int

    @classmethod
    def count(cls, row_of: NDArray[Any], codes: NDArray[Any], cardinality: int, blank: NDArray[np.bool_]) -> SecretRows:
        """Count the pairs of a distinct row and a released value of the secret; suppressed values are left out."""
        known = ~blank[codes]
        keys, place, counts = np.unique(
            row_of[known].astype(np.int64) * cardinality + codes[known], return_inverse=True, return_counts=True
        )
        pair_of = np.full(len(codes), -1, dtype=np.int64)
        pair_of[known] = place
        return cls(keys // cardinality, keys % cardinality, counts.astype(np.int64), pair_of, cardinality, int(known.sum()))

    @cached_property
    def blind(self) -> float:
        """The share of the most common value: the best guess without knowing anything of a person."""
        if not self.total:
            return 0.0
        return float(np.bincount(self.codes, weights=self.counts).max() / self.total)


@dataclass
class SetResults:
    """What the walk adds up.

    By distinct row: ``sets`` that single its record out and the ``smallest`` of them. By pair of a row and a secret's value: the
    largest share of that value among the records that agree on some set (``shares``). By set: how many records it singles out,
    and for each secret the expected success of the best guess.
    """

    sets: NDArray[np.int64]
    smallest: NDArray[np.int64]
    shares: list[NDArray[np.float64]]
    singled: list[int] = field(default_factory=list)
    success: list[list[float]] = field(default_factory=list)
    members: list[tuple[int, ...]] = field(default_factory=list)


def walk_all_sets(tree: Family, classes: DistinctClasses, secrets: Sequence[SecretRows]) -> SetResults:
    """Count every set of the tree: each splits the classes of its parent by one column.

    Time per set O(distinct rows + pairs), apart from sorting where a table of all combinations would be too large.
    """
    size = len(classes.counts)
    results = SetResults(
        np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64), [np.zeros(len(secret.rows)) for secret in secrets]
    )

    def visit(node: int, above: _Level) -> _Level:
        report_progress("sets of columns", node, len(tree))
        column = int(tree.order[tree.last[node]])
        level = split_classes(above, classes.codes[column], classes.cardinalities[column])
        results.members.append(tree.members(node))
        _add_singled(results, level, classes.counts, int(tree.depth[node]))
        results.success.append(
            [_add_guesses(shares, level, secret) for shares, secret in zip(results.shares, secrets, strict=True)]
        )
        return level

    walk_sets(tree.children, (np.zeros(size, dtype=np.int64), min(size, 1)), visit)
    return results


def split_classes(above: _Level, codes: NDArray[Any], cardinality: int) -> _Level:
    """Classes split by one more column; where every distinct row is a class of its own, there is nothing to split."""
    ids, number = above
    return above if number == len(ids) else refine_groups(ids, number, codes, cardinality)


def guess_by_all_columns(classes: DistinctClasses, secret: SecretRows) -> float:
    """The expected success of the best guess with all columns known: every distinct row is a class."""
    size = len(classes.counts)
    return _add_guesses(np.zeros(len(secret.rows)), (np.arange(size), size), secret)


def _add_singled(results: SetResults, level: _Level, counts: NDArray[np.int64], depth: int) -> None:
    ids, number = level
    alone = np.bincount(ids, weights=counts, minlength=number)[ids] == 1
    results.sets += alone
    first = alone & ((results.smallest == 0) | (results.smallest > depth))
    results.smallest[first] = depth
    results.singled.append(int(alone.sum()))  # a class of one record is one distinct row


def _add_guesses(shares: NDArray[np.float64], level: _Level, secret: SecretRows) -> float:
    """The expected success of naming the most common value of the secret in each class; updates the largest shares."""
    if not secret.total:
        return 0.0
    ids, number = level
    of_pair = ids[secret.rows]
    values, value_number = refine_groups(of_pair, number, secret.codes, secret.cardinality)
    in_value = np.bincount(values, weights=secret.counts, minlength=value_number)
    class_of_value = np.zeros(value_number, dtype=np.int64)
    class_of_value[values] = of_pair
    # values are numbered class by class, so those of a class stand side by side
    starts = np.flatnonzero(np.diff(class_of_value, prepend=-1))
    in_class = np.repeat(np.add.reduceat(in_value, starts), np.diff(starts, append=value_number))
    np.maximum(shares, (in_value / in_class)[values], out=shares)
    return float(np.maximum.reduceat(in_value, starts).sum() / secret.total)
