"""Values of a column as numbers, so that Mondrian can cut at a median."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray


def as_numbers(values: pl.Series, *, strict: bool = True) -> NDArray[np.float64]:
    """Values as numbers: of a numeric or date column; nothing (``strict``) or not-a-number where they are not."""
    if values.dtype.is_numeric():
        return values.cast(pl.Float64).to_numpy()
    if values.dtype.is_temporal():
        return values.to_physical().cast(pl.Float64).to_numpy()
    if strict or values.dtype != pl.String:
        return np.zeros(0) if strict else np.full(len(values), np.nan)
    found = values.str.strip_chars().cast(pl.Float64, strict=False).fill_null(float("nan"))
    return found.to_numpy()
