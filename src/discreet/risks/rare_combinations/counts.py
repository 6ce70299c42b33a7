"""How many records have each record's combination of values, for many sets of keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discreet.engine.classes.distinct_classes import DistinctClasses
from discreet.engine.classes.groups import count_agreeing_rows, group_ids
from discreet.engine.classes.key_sets import KeySet, Missing

if TYPE_CHECKING:
    from numpy.typing import NDArray


class SetCounts(NamedTuple):
    """For one set of keys: the records that share the values of each class, and the classes that stand for a combination each.

    ``counts`` is 0 where a class has no combination, because a null is no value.
    """

    keys: KeySet
    counts: NDArray[np.int64]
    representatives: NDArray[np.int64]


def count_sets(
    classes: DistinctClasses, nulls: Sequence[int | None], sets: Sequence[KeySet], missing: Missing
) -> Iterator[SetCounts]:
    """The counts of each set of keys, one set at a time."""
    size = len(classes.counts)
    for keys in sets:
        ids, number = group_ids([(classes.codes[key], classes.cardinalities[key]) for key in keys], size)
        representatives = np.empty(number, dtype=np.int64)
        representatives[ids[::-1]] = np.arange(size - 1, -1, -1)
        blank = np.zeros(size, dtype=np.bool_)
        for key in keys:
            if (null := nulls[key]) is not None:
                blank |= classes.codes[key] == null
        if missing == "wildcard" and blank.any():
            codes = [classes.codes[key] for key in keys]
            cardinalities, blanks = [classes.cardinalities[key] for key in keys], [nulls[key] for key in keys]
            counts = count_agreeing_rows(codes, codes, cardinalities, blanks, classes.counts)
        else:
            totals = np.zeros(number, dtype=np.int64)
            np.add.at(totals, ids, classes.counts)
            counts = totals[ids]
            if missing == "ignore":
                counts = np.where(blank, 0, counts)
        yield SetCounts(keys, counts, representatives)
