"""Quiet attributes: those in which nearly all records share one value, so that few records have a rare value.

The walk that narrows intervals (:mod:`discreet.risks.known_sets.bound_walk`) does not add a quiet attribute for records with the
common value; it counts how many of the agreeing records have any rare value instead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.encoding.columns import Column
from discreet.engine.known_sets.queries import RecordClass
from discreet.engine.overlap.columns import overlaps
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_QUIET = 0.95
"""Share of the records that must have the common value."""


def flag_rare_values(data: Microdata, column: Column) -> NDArray[np.bool_] | None:
    """Which records do not have the value that nearly all share; None where no value is that common. A null counts as rare.

    An attribute whose cells overlap is never quiet: a record with a rare cell may still agree with the common value.
    """
    if overlaps(data, column):
        return None
    counts = np.bincount(column.codes, minlength=column.cardinality)
    if column.has_null:
        counts[-1] = 0
    if not len(counts) or counts.max() < _QUIET * len(column.codes):
        return None
    return np.asarray(column.codes != counts.argmax())


def keep_further_rare_values(members: Any, rare: NDArray[np.int32], shared: int) -> Any:
    """A list without the records that have no further rare values than those that the whole group shares."""
    keep = rare[members.rows] > shared
    return replace(members, rows=members.rows[keep], group=members.group[keep])


def restrict_to(records: RecordClass, members: NDArray[np.bool_]) -> RecordClass:
    """The record class restricted to the given members."""
    rows = np.arange(records.size, dtype=np.uint32) if records.rows is None else records.rows
    rows = rows[members[rows]]
    return replace(records, rows=rows, size=len(rows))
