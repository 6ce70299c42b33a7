"""Rare values: the risk from an intruder who knows a single attribute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.encoding.columns import encode
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata
from discreet.model.score import Score


def summarize(records: int, rare: int, least_count: int) -> dict[str, int | float]:
    """The summary from sufficient statistics: one definition for both engines."""
    return {"rare": rare, "share": rare / records if records else 0.0, "least_count": least_count}


class RareValues(RiskMeasure):
    """Records that hold, in any one key, a value which fewer than ``least`` records have.

    With count_j(r) the number of records that share r's value of the key j, a record is rare where min_j count_j(r) < least.
    A null is one more value.

    >>> from discreet.testing import table
    >>> data = table({"sex": ["f", "f", "m", "m"], "job": ["nurse", "nurse", "nurse", "mayor"]}, key=["sex", "job"])
    >>> RareValues(least=2).measure(data).to_dict()
    {'rare': 1, 'share': 0.25, 'least_count': 1}
    """

    name: ClassVar[str] = "rare_values"
    citation: ClassVar[str] = "Willenborg, L. & de Waal, T. (1996). Statistical Disclosure Control in Practice. Springer."
    documentation: ClassVar[str] = "README.md of the distribution discreet-example"
    spark: ClassVar[EngineWork | None] = EngineWork("discreet_example.rare_values_spark:rare_values")
    better: ClassVar[Mapping[str, Direction]] = {"rare": "low", "share": "low", "least_count": "high"}
    meaning: ClassVar[Mapping[str, str]] = {
        "rare": "records with a rare value",
        "share": "their share of all records",
        "least_count": "records that share the rarest value",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {"count": "records that share the record's rarest value"}

    least: Annotated[int, Field(ge=1)] = Field(default=5, description="a value is rare where fewer records than this have it")

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        keys = data.named(Role.KEY)
        if not keys:
            raise DataError(f"rare_values needs at least one attribute with the role key in {data.source}")
        counts = np.full(len(data), len(data), dtype=np.int64)
        rows = []
        for column in encode(data, keys):
            shared = np.bincount(column.codes, minlength=column.cardinality)
            rows.append((column.name, int(shared.min(initial=len(data))), int((shared < self.least).sum())))
            counts = np.minimum(counts, shared[column.codes])
        rare, least = int((counts < self.least).sum()), int(counts.min(initial=len(data)))
        return Score(
            self.name,
            summarize(len(data), rare, least),
            pl.DataFrame({"count": counts}),
            pl.DataFrame(rows, schema=["attribute", "least_count", "rare_values"], orient="row"),
        )
