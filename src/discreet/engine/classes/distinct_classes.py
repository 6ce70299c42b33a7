"""The equivalence classes of a table as a table of their own: one row of key codes and one count per class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from discreet.engine.classes.groups import number_classes
from discreet.engine.encoding.columns import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray


class DistinctClasses(NamedTuple):
    """``ids`` is the class of each record; ``codes`` holds for each key the code of each class, ``counts`` the class sizes."""

    ids: NDArray[np.int64]
    codes: list[NDArray[Any]]
    cardinalities: list[int]
    counts: NDArray[np.int64]


def list_classes(columns: Sequence[Column], size: int) -> DistinctClasses:
    """The equivalence classes by all columns, null being one more value."""
    ids, counts = number_classes(columns, size)
    first = np.empty(len(counts), dtype=np.int64)
    first[ids[::-1]] = np.arange(size - 1, -1, -1)
    return DistinctClasses(ids, [column.codes[first] for column in columns], [column.cardinality for column in columns], counts)
