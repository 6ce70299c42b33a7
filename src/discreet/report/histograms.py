"""Records by risk before and after, in classes that are the same for both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.model.score import Score
from discreet.report.worst import number_of

_SIZES = (1, 2, 3, 5, 10, 100, 1_000, 10_000)
_LOWEST = -9


def histogram(before: Score, after: Score, informed: Score | None = None) -> dict[str, Any] | None:
    """Classes with counts before, after and to one who holds true values; None where a measure tells nothing of records."""
    field, tables = _tables([before, after, *([informed] if informed else [])])
    if not tables:
        return None
    keys = sorted({key for one in tables for key in one})
    if field != "class_size":  # decades without a record in between are shown, so that the scale stays one
        positive = [key for key in keys if key > -np.inf]
        keys = [key for key in keys if key == -np.inf] + (
            list(range(int(positive[0]), int(positive[-1]) + 1)) if positive else []
        )
    names = ["before", "after", "informed"][: len(tables)]
    rows = [
        {
            "label": _size(key) if field == "class_size" else _decade(key),
            **{n: int(t.get(key, 0)) for n, t in zip(names, tables, strict=True)},
        }
        for key in keys
    ]
    return {"field": field, "rows": rows}


def _tables(scores: list[Score]) -> tuple[str, list[dict[float, int]]]:
    if all(isinstance(score.summary.get("histogram"), Mapping) for score in scores):
        return "risk", [_from_summary(score.to_dict()["histogram"]) for score in scores]
    ranked = number_of(scores[0])
    if ranked is None:
        return "", []
    field = ranked[0]
    columns = [None if score.per_record is None else score.per_record.get_column(field, default=None) for score in scores]
    if any(column is None for column in columns):
        return "", []
    made = []
    for column in columns:
        assert column is not None
        numbers = column.drop_nulls().cast(float).to_numpy()
        if field == "class_size":
            classes = np.array(_SIZES)[np.searchsorted(_SIZES, numbers, side="right") - 1]
        else:
            with np.errstate(divide="ignore"):
                classes = np.where(numbers > 0, np.maximum(np.floor(np.log10(numbers) + 1e-12), _LOWEST), -np.inf)
        keys, counts = np.unique(classes, return_counts=True)
        made.append({float(key): int(count) for key, count in zip(keys, counts, strict=True)})
    return field, made


def _from_summary(table: Mapping[str, int]) -> dict[float, int]:
    return {-np.inf if key == "0" else float(int(key[2:])): int(count) for key, count in table.items()}


def _decade(key: float) -> str:
    if key == -np.inf:
        return "0"
    if -4 <= key <= 5:
        return f"{10.0**key:,.{max(0, -int(key))}f} to {10.0 ** (key + 1):,.{max(0, -int(key) - 1)}f}"
    return f"1e{int(key)} to 1e{int(key) + 1}"


def _size(key: float) -> str:
    at = _SIZES.index(int(key))
    if at + 1 == len(_SIZES):
        return f"{_SIZES[at]:,} and more"
    top = _SIZES[at + 1] - 1
    return f"{_SIZES[at]:,}" if top == _SIZES[at] else f"{_SIZES[at]:,} to {top:,}"
