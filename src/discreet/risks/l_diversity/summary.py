"""The summary of l-diversity from the least diversity over equivalence classes, on any engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

FIELDS = ("l", "entropy_l", "recursive_l")
_COUNTS = ("l", "recursive_l")


@dataclass(frozen=True)
class DiversityStatistics:
    """Sufficient statistics: the least value of each field over the classes, in all and by sensitive attribute.

    A field is None where no class has a value to be learnt. ``homogeneous`` is the number of records in classes with l = 1.
    """

    least: Mapping[str, float | None]
    by_attribute: Mapping[str, Mapping[str, float | None]]
    homogeneous: int


def summarize(statistics: DiversityStatistics) -> dict[str, int | float | None]:
    """The fields of the summary."""
    return {**_as_numbers(statistics.least), "homogeneous": statistics.homogeneous}


def tabulate_attributes(statistics: DiversityStatistics) -> pl.DataFrame:
    """One row per sensitive attribute."""
    rows = [{"attribute": name, **_as_numbers(least)} for name, least in statistics.by_attribute.items()]
    return pl.DataFrame(rows, schema={"attribute": pl.String, "l": pl.Int64, "entropy_l": pl.Float64, "recursive_l": pl.Int64})


def _as_numbers(least: Mapping[str, float | None]) -> dict[str, int | float | None]:
    """L and recursive l count values, so they are integers."""
    values = {field: least[field] for field in FIELDS}
    return {field: None if value is None else int(value) if field in _COUNTS else float(value) for field, value in values.items()}
