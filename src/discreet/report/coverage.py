"""The coverage table of the report: which steps changed each column, which measures examined it, and any concern.

The names of columns, methods and measures, and shares of many records, are public; no count below five is written.
"""

from __future__ import annotations

from typing import Any

from discreet.model.results import Assessment


def coverage_rows(assessment: Assessment) -> list[dict[str, Any]] | None:
    """One row per column as text, those of concern first; None where coverage was not measured."""
    table = assessment.coverage.per_attribute if assessment.coverage is not None else None
    if table is None:
        return None
    rows = [
        {
            "column": row["attribute"],
            "role": row["role"] if row["released"] else "not released",
            "steps": row["steps"],
            "adversaries": row["adversaries"],
            "accepted": row["accepted"],
            "restored": None if row["restored_from"] is None else f"{row['restored_share']:.0%}",
            "guessed": None if row["restored_from"] is None else f"{row['baseline_share']:.0%}",
            "concern": row["concern"],
        }
        for row in table.iter_rows(named=True)
    ]
    return sorted(rows, key=lambda row: (row["accepted"] is None, row["concern"] is None))
