"""Columns that the quasi-identifiers give: whoever knows the dates of a stay knows its length, whatever its role is.

Such a column is looked for in the original, where an intruder who knows the true values of the quasi-identifiers stands: a sum, a
difference, a product or a ratio of them, as in :mod:`discreet.risks.coverage.relations`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.model.microdata import Microdata
from discreet.risks.coverage.pairing import Paired, draw_sample
from discreet.risks.coverage.relations import find_relation, read_numbers

_SAMPLED = 4_000
"""Records among which relations are looked for, and tried."""


@dataclass(frozen=True)
class Computed:
    """How a column is computed from quasi-identifiers: the formula in words, and these."""

    rule: str
    sources: tuple[str, ...]


def columns_computed_from(original: Microdata, known: Sequence[str], names: Sequence[str]) -> dict[str, Computed]:
    """Of some columns those that equal a sum, difference, product or ratio of ``known`` ones; the table remembers which.

    >>> from discreet.testing import table
    >>> data = table({"born": list(range(1950, 1990)), "seen": [2000 + i % 7 for i in range(40)]}, key=["born", "seen"])
    >>> data = data.with_columns({"age": (data.frame["seen"] - data.frame["born"]).alias("age")})
    >>> columns_computed_from(data, ["born", "seen"], ["age"])["age"].rule
    'seen - born'
    """
    remembered: dict[str, Computed | None] = original.cache.setdefault(("computed from", *known), {})
    missing = [name for name in names if name not in remembered and name not in known and name in original.columns]
    if missing and known and len(original):
        every = np.arange(len(original), dtype=np.int64)
        itself = Paired(original, original, every, every)
        numbers = read_numbers(itself, draw_sample(itself, {}, _SAMPLED), known)
        for name in missing:
            relation = find_relation(itself, name, numbers)
            remembered[name] = None if relation is None else Computed(relation.label, relation.sources)
    return {name: computed for name in names if (computed := remembered.get(name)) is not None}
