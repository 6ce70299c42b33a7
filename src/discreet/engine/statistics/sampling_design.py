"""The share of the population that a sample is, from what the owner says about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.statistics.sampling_weights import read_sampling_weights
from discreet.errors import DataError, nearest
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


def sampling_fraction(data: Microdata, measure: str, fraction: float | None, size: int | None) -> float | None:
    """The share of the population that is in the file; None where nothing says it.

    In this order: the fraction given, records / size, records / sum of the sampling weights, the policy's section sampling.
    """
    if fraction is not None:
        return fraction
    if size is not None:
        return _share_of(len(data), size, data, f"{measure}: size")
    weights = record_weights(data, measure)
    if weights is None:
        return None
    return len(weights) / float(weights.sum()) if len(weights) else 1.0


def record_weights(data: Microdata, measure: str) -> NDArray[np.float64] | None:
    """For each record the persons that it stands for: its sampling weight, or by the policy's section sampling.

    The weights of the role weight come first, because they may differ from record to record; None where neither says anything.
    """
    design = data.policy.sampling
    if named := data.named(Role.WEIGHT):
        return read_sampling_weights(data.frame[named[0]], measure)
    if not design.is_stated:
        return None
    if isinstance(design.fraction, dict) or isinstance(design.population, dict):
        return _weights_by_stratum(data)
    if isinstance(design.population, int):
        return np.full(len(data), 1 / _share_of(len(data), design.population, data, "sampling: population"))
    assert isinstance(design.fraction, float | int)
    return np.full(len(data), 1 / design.fraction)


def _share_of(records: int, size: int, data: Microdata, parameter: str) -> float:
    if size < records:
        raise DataError(
            f"{parameter} says that the population has {size:,} persons, but {data.source} has {records:,} records; "
            "give the size of the population that the records were drawn from"
        )
    return records / size if records else 1.0


def _weights_by_stratum(data: Microdata) -> NDArray[np.float64]:
    """Persons per record in the stratum of each record."""
    design = data.policy.sampling
    numbers = design.fraction if isinstance(design.fraction, dict) else design.population
    assert isinstance(numbers, dict)
    absent = [name for name in design.strata if name not in data.columns]
    if absent:
        raise DataError(
            f"sampling: the stratum attribute '{absent[0]}' is not a column of {data.source}; {nearest(absent[0], data.columns)}"
        )
    texts = [pl.col(name).cast(pl.String).fill_null("null") for name in design.strata]
    strata = data.frame.select(pl.concat_str(texts, separator=" / ").alias("stratum"))["stratum"]
    counts = dict(strata.value_counts().iter_rows())
    weights = {}
    for stratum, records in counts.items():
        if stratum not in numbers:
            raise DataError(
                f"sampling: the stratum '{stratum}' of {data.source} ({records:,} records) has no number; "
                f"{nearest(stratum, list(numbers))}"
            )
        number = numbers[stratum]
        parameter = f"sampling: population of the stratum '{stratum}'"
        share = float(number) if isinstance(design.fraction, dict) else _share_of(records, int(number), data, parameter)
        weights[stratum] = 1 / share
    return strata.replace_strict(weights, return_dtype=pl.Float64).to_numpy() if len(data) else np.zeros(0)
