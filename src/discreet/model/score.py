"""A score: the result of a measure, with its values by record and by attribute."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.errors import DataError
from discreet.model.showing import Plottable

if TYPE_CHECKING:
    from discreet.model.sensitivity import Sensitivity

_SHOWN_WITH_BOUNDS = ("high_risk", "high_risk_share", "effective_k_min", "effective_k_median", "below_5")
"""Fields whose number is shown as it is over all known sets: as an interval where it is not decided."""
_WIDTH = 1e-3
Number = int | float
Summary = Mapping[str, Number | Mapping[str, Number] | None]


class Score(Plottable):
    """The result of one risk or loss measure.

    ``summary`` holds the numbers, ``per_record`` one row per record in the order of the data (computed on first access, where a
    measure gives a function), ``per_attribute`` one row per attribute, ``interval`` the bounds of the headline number where it is
    not exact, ``notes`` sentences for people, ``gaps`` sentences on what the measure could not cover (each makes an assessment
    incomplete), ``bounds`` the smallest and largest possible number of fields that are not exact: a limit is judged on the worse
    one. ``basis`` says of fields about the population what they rest on: a count, sampling weights, or a model with the level of
    its interval. ``riskiest`` returns the first rows of ``per_record`` in order of risk, with the row's number as ``record``,
    where a measure can compute them without the whole table. ``record_batches`` yields ``per_record`` in batches of rows, with
    columns that would not fit into memory for all records; files are written from it. ``examine`` is set by ``discreet.risk``: it
    knows the table for ``sensitivity()``.
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
        basis: Mapping[str, str] | None = None,
        record_batches: Callable[[], Iterator[pl.DataFrame]] | None = None,
    ) -> None:
        self.measure = measure
        self.summary = summary
        self.per_attribute = per_attribute
        self.interval = interval
        self.notes = notes
        self.riskiest = riskiest
        self.gaps = gaps
        self.bounds = bounds or {}
        self.basis = basis or {}
        self.record_batches = record_batches
        self.examine: Callable[[Mapping[str, float] | None, float], Sensitivity] | None = None
        self._per_record = per_record

    @property
    def per_record(self) -> pl.DataFrame | None:
        if callable(self._per_record):
            self._per_record = self._per_record()
        return self._per_record

    @property
    def certified(self) -> dict[str, tuple[float, float]]:
        """The smallest and largest possible number of counts and class sizes over all known sets; both are equal where decided.

        The summary counts over the sets that are kept alone, and may be safer than any number between these bounds.
        """
        certified = {name: self.bounds[name] for name in _SHOWN_WITH_BOUNDS if name in self.bounds}
        return {name: (low, high if low < high * (1 - _WIDTH) else low) for name, (low, high) in certified.items()}

    def __getstate__(self) -> dict[str, Any]:
        """The score with its values per record computed, because the function that computes them cannot be pickled."""
        return vars(self) | {"_per_record": self.per_record, "riskiest": None, "record_batches": None, "examine": None}

    def __getitem__(self, name: str) -> Any:
        return self.summary[name]

    def __repr__(self) -> str:
        return f"Score({self.measure!r}, {dict(self.summary)!r})"

    def sensitivity(self, limits: Mapping[str, float] | None = None, *, seconds: float = 60.0) -> Sensitivity:
        """How far the verdicts on these limits (summary field: number) hold where guesses are wrong; it has a ``plot()``.

        Default: the limits of the policy. Without limits it says which guesses the numbers rest on.
        """
        if self.examine is None:
            raise DataError(
                f"only a score of discreet.risk knows its table; discreet.sensitivity examines {self.measure} as well"
            )
        return self.examine(limits, seconds)

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain JSON values; a number that JSON cannot represent becomes null."""
        return {name: _json_value(value) for name, value in self.summary.items()}

    def to_json(self) -> str:
        return json.dumps(self.to_dict())


def _json_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _json_value(inner) for name, inner in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if hasattr(value, "item") else value
