r"""How much it matters when a disclosed record is identified: the functions Phi_1 to Phi_5 of seed 004, appendix.

With $w_{ji}$ the weight of attribute $j$ in record $i$ and $D$ the attributes that the record discloses:

    phi1  sum over D of w_j
    phi2  w_i times the number of disclosed attributes
    phi3  sum over D of w_ji, a table of weights or the product of two vectors w_j w'_i
    phi4  phi3 and weights of sets of up to ``order`` attributes that are disclosed together
    phi5  exp(sum over D of w_ji), or exp of phi4's sum where ``order`` is more than 1

A weight may be infinite; 0 times infinity is 0. Citation: Lebanon, G., Scannapieco, M., Fouad, M. R. & Bertino, E.
(2006). Beyond k-anonymity: a decision theoretic framework for assessing privacy risk. PSD 2006, LNCS 4302, 217-232.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Form = Literal["phi1", "phi2", "phi3", "phi4", "phi5"]
TOGETHER = "*"
"""Between the names of attributes whose joint disclosure has a weight of its own: ``age*income``."""


def times(left: Any, right: Any) -> NDArray[np.float64]:
    """The product, where 0 times infinity is 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        made = np.multiply(left, right, dtype=np.float64)
    return np.where(np.equal(left, 0) | np.equal(right, 0), 0.0, made)


def loss(phi: NDArray[np.float64], rho: NDArray[Any]) -> NDArray[np.float64]:
    """Phi / |rho|, and 0 where nobody is consistent."""
    chance = np.divide(1.0, rho, out=np.zeros(len(phi)), where=rho > 0)
    return times(phi, chance)


@dataclass(frozen=True)
class Sensitivity:
    """One Phi over the attributes ``names``: weights an attribute, a record, and an attribute and record."""

    form: Form
    names: tuple[str, ...]
    weights: Mapping[str, float]
    order: int = 1
    sets: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    """Weights of attributes disclosed together; where empty, the product of the members' weights."""
    of_record: NDArray[np.float64] | None = None
    of_cell: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    @property
    def is_multiplicative(self) -> bool:
        """Whether Phi is a product over the disclosed attributes, which algorithm MinRisk needs."""
        return self.form == "phi5" and self.order == 1

    def take(self, rows: NDArray[np.int64]) -> Sensitivity:
        """The same function for some of the records."""
        of_record = None if self.of_record is None else self.of_record[rows]
        of_cell = {name: weights[rows] for name, weights in self.of_cell.items()}
        return Sensitivity(self.form, self.names, self.weights, self.order, self.sets, of_record, of_cell)

    def weight(self, name: str) -> NDArray[np.float64] | float:
        """w_ji: one number, or one a record."""
        if self.form == "phi1":
            return self.weights.get(name, 0.0)
        scale: Any = 1.0 if self.of_record is None else self.of_record
        if self.form == "phi2":
            return scale  # type: ignore[no-any-return]
        made = times(self._base(name), scale)
        return made if made.ndim else float(made)

    def _base(self, name: str) -> NDArray[np.float64] | float:
        return self.of_cell[name] if name in self.of_cell else self.weights.get(name, 0.0)

    def phi(self, disclosed: Sequence[NDArray[np.bool_]], size: int) -> NDArray[np.float64]:
        """Phi of each record, given for each of ``names`` whether the record discloses it."""
        total = np.zeros(size)
        if self.form in ("phi4", "phi5") and self.order > 1:
            total = self._interacting(disclosed, size)
            if self.of_record is not None:
                total = times(total, self.of_record)
        else:
            for name, shown in zip(self.names, disclosed, strict=True):
                total += np.where(shown, self.weight(name), 0.0)
        if self.form != "phi5":
            return total
        with np.errstate(over="ignore"):
            return np.exp(total)

    def _interacting(self, disclosed: Sequence[NDArray[np.bool_]], size: int) -> NDArray[np.float64]:
        """The weights of all disclosed sets of at most ``order`` attributes, before the record's own factor."""
        shown = [np.where(seen, self._base(name), 0.0) for name, seen in zip(self.names, disclosed, strict=True)]
        if self.sets:
            total = sum(shown, np.zeros(size))
            place = {name: at for at, name in enumerate(self.names)}
            for members, weight in self.sets.items():
                if len(members) <= self.order:
                    together = np.logical_and.reduce([disclosed[place[name]] for name in members])
                    total += np.where(together, weight, 0.0)
            return total
        # elementary symmetric polynomials of the disclosed weights, by degree
        sums = [np.ones(size)] + [np.zeros(size) for _ in range(self.order)]
        for weights in shown:
            for degree in range(self.order, 0, -1):
                sums[degree] = sums[degree] + times(sums[degree - 1], weights)
        return sum(sums[1:], np.zeros(size))
