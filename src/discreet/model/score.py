"""A score: what a measure found, with its meaning by record and by attribute."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from discreet.model.showing import Shown

Number = int | float
Summary = Mapping[str, Number | Mapping[str, Number] | None]


class Score(Shown):
    """The result of one risk or loss measure.

    ``summary`` holds the numbers, ``per_record`` a row a record in the order of the data (made when first asked for, where a
    measure gives a function), ``per_attribute`` a row an attribute, ``interval`` bounds of the headline number where it is not
    exact, ``notes`` sentences for people, ``gaps`` sentences on what the measure could not cover (each makes an assessment
    incomplete), ``bounds`` for fields that are not certain the least and the largest number they may be: a limit is judged on the
    worse one. ``riskiest`` gives the first rows of ``per_record`` in order of risk, with the row's number as ``record``, where
    a measure can tell them without making the whole.
    """

    def __init__(
        self,
        measure: str,
        summary: Summary,
        per_record: pl.DataFrame | Callable[[], pl.DataFrame] | None = None,
        per_attribute: pl.DataFrame | None = None,
        interval: tuple[float, float] | None = None,
        notes: tuple[str, ...] = (),
        riskiest: Callable[[int], pl.DataFrame] | None = None,
        gaps: tuple[str, ...] = (),
        bounds: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        self.measure = measure
        self.summary = summary
        self.per_attribute = per_attribute
        self.interval = interval
        self.notes = notes
        self.riskiest = riskiest
        self.gaps = gaps
        self.bounds = bounds or {}
        self._per_record = per_record

    @property
    def per_record(self) -> pl.DataFrame | None:
        if callable(self._per_record):
            self._per_record = self._per_record()
        return self._per_record

    def __getitem__(self, name: str) -> Any:
        return self.summary[name]

    def __repr__(self) -> str:
        return f"Score({self.measure!r}, {dict(self.summary)!r})"

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
