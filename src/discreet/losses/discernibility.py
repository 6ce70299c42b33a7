"""Discernibility: how many records each record cannot be told from."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.classes.groups import class_sizes
from discreet.engine.encoding.columns import encode
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.cells import EVERYTHING
from discreet.model.contracts import LossMeasure
from discreet.model.microdata import Microdata
from discreet.model.score import Score

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Discernibility(LossMeasure):
    """The discernibility metric: each record costs the size of its class, a wholly blank one the size of the table.

    ``metric`` is the sum of these costs (Bayardo and Agrawal's C_DM), ``before`` that of the original. With d the metric
    over its largest value t^2, ``loss`` is (d_after - d_before)/(1 - d_before), and 0 where masking made records easier
    to tell apart. Sampled-away records cost nothing: what is left is judged.

    >>> from discreet.testing import table
    >>> before = table({"age": [44, 45, 55, 56]}, key=["age"])
    >>> after = before.with_columns({"age": pl.Series(["40..50", "40..50", "50..60", "50..60"])})
    >>> Discernibility().measure(before, after).summary["metric"]
    8
    """

    name: ClassVar[str] = "discernibility"
    citation: ClassVar[str] = "Bayardo, R. J. & Agrawal, R. (2005). Data privacy through optimal k-anonymization. ICDE, 217-228."
    neutral: ClassVar[Collection[str]] = ("metric", "before", "average_class")
    meaning: ClassVar[Mapping[str, str]] = {
        "loss": "metric beyond the original's, 0 to 1",
        "metric": "sum of the class sizes of all records",
        "before": "the same of the original",
        "average_class": "records that a record looks like, itself included, on average",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "cost": "penalty of the record: the size of its equivalence class",
    }

    attributes: tuple[str, ...] = Field(default=(), description="attributes that tell records apart; the keys where empty")

    def measure(self, original: Microdata, masked: Microdata) -> Score:
        names = list(self.attributes) or [name for name in original.named(Role.KEY) if name in masked.columns]
        if not names:
            raise DataError(f"discernibility needs attributes with the role key that {masked.source} still has")
        before, after = _costs(original, names), _costs(masked, names)
        old, new = _share(before), _share(after)
        summary = {
            "loss": max(0.0, (new - old) / (1 - old)) if old < 1 else 0.0,
            "metric": int(after.sum()),
            "before": int(before.sum()),
            "average_class": float(after.mean()) if len(after) else 0.0,
        }
        return Score(self.name, summary, pl.DataFrame({"cost": after}))


def _costs(data: Microdata, names: list[str]) -> NDArray[np.int64]:
    columns = encode(data, names)
    costs = class_sizes(columns, len(data)).astype(np.int64)
    blank = np.ones(len(data), dtype=np.bool_)
    for column in columns:
        star = column.values.cast(pl.String).index_of(EVERYTHING) if column.values.dtype == pl.String else None
        blank &= column.is_null | (column.codes == star if star is not None else False)
    return np.where(blank, len(data), costs)


def _share(costs: NDArray[np.int64]) -> float:
    return float(costs.sum()) / len(costs) ** 2 if len(costs) else 0.0
