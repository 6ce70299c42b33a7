"""The share of the population that a sample is, from what the owner says about it."""

from __future__ import annotations

from discreet.engine.statistics.sampling_weights import read_sampling_weights
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata


def sampling_fraction(data: Microdata, measure: str, fraction: float | None, size: int | None) -> float | None:
    """The given fraction, or records / population size, or records / sum of the sampling weights; None where nothing says it."""
    if fraction is not None:
        return fraction
    if size is not None:
        if size < len(data):
            raise DataError(
                f"{measure}: size says that the population has {size:,} persons, but {data.source} has {len(data):,} records; "
                "give the size of the population that the records were drawn from"
            )
        return len(data) / size if len(data) else 1.0
    named = data.named(Role.WEIGHT)
    if not named:
        return None
    weights = read_sampling_weights(data.frame[named[0]], measure)
    return len(weights) / float(weights.sum()) if len(weights) else 1.0
