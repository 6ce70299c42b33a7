"""Changed values: the plainest way of telling what masking cost."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

import numpy as np
import polars as pl

from discreet.model.attribute import Role
from discreet.model.contracts import LossMeasure
from discreet.model.microdata import Microdata
from discreet.model.score import Score


class ChangedValues(LossMeasure):
    """Share of the values, of the records that are still there, which are not what they were.

    Identifiers and persons are not counted: a release is without them by design. Records are compared by their numbers,
    never by their place; a column that is gone has changed altogether.

    >>> from discreet.testing import table
    >>> data, masked = table({"age": [44, 55], "sex": ["f", "m"]}), table({"age": [44, 50], "sex": ["f", None]})
    >>> ChangedValues().measure(data, masked)["loss"]
    0.5
    """

    name: ClassVar[str] = "changed_values"
    citation: ClassVar[str] = "Hundepool, A. et al. (2012). Statistical Disclosure Control, section 3.9. Wiley."
    documentation: ClassVar[str] = "README.md of the distribution discreet-example"
    neutral: ClassVar[Collection[str]] = ("values",)
    meaning: ClassVar[Mapping[str, str]] = {
        "loss": "share of the values that changed, 0 to 1",
        "values": "values compared: records x attributes",
    }

    def measure(self, original: Microdata, masked: Microdata) -> Score:
        hidden = original.named(Role.IDENTIFIER, Role.PERSON)
        names = [name for name in original.columns if name not in hidden]
        order = np.argsort(original.records, kind="stable")
        rows = np.flatnonzero(np.isin(masked.records, original.records))
        at = order[np.searchsorted(original.records[order], masked.records[rows])]
        changed = {name: _changed(original, masked, name, at, rows) for name in names}
        total = sum(int(one.sum()) for one in changed.values())
        cells = len(rows) * len(names)
        table = [(name, float(one.mean()) if len(rows) else 0.0) for name, one in changed.items()]
        return Score(
            self.name,
            {"loss": total / cells if cells else 0.0, "values": cells},
            per_attribute=pl.DataFrame(table, schema={"attribute": pl.String, "loss": pl.Float64}, orient="row"),
        )


def _changed(original: Microdata, masked: Microdata, name: str, at: np.ndarray, rows: np.ndarray) -> np.ndarray:
    if name not in masked.columns:
        return np.ones(len(rows), dtype=np.bool_)
    one, other = original.frame[name][at], masked.frame[name][rows]
    if one.dtype != other.dtype:
        one, other = one.cast(pl.String), other.cast(pl.String)
    return one.ne_missing(other).to_numpy()
