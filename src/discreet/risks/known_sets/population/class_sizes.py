"""How 1/F is obtained for the classes of a known set: from a population table, from sampling weights, or from a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from discreet.engine.population.benedetti_franconi import individual_risk
from discreet.risks.known_sets.population.class_growth import InverseSizes, estimate_inverse_sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FACTOR = 4


class SizeEstimate(Protocol):
    """E(1/F) of classes; ``persons`` is the size of the population, ``exact`` says that F is counted."""

    @property
    def persons(self) -> float: ...

    @property
    def exact(self) -> bool: ...

    def of_classes(self, sizes: NDArray[np.int64], weighted: NDArray[np.float64]) -> InverseSizes:
        """E(1/F) of all classes of a set, with ``sizes`` records and sums of weights (or persons) ``weighted``."""
        ...


@dataclass(frozen=True)
class CountedSizes:
    """F counted in a table of the population: ``weighted`` are its persons by class."""

    persons: float
    exact: bool = True

    def of_classes(self, sizes: NDArray[np.int64], weighted: NDArray[np.float64]) -> InverseSizes:
        inverse = 1 / np.maximum(weighted, 1)  # a class of persons alone has no record, and nobody reads its value
        return InverseSizes(inverse, inverse, inverse)


@dataclass(frozen=True)
class ModelledSizes:
    """E(1/F | f) by :mod:`discreet.risks.known_sets.population.class_growth`."""

    persons: float
    fraction: float
    deviations: float
    exact: bool = False

    def of_classes(self, sizes: NDArray[np.int64], weighted: NDArray[np.float64]) -> InverseSizes:
        if not len(sizes):
            return InverseSizes(*(np.zeros(0) for _ in range(3)))
        if int(sizes.max()) <= _FACTOR * len(sizes) + 4096:
            numbers = np.bincount(sizes)
            occurring = np.flatnonzero(numbers)
            place = np.zeros(len(numbers), dtype=np.int64)
            place[occurring] = np.arange(len(occurring))
            at, numbers = place[sizes], numbers[occurring]
        else:
            occurring, at, numbers = np.unique(sizes, return_inverse=True, return_counts=True)
        estimates = estimate_inverse_sizes(occurring, numbers, self.fraction, self.deviations)
        return InverseSizes(*(end[at] for end in estimates))


@dataclass(frozen=True)
class WeightedSizes:
    """E(1/F) by Benedetti & Franconi from the records of a class and the sum of their sampling weights.

    Their model has no error of its own, and is far too low where many sample uniques are population uniques. The ends therefore
    hold what :class:`ModelledSizes` says too: they are moved by its factor over the same formula with the mean weight.
    """

    persons: float
    fraction: float
    deviations: float
    exact: bool = False

    def of_classes(self, sizes: NDArray[np.int64], weighted: NDArray[np.float64]) -> InverseSizes:
        counts = sizes.astype(np.float64)
        value = individual_risk(counts, np.maximum(weighted, counts))
        model = ModelledSizes(self.persons, self.fraction, self.deviations).of_classes(sizes, weighted)
        average = individual_risk(counts, counts / self.fraction)
        low = value * np.minimum(model.low / average, 1.0)
        return InverseSizes(low, value, np.minimum(value * np.maximum(model.high / average, 1.0), 1 / counts))
