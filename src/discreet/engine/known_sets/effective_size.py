r"""The effective class size D1 / D of records, and which records are high-risk by it.

    D(r)  = \sum_{S \ne \emptyset} PK(S) C(r, S) / count(r(S))        Orooji & Knapp (2018a), eq. 1, without the empty set
    D1(r) = \sum_{S \ne \emptyset} PK(S) C(r, S)                      the same with every count 1

so that D1 / D is the weighted harmonic mean of the counts. The coefficient alpha cancels. The empty set is left out: knowing
nothing finds nobody, and its count is the size of the table. See docs/theory/effective_class_size.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.model.threshold import Among

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW = 5
"""Records that are hidden among fewer are counted as ``below_5``."""
NEAR = 1 - 1e-9
"""Sums agree to 1e-9, so a size so near below a number is taken for that number: five alike are never 'fewer than five'."""
_NOTHING = 1e-13
"""A mass that is so small a part of the consequence is rounding: nothing could be learnt by anything known."""


@dataclass(frozen=True)
class Sizes:
    """The effective class size of some records over the kept sets, and bounds of it over all sets.

    Not a number where nothing could be learnt of a record by anything known: then there is nothing to be hidden.
    """

    value: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    @property
    def defined(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.value)

    def part(self, rows: Any) -> Sizes:
        """The sizes of some of the records."""
        return Sizes(self.value[rows], self.lower[rows], self.upper[rows])


def effective_sizes(
    risk: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    consequence: NDArray[np.float64],
    kept_mass: NDArray[np.float64],
    whole_mass: NDArray[np.float64],
    records: int,
    empty: float = 1.0,
) -> Sizes:
    """Sizes from sums before alpha that hold the empty set: over the kept sets, bounds over all, C, and D1 over both families.

    The bounds follow from those of D, for D1 is known exactly. Where epsilon keeps no set but the empty one, the value is the
    lower bound. A size lies between 1 and the number of records, as every count does. ``empty`` is the probability of the empty
    set.
    """
    alone = empty * consequence / max(records, 1)  # the part of the empty set, whose count is the whole table

    def ratio(mass: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
        rest = np.maximum(total - alone, 0.0)
        size = np.divide(mass, rest, out=np.full(len(mass), np.inf), where=rest > 0)
        return np.asarray(np.clip(size, 1.0, float(max(records, 1))))

    nothing = has_no_mass(whole_mass, consequence)
    low, high = ratio(whole_mass, upper), ratio(whole_mass, lower)
    value = np.where(has_no_mass(kept_mass, consequence), low, ratio(kept_mass, risk))
    for column in (value, low, high):
        column[nothing] = np.nan
    return Sizes(value, low, high)


def has_no_mass(mass: NDArray[np.float64], consequence: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which sums with every count 1 are nothing but rounding."""
    return np.asarray(mass <= _NOTHING * consequence)


def is_below(size: NDArray[np.float64], number: float) -> NDArray[np.bool_]:
    """Which sizes are below a number, by more than rounding; none is where the size is not defined."""
    return np.asarray(size < number * NEAR)


@dataclass(frozen=True)
class HighRisk:
    """Which records are high-risk by the kept sets, which are so for certain over all sets, and which may be."""

    kept: NDArray[np.bool_]
    certain: NDArray[np.bool_]
    possible: NDArray[np.bool_]


def high_risk(
    threshold: float | Among,
    risk: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    sizes: Sizes,
) -> HighRisk:
    """Records with a risk greater than the threshold, or with an effective class size below ``among``."""
    if isinstance(threshold, Among):
        return HighRisk(*(is_below(size, threshold.among) for size in (sizes.value, sizes.upper, sizes.lower)))
    return HighRisk(risk > threshold, lower > threshold, upper > threshold)


def risk_levels(
    threshold: float | Among,
    consequence: NDArray[np.float64],
    whole_mass: NDArray[np.float64],
    records: int,
    alpha: float,
    empty: float = 1.0,
) -> NDArray[np.float64]:
    """The risk (over all sets, the empty one too) above which each record is high-risk; infinite where it cannot be.

    A size D1 / (D - C / n) is below ``among`` where D is greater than D1 / among + C / n.
    """
    if not isinstance(threshold, Among):
        return np.full(len(consequence), threshold)
    level = alpha * (whole_mass / (threshold.among * NEAR) + empty * consequence / max(records, 1))
    return np.where(has_no_mass(whole_mass, consequence), np.inf, level)
