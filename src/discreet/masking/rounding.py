"""Rounding numbers to a base."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.errors import DataError
from discreet.model.attribute import Level
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.microdata import Microdata


class Rounding(MaskingMethod):
    """Replaces x by a multiple of ``base``: the nearest one, or at random the one below or above.

    With ``how: random`` x goes up with probability (x mod base)/base, so that its expectation is x itself.

    >>> from discreet.engine.random import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"income": [45500, 37900]}, confidential=["income"])
    >>> Rounding(base=1000).mask(data, ["income"], KeyedDraw(7)).frame["income"].to_list()
    [46000, 38000]
    """

    name: ClassVar[str] = "rounding"
    citation: ClassVar[str] = (
        "Willenborg, L. & de Waal, T. (2001). Elements of Statistical Disclosure Control, section 1.6. Springer."
    )
    scope: ClassVar[Scope] = Scope.CELL
    preserves: ClassVar[str] = (
        "Each value to within base/2 (nearest) or base (random); random rounding keeps means in expectation."
    )

    base: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        examples=[1000], description="multiples of this are released"
    )
    how: Literal["nearest", "random"] = Field(default="nearest", description="to the nearest multiple, or unbiased at random")

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        if not columns:
            raise DataError("rounding needs columns: name the numeric attributes to round")
        for name in columns:
            if data.level(name) is not Level.NUMERIC or not data.frame.schema[name].is_numeric():
                raise DataError(f"rounding needs numbers, but '{name}' is {data.level(name)} ({data.frame.schema[name]})")

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        return data.with_columns({name: self._round(data, name, draw) for name in columns})

    def _round(self, data: Microdata, name: str, draw: Draw) -> pl.Series:
        series = data.frame[name]
        numbers = series.cast(pl.Float64).fill_null(0.0).to_numpy()
        below = np.floor(numbers / self.base)
        part = numbers / self.base - below
        edge = 0.5 if self.how == "nearest" else draw.uniform(data.records, name)
        up = part >= edge if self.how == "nearest" else part > edge
        made = pl.Series(name, (below + up) * self.base).set(series.is_null(), None)
        return made.cast(series.dtype) if series.dtype.is_integer() and self.base.is_integer() else made
