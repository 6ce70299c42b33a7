"""Classes of records with the same consequence of disclosure.

What an attacker would learn of a record is one weight per attribute, and the policy defines few different weights. So the records
of a table fall into few consequence classes ("kinds"), and the number of its class (one byte per record, seldom two) replaces the
weights of each record.
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
class ConsequenceClasses:
    """The class of each record, and for each class an example record and whether anything sensitive can be learnt of it."""

    of: NDArray[Any]
    example: NDArray[np.int64]
    learns: NDArray[np.bool_]


def consequence_classes(data: Microdata, names: list[str]) -> ConsequenceClasses | None:
    """The consequence classes of a table that has records; None where there would be too many to save memory."""
    weights = weights_of(data, names)
    kind: NDArray[Any] = np.zeros(len(data), dtype=np.uint8)
    number, learns = 1, np.zeros(1, dtype=np.bool_)
    for column in encode(data, weights):
        values, weight = np.unique(weights[column.name], return_inverse=True)
        if number * len(values) > _MOST_PAIRS:
            return None
        occurs = np.zeros(number * len(values), dtype=np.uint8)
        kernels.mark_pairs(kind, column.codes, weight, len(values), occurs)
        pairs = np.flatnonzero(occurs)
        learns = learns[pairs // len(values)] | (values[pairs % len(values)] > 0)
        number = len(pairs)
        table = np.cumsum(occurs, dtype=np.int64) - 1
        new = np.empty(len(data), dtype=code_type(number - 1))
        kernels.renumber(kind, column.codes, weight, len(values), table, new)
        kind = new
    example = np.empty(number, dtype=np.int64)
    kernels.first_records(kind, example)
    return ConsequenceClasses(kind, example, learns)
