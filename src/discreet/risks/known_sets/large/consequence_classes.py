"""Classes of records with the same consequence of disclosure.

What an intruder would learn of a record is one weight per attribute, and the policy defines few different weights. So the records
of a table fall into few consequence classes ("kinds"), and the number of its class (one byte per record, seldom two) replaces the
weights of each record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.distinct import Codes, Recoded, number_rows
from discreet.engine.encoding.columns import code_type, encode
from discreet.engine.known_sets.inputs import weights_of
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_CLASSES, _CLASSES_PER_RECORD = 1 << 13, 1 / 64
"""Classes that are few enough: at most so many, or at most this share of the records."""


@dataclass(frozen=True)
class ConsequenceClasses:
    """The class of each record, and for each class an example record and whether anything sensitive can be learnt of it."""

    of: NDArray[Any]
    example: NDArray[np.int64]
    learns: NDArray[np.bool_]


def consequence_classes(data: Microdata, names: list[str]) -> ConsequenceClasses | None:
    """The consequence classes of a table that has records; None where there would be too many to save memory."""
    weights = weights_of(data, names)
    columns, heavy = encode(data, weights), []
    rows_of: list[tuple[Codes, int]] = []
    for column in columns:
        values, rank = np.unique(weights[column.name], return_inverse=True)
        heavy.append(weights[column.name] > 0)
        distinct = len(values) == len(rank)  # every code has a weight of its own, so codes will do
        codes = column.codes if distinct else Recoded(column.codes, rank.astype(code_type(len(values))))
        rows_of.append((codes, len(values)))
    rows = number_rows(rows_of, len(data), most=max(_MOST_CLASSES, int(_CLASSES_PER_RECORD * len(data))))
    if rows is None:
        return None
    learns = np.zeros(len(rows), dtype=np.bool_)
    for column, is_heavy in zip(columns, heavy, strict=True):
        learns |= is_heavy[column.codes[rows.first]]
    return ConsequenceClasses(rows.of.astype(code_type(len(rows))), rows.first.astype(np.int64), learns)
