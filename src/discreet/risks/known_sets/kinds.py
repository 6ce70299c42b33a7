"""Kinds of records: those for whom the same would be learnt.

What an intruder would learn of a record is a weight an attribute, and weights come from the policy's few words. So the records of
a table fall into few kinds, and a number per kind (one byte per record, seldom two) says all that the weights of each record do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.encoding.columns import code_type, encode
from discreet.engine.known_sets.inputs import weights_of
from discreet.model.microdata import Microdata
from discreet.risks.known_sets import large_kernels as kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_PAIRS = 1 << 24


@dataclass(frozen=True)
class Kinds:
    """The kind of each record, for each kind a record that is of it, and whether there is anything to learn of such a one."""

    of: NDArray[Any]
    example: NDArray[np.int64]
    learns: NDArray[np.bool_]


def kinds_of(data: Microdata, names: list[str]) -> Kinds | None:
    """The kinds of a table that has records; none where they are too many to be worth it."""
    weights = weights_of(data, names)
    kind: NDArray[Any] = np.zeros(len(data), dtype=np.uint8)
    number, learns = 1, np.zeros(1, dtype=np.bool_)
    for column in encode(data, weights):
        values, weight = np.unique(weights[column.name], return_inverse=True)
        if number * len(values) > _MOST_PAIRS:
            return None
        occurs = np.zeros(number * len(values), dtype=np.uint8)
        kernels.combine(kind, column.codes, weight, len(values), occurs)
        pairs = np.flatnonzero(occurs)
        learns = learns[pairs // len(values)] | (values[pairs % len(values)] > 0)
        number = len(pairs)
        table = np.cumsum(occurs, dtype=np.int64) - 1
        new = np.empty(len(data), dtype=code_type(number - 1))
        kernels.renumber(kind, column.codes, weight, len(values), table, new)
        kind = new
    example = np.empty(number, dtype=np.int64)
    kernels.firsts(kind, example)
    return Kinds(kind, example, learns)
