"""A small distribution of each attribute, which the attributes page shows as bars."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl

MAX_BARS = 12
_MAX_LABEL = 40
_TAILS = (0.01, 0.99)
"""Numbers outside these quantiles are counted in the first and last interval, so that one outlier does not flatten the rest."""


def describe_distributions(frame: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """For each column the counts of its bars with their labels; columns without a value, or without a repeated one, have none.

    >>> describe_distributions(pl.DataFrame({"sex": ["f", "m", "f", None]}))["sex"]
    {'kind': 'values', 'counts': [2, 1], 'labels': ['f', 'm'], 'others': 0}
    """
    described = {name: _describe(frame[name]) for name in frame.columns}
    return {name: distribution for name, distribution in described.items() if distribution is not None}


def _describe(column: pl.Series) -> dict[str, Any] | None:
    known = column.drop_nulls()
    if known.dtype.is_float():
        known = known.filter(known.is_finite())
    distinct = known.n_unique()
    if not len(known) or (distinct == len(known) and distinct > MAX_BARS and not _is_quantity(known.dtype)):
        return None
    if _is_quantity(known.dtype) and distinct > MAX_BARS:
        return _count_intervals(known)
    return _count_values(known, ordered=_is_quantity(known.dtype))


def _is_quantity(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype in (pl.Date, pl.Datetime)


def _count_values(known: pl.Series, *, ordered: bool) -> dict[str, Any]:
    """Counts of the most frequent values, in their own order if they have one; ``others`` counts the remaining records."""
    counts = known.alias("value").value_counts(name="n").sort(["n", "value"], descending=[True, False])
    top = counts.head(MAX_BARS)
    shown = top.sort("value") if ordered else top
    labels = [_label(value) for value in shown["value"]]
    return {"kind": "values", "counts": shown["n"].to_list(), "labels": labels, "others": len(known) - int(top["n"].sum())}


def _count_intervals(known: pl.Series) -> dict[str, Any]:
    """Counts in intervals of equal width between the tails."""
    numbers = known.to_physical().cast(pl.Float64).to_numpy()
    low, high = np.quantile(numbers, _TAILS)
    if not math.isfinite(high - low) or low == high:
        low, high = float(numbers.min()), float(numbers.max())
    counts, _ = np.histogram(np.clip(numbers, low, high), bins=MAX_BARS, range=(low, high))
    return {"kind": "intervals", "counts": counts.tolist(), "labels": [_label(known.min()), _label(known.max())], "others": 0}


def _label(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _MAX_LABEL else text[:_MAX_LABEL] + "…"
