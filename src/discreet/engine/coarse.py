"""What a masked cell contains, by :mod:`discreet.engine.cells.containment`; and values as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.cells.containment import Coarse, coarse

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Coarse", "as_numbers", "coarse"]


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
