r"""The sensitivity of a disclosed record: the functions Phi_1 to Phi_5 of Lebanon et al., appendix.

With $w_{ji}$ the weight of attribute $j$ in record $i$ and $D$ the attributes that the record discloses:

    phi1  sum over D of w_j
    phi2  w_i times the number of disclosed attributes
    phi3  sum over D of w_ji, from a table of weights or as the product of two vectors w_j w'_i
    phi4  phi3 plus weights of sets of up to ``order`` attributes that are disclosed together
    phi5  exp(sum over D of w_ji), or exp of phi4 where ``order`` is greater than 1

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
SET_SEPARATOR = "*"
"""Separates the attributes of a set with its own weight: ``age*income``."""


def multiply(left: Any, right: Any) -> NDArray[np.float64]:
    """The product; 0 times infinity is 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        product = np.multiply(left, right, dtype=np.float64)
    return np.where(np.equal(left, 0) | np.equal(right, 0), 0.0, product)


def loss(phi: NDArray[np.float64], rho: NDArray[Any]) -> NDArray[np.float64]:
    """The expected loss Phi / |rho|; 0 where nobody is consistent (rho = 0)."""
    chance = np.divide(1.0, rho, out=np.zeros(len(phi)), where=rho > 0)
    return multiply(phi, chance)


@dataclass(frozen=True)
class Sensitivity:
    """One Phi over the attributes ``names``: weights per attribute, per record, and per attribute and record."""

    form: Form
    names: tuple[str, ...]
    weights: Mapping[str, float]
    order: int = 1
    sets: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    """Weights of attributes disclosed together; default: the product of the members' weights."""
    of_record: NDArray[np.float64] | None = None
    of_cell: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    @property
    def is_multiplicative(self) -> bool:
        """Whether Phi is a product over the disclosed attributes, as algorithm MinRisk requires."""
        return self.form == "phi5" and self.order == 1

    def take(self, rows: NDArray[np.int64]) -> Sensitivity:
        """The same function for some of the records."""
        of_record = None if self.of_record is None else self.of_record[rows]
        of_cell = {name: weights[rows] for name, weights in self.of_cell.items()}
        return Sensitivity(self.form, self.names, self.weights, self.order, self.sets, of_record, of_cell)

    def weight(self, name: str) -> NDArray[np.float64] | float:
        """w_ji: one number, or one number per record."""
        if self.form == "phi1":
            return self.weights.get(name, 0.0)
        scale: Any = 1.0 if self.of_record is None else self.of_record
        if self.form == "phi2":
            return scale  # type: ignore[no-any-return]
        weights = multiply(self._base(name), scale)
        return weights if weights.ndim else float(weights)

    def _base(self, name: str) -> NDArray[np.float64] | float:
        return self.of_cell[name] if name in self.of_cell else self.weights.get(name, 0.0)

    def phi(self, disclosed: Sequence[NDArray[np.bool_]], size: int) -> NDArray[np.float64]:
        """Phi of each record; ``disclosed`` has one flag array per attribute of ``names``."""
        total = np.zeros(size)
        if self.form in ("phi4", "phi5") and self.order > 1:
            total = self._interacting(disclosed, size)
            if self.of_record is not None:
                total = multiply(total, self.of_record)
        else:
            for name, is_disclosed in zip(self.names, disclosed, strict=True):
                total += np.where(is_disclosed, self.weight(name), 0.0)
        if self.form != "phi5":
            return total
        with np.errstate(over="ignore"):
            return np.exp(total)

    def _interacting(self, disclosed: Sequence[NDArray[np.bool_]], size: int) -> NDArray[np.float64]:
        """The sum of the weights of all disclosed sets of at most ``order`` attributes, without the record's own factor."""
        disclosed_weights = [
            np.where(is_disclosed, self._base(name), 0.0) for name, is_disclosed in zip(self.names, disclosed, strict=True)
        ]
        if self.sets:
            total = sum(disclosed_weights, np.zeros(size))
            position = {name: index for index, name in enumerate(self.names)}
            for members, weight in self.sets.items():
                if len(members) <= self.order:
                    together = np.logical_and.reduce([disclosed[position[name]] for name in members])
                    total += np.where(together, weight, 0.0)
            return total
        # elementary symmetric polynomials of the disclosed weights, by degree
        sums = [np.ones(size)] + [np.zeros(size) for _ in range(self.order)]
        for weights in disclosed_weights:
            for degree in range(self.order, 0, -1):
                sums[degree] = sums[degree] + multiply(sums[degree - 1], weights)
        return sum(sums[1:], np.zeros(size))
