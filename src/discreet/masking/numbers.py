"""Convert a column to floats and back: nulls stay null, integers stay integers, dates stay dates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray


def numbers_of(series: pl.Series) -> NDArray[np.float64]:
    """The values as floats, NaN for null; a date is its distance from 1970-01-01 in the column's time unit."""
    physical = series.to_physical() if series.dtype.is_temporal() else series
    if series.null_count() == 0:
        return physical.cast(pl.Float64).to_numpy()
    return physical.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def is_whole(dtype: pl.DataType) -> bool:
    """Whether a column of this type holds whole numbers only."""
    return bool(dtype.is_integer() or dtype.is_temporal())


def restore(values: NDArray[np.float64], series: pl.Series) -> pl.Series:
    """Floats as a column of the type of ``series``, NaN as null: rounded for integers, and clipped to the range of the type."""
    dtype = series.dtype
    if is_whole(dtype):
        physical = series.to_physical().dtype
        low, high = _range(physical)
        # the largest float below 2^63 is 1024 below it, so a clip to the type's maximum could overflow
        whole = np.clip(np.rint(values), low, np.nextafter(high, low) if high > 2**53 else high)
        missing = np.isnan(whole)
        restored = pl.Series(series.name, np.where(missing, 0.0, whole)).cast(physical)
        restored = restored.cast(dtype) if dtype != physical else restored
    else:
        missing = np.isnan(values)
        restored = pl.Series(series.name, values).cast(dtype)
    return restored.set(pl.Series(missing), None) if missing.any() else restored


def restore_exactly(values: NDArray[np.float64], series: pl.Series) -> pl.Series:
    """As ``restore``, but integers become floats where rounding would change a value (a mean of 44.5)."""
    exact = not series.dtype.is_integer() or bool((values[~np.isnan(values)] % 1 == 0).all())
    return restore(values, series if exact else series.cast(pl.Float64))


def _range(dtype: pl.DataType) -> tuple[float, float]:
    bounds = pl.select(low=dtype.min(), high=dtype.max()).row(0)  # type: ignore[attr-defined]
    return float(bounds[0]), float(bounds[1])
