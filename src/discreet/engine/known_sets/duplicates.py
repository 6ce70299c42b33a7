"""Records that ask the same: what is summed over known sets depends on the values an intruder may know and on what is learnt.

In a table whose records stand in classes, most records have others that ask just the same, and one of each kind is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.classes.groups import refine_groups
from discreet.engine.encoding.columns import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORTH = 0.5
"""Share of the records up to which the different ones are worth being told apart."""


@dataclass(frozen=True)
class Duplicates:
    """The first record of each kind, as places among those that ask, and the kind of each."""

    first: NDArray[np.int64]
    kind: NDArray[np.int64]


def find_duplicates(
    known: Sequence[Column], learnt: Sequence[tuple[Column, NDArray[np.float64]]], rows: NDArray[np.int64]
) -> Duplicates | None:
    """The kinds of some records: equal codes of what may be known, and equal weights of what is learnt, a blank being a kind.

    None where there are so many that telling them apart gains nothing.
    """
    if not len(rows):
        return None
    sides = [(column.codes, column.cardinality) for column in known]
    for column, weights in learnt:
        ranks = np.unique(weights, return_inverse=True)[1].astype(np.int64)
        ranks[len(column.values) :] = len(weights)
        dense = np.unique(ranks, return_inverse=True)[1]
        sides.append((dense[column.codes], int(dense.max()) + 1))
    ids, number = np.zeros(len(rows), dtype=np.int64), 1
    for codes, cardinality in sorted(sides, key=lambda side: -side[1]):
        ids, number = refine_groups(ids, number, codes[rows], cardinality)
        if number > _WORTH * len(rows):
            return None
    first = np.empty(number, dtype=np.int64)
    first[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)
    order = np.argsort(first)  # in the order of the records, as counting expects them
    rank = np.empty(number, dtype=np.int64)
    rank[order] = np.arange(number)
    return Duplicates(first[order], rank[ids])
