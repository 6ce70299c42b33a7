"""A score: what a measure found, with its meaning by record and by attribute."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

Number = int | float
Summary = Mapping[str, Number | Mapping[str, Number] | None]


@dataclass(frozen=True)
class Score:
    """The result of one risk or loss measure.

    ``summary`` holds the numbers, ``per_record`` a row a record in the order of the data, ``per_attribute`` a row
    an attribute, ``interval`` bounds of the headline number where it is not exact, ``notes`` sentences for people.
    """

    measure: str
    summary: Summary
    per_record: pl.DataFrame | None = None
    per_attribute: pl.DataFrame | None = None
    interval: tuple[float, float] | None = None
    notes: tuple[str, ...] = field(default=())

    def __getitem__(self, name: str) -> Any:
        return self.summary[name]

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain JSON values; a number that JSON cannot hold becomes null."""
        return {name: _plain(value) for name, value in self.summary.items()}

    def to_json(self) -> str:
        return json.dumps(self.to_dict())


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if hasattr(value, "item") else value
