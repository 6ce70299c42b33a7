"""Discernibility: the number of records from which each record cannot be distinguished."""

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
    """The discernibility metric: the penalty of a record is the size of its equivalence class, or of the table if it is blank.

    ``metric`` is the sum of the penalties (C_DM of Bayardo & Agrawal 2005), ``before`` that of the original. With d the metric
    divided by its largest value t^2, ``loss`` is (d_after - d_before)/(1 - d_before), and 0 if masking made records easier to
    distinguish. Records that sampling removed have no penalty: only the released records count.

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
        "metric": "sum over all records of the size of their equivalence class",
        "before": "the metric of the original",
        "average_class": "records per equivalence class, averaged over records",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "cost": "penalty of the record: the size of its equivalence class",
    }

    attributes: tuple[str, ...] = Field(
        default=(), description="attributes that define the equivalence classes; default: the keys"
    )

    def measure(self, original: Microdata, masked: Microdata) -> Score:
        names = list(self.attributes) or [name for name in original.named(Role.KEY) if name in masked.columns]
        if not names:
            raise DataError(f"discernibility needs attributes with the role key that {masked.source} still has")
        before, after = _penalties(original, names), _penalties(masked, names)
        old, new = _share_of_maximum(before), _share_of_maximum(after)
        summary = {
            "loss": max(0.0, (new - old) / (1 - old)) if old < 1 else 0.0,
            "metric": int(after.sum()),
            "before": int(before.sum()),
            "average_class": float(after.mean()) if len(after) else 0.0,
        }
        return Score(self.name, summary, pl.DataFrame({"cost": after}))


def _penalties(data: Microdata, names: list[str]) -> NDArray[np.int64]:
    """The penalty of each record; a record is blank if every value is null or ``*``."""
    columns = encode(data, names)
    penalties = class_sizes(columns, len(data)).astype(np.int64)
    blank = np.ones(len(data), dtype=np.bool_)
    for column in columns:
        star = column.values.cast(pl.String).index_of(EVERYTHING) if column.values.dtype == pl.String else None
        blank &= column.is_null | (column.codes == star if star is not None else False)
    return np.where(blank, len(data), penalties)


def _share_of_maximum(penalties: NDArray[np.int64]) -> float:
    return float(penalties.sum()) / len(penalties) ** 2 if len(penalties) else 0.0
