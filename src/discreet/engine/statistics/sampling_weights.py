"""Sampling weights: for each record the number of persons of the population that it stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from discreet.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def read_sampling_weights(series: pl.Series, measure: str) -> NDArray[np.float64]:
    """The weights of a column as numbers of at least 1; raises DataError that names the first one that is not."""
    name = series.name
    rule = f"{measure}: the sampling weights '{name}' must be numbers of at least 1, because 1/weight is a probability"
    if not series.dtype.is_numeric():
        raise DataError(f"{rule}; the column holds {series.dtype} values")
    weights = series.cast(pl.Float64)
    wrong = (weights.is_null() | weights.is_nan() | weights.is_infinite() | (weights < 1)).fill_null(value=True)
    if count := int(wrong.sum()):
        row = int(wrong.arg_max() or 0)
        raise DataError(f"{rule}; {count:,} of {len(series):,} are not, the first in row {row + 1:,}: {series[row]}")
    return weights.to_numpy()
