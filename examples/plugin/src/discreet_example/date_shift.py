"""Date shifting: each date moves a little."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.microdata import Microdata


class DateShift(MaskingMethod):
    """Moves each date by a whole number of days, all of -days, …, days being equally likely.

    The draw is keyed by the record, so the release does not depend on the order of the rows.

    >>> from datetime import date
    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"seen": [date(2024, 5, 1), None]}, key=["seen"])
    >>> masked = DateShift(days=3).mask(data, ["seen"], KeyedDraw(7))
    >>> abs((masked.frame["seen"][0] - date(2024, 5, 1)).days) <= 3
    True
    """

    name: ClassVar[str] = "date_shift"
    citation: ClassVar[str] = "El Emam, K. & Arbuckle, L. (2013). Anonymizing Health Data. O'Reilly."
    documentation: ClassVar[str] = "README.md of the distribution discreet-example"
    scope: ClassVar[Scope] = Scope.CELL
    default_columns: ClassVar[str] = "the keys that are dates"
    preserves: ClassVar[str] = "Each date to within the number of days; their mean in expectation."

    days: Annotated[int, Field(ge=1, le=3650)] = Field(default=14, description="the longest way that a date moves, in days")

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:
        return f"move each date of {columns} by at most {parameters.get('days', 14)} days, at random"

    def choose(self, data: Microdata) -> list[str]:
        return [name for name in data.named(Role.KEY) if data.frame.schema[name] == pl.Date]

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        if not columns:
            raise DataError(f"date_shift needs columns: {data.source} has no key that is a date")
        for name in columns:
            if data.frame.schema[name] != pl.Date:
                raise DataError(f"date_shift needs dates, but '{name}' is {data.frame.schema[name]}")

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        return data.with_columns({name: self._shift(data, name, draw) for name in columns})

    def _shift(self, data: Microdata, name: str, draw: Draw) -> pl.Series:
        moved = np.floor(draw.uniform(data.records, name) * (2 * self.days + 1)).astype(np.int32) - self.days
        return (data.frame[name].to_physical() + pl.Series(moved)).cast(pl.Date)
