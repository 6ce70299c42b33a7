"""The summary of t-closeness from the distances of the equivalence classes, on any engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class ClosenessStatistics:
    """Sufficient statistics: the largest distance of a class, the sum of distances over records, and the number of records.

    ``by_attribute`` holds for each sensitive attribute its name, the kind of its ground distance and its largest distance.
    """

    largest: float
    total: float
    records: int
    by_attribute: Sequence[tuple[str, str, float]]


def summarize(statistics: ClosenessStatistics) -> dict[str, float]:
    """The fields of the summary; the mean is over records, so a class counts by its size."""
    mean = statistics.total / statistics.records if statistics.records else 0.0
    return {"t": statistics.largest, "mean_t": mean}


def tabulate_attributes(statistics: ClosenessStatistics) -> pl.DataFrame:
    """One row per sensitive attribute."""
    schema = {"attribute": pl.String, "distance": pl.String, "t": pl.Float64}
    return pl.DataFrame(list(statistics.by_attribute), schema=schema, orient="row")
