"""The summary of k-anonymity from the sizes of the equivalence classes, on any engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

THRESHOLDS = (2, 3, 5)
"""The k whose violations are counted."""


@dataclass(frozen=True)
class ClassStatistics:
    """Sufficient statistics: the smallest class size, the number of classes, and for each k the records in smaller classes."""

    smallest: int
    classes: int
    violating: Mapping[int, int]


def summarize(statistics: ClassStatistics) -> dict[str, int]:
    """The fields of the summary; a sample unique is a record that violates 2-anonymity."""
    return {
        "k": statistics.smallest,
        "classes": statistics.classes,
        "unique": statistics.violating[2],
        **{f"violating_{k}": statistics.violating[k] for k in THRESHOLDS},
    }
