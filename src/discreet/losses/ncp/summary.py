"""The summary of the normalized certainty penalty (Orooji & Knapp 2018b, eq. 4-5) from sums per attribute, on any engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class PenaltySums:
    """The sums of one attribute over all records: penalties, suppressed values and changed values; and its weight."""

    attribute: str
    weight: float
    penalty: float
    suppressed: int
    changed: int


@dataclass(frozen=True)
class PenaltyStatistics:
    """Sufficient statistics: the numbers of compared and of removed records, and the sums per attribute."""

    records: int
    records_lost: int
    sums: Sequence[PenaltySums]

    def mean_penalty(self, sums: PenaltySums) -> float:
        """The mean penalty per value of one attribute."""
        return sums.penalty / self.records if self.records else 0.0


def summarize(statistics: PenaltyStatistics) -> dict[str, int | float]:
    """The fields of the summary: NCP = sum over attributes of weight x mean penalty."""
    return {
        "loss": float(sum(sums.weight * statistics.mean_penalty(sums) for sums in statistics.sums)),
        "worst": max(map(statistics.mean_penalty, statistics.sums), default=0.0),
        "masked": _mean_of_masked(statistics),
        "suppressed": sum(sums.suppressed for sums in statistics.sums),
        "values": statistics.records * len(statistics.sums),
        "records_lost": statistics.records_lost,
    }


def _mean_of_masked(statistics: PenaltyStatistics) -> float:
    """The mean penalty over the attributes of which a value was changed, so that it is not diluted by those left alone."""
    masked = [sums for sums in statistics.sums if sums.changed]
    weight = sum(sums.weight for sums in masked)
    return sum(sums.weight * statistics.mean_penalty(sums) for sums in masked) / weight if weight else 0.0


def tabulate_attributes(statistics: PenaltyStatistics) -> pl.DataFrame:
    """One row per attribute."""
    rows = [
        (sums.attribute, sums.weight, statistics.mean_penalty(sums), sums.suppressed, sums.changed) for sums in statistics.sums
    ]
    return pl.DataFrame(rows, schema=["attribute", "weight", "loss", "suppressed", "changed"], orient="row")
