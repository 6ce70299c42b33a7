"""The summary of repeated records (Kartal & Li 2016) from groups and persons, on any engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

NO_CONFIDENTIAL = "h is not measured: no attribute has the role confidential"


@dataclass(frozen=True)
class GroupStatistics:
    """Sufficient statistics over the groups that the intruder can distinguish; sums run over records.

    ``k`` is the size of the smallest equivalence class, ``fewest_persons`` the persons of the smallest group.
    ``affiliation_largest`` and ``affiliation_total`` hold one number per confidential attribute of ``confidential``.
    """

    k: int
    groups: int
    records: int
    fewest_persons: int
    balance_least: float
    balance_total: float
    confidential: Sequence[str]
    affiliation_largest: Sequence[float]
    affiliation_total: Sequence[float]


@dataclass(frozen=True)
class PersonStatistics:
    """Sufficient statistics over persons, each with the largest probability over its records."""

    persons: int
    over_threshold: int
    probability_largest: float
    probability_total: float


def summarize(groups: GroupStatistics, persons: PersonStatistics) -> dict[str, int | float | None]:
    """The fields of the summary; g-balance is Kartal & Li (2016), eq. 1, and h-affiliation eq. 3."""
    return {
        "k": groups.k,
        "min_persons": groups.fewest_persons,
        "min_g": groups.balance_least,
        "mean_g": _share(groups.balance_total, groups.records),
        "max_h": max(groups.affiliation_largest, default=0.0) if groups.confidential else None,
        "persons": persons.persons,
        "over_threshold": persons.over_threshold,
        "over_threshold_share": _share(persons.over_threshold, persons.persons),
        "max_probability": persons.probability_largest,
        "mean_probability": _share(persons.probability_total, persons.persons),
        "groups": groups.groups,
    }


def tabulate_attributes(groups: GroupStatistics) -> pl.DataFrame:
    """One row per confidential attribute: its largest h-affiliation, and the mean over records."""
    return pl.DataFrame(
        {
            "attribute": pl.Series(list(groups.confidential), dtype=pl.String),
            "max_h": list(groups.affiliation_largest),
            "mean_h": [_share(total, groups.records) for total in groups.affiliation_total],
        },
        schema_overrides={"max_h": pl.Float64, "mean_h": pl.Float64},
    )


def _share(total: float, number: int) -> float:
    return total / number if number else 0.0
