"""Which number of a report speaks of the population, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.model.results import Assessment


def population_numbers(assessment: Assessment) -> list[dict[str, Any]]:
    """One row per number that speaks of the population: its value, its interval where it has one, and what it rests on."""
    rows = []
    for name, score in assessment.after.items():
        for field, basis in score.basis.items():
            value = score.summary.get(field)
            if value is None or isinstance(value, Mapping):
                continue
            low, high = score.bounds.get(field, (None, None))
            rows.append({"measure": name, "field": field, "value": value, "low": low, "high": high, "basis": basis})
    return rows
