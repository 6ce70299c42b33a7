r"""The bounds of each record's sum over all sets: what was counted, and the mass of what was not.

Where a record is alone in a set T of main attributes, it is alone in every larger set, so the sum over all of these is exact:
with P = \prod (1 + p_f) and D = \sum c_f p_f / (1 + p_f) over the attributes that are not main it is p P (C - c_T - D). A set
that was not counted has a count of at least one, or as many as agree on all attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.encoding.columns import Column
from discreet.engine.known_sets.sums import KnownSets
from discreet.risks.known_sets.tolerance.minor import MinorAttributes
from discreet.risks.known_sets.tolerance.walk import MainSets, RowTerms

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class SplitAttributes:
    """The attributes in the family's order, split into main, minor and the other ones, with the weights of each record."""

    columns: Sequence[Column]
    chances: NDArray[np.float64]
    weights: Sequence[NDArray[np.float64] | None]
    main: list[int]
    minor: list[int]

    @property
    def beside(self) -> list[int]:
        """All attributes that are not main."""
        return [place for place in range(len(self.columns)) if place not in set(self.main)]

    def sum_weights(self, places: Sequence[int], factors: Sequence[float], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The sum of the weights of these attributes times a factor for each, by record."""
        total = np.zeros(len(rows))
        for place, factor in zip(places, factors, strict=True):
            own = self.weights[place]
            if own is not None:
                total += (own * factor)[self.columns[place].codes[rows]]
        return total


class MassBounds:
    """The bounds of the records' sums: what was counted, and the mass of what was not."""

    def __init__(self, split: SplitAttributes, sums: KnownSets, minor: MinorAttributes) -> None:
        self.split, self.rows, self.consequence = split, sums.slots, sums.consequence
        self.least = np.maximum(sums.per_record.count_all, 1)
        beside, chances = split.beside, split.chances
        everything = range(len(split.columns))
        self.spread = float(np.prod(1 + chances[beside]))
        learnt = self._sum_weights(beside, lambda chance: chance / (1 + chance))
        self.closed = self.consequence - learnt  # C - D
        self.whole = np.prod(1 + chances) * (
            self.consequence - self._sum_weights(everything, lambda chance: chance / (1 + chance))
        )
        self.main_mass = float(np.prod(1 + chances[split.main]))
        self.counted, self.open = np.zeros(len(self.rows)), self.whole.copy()
        self.bounded = np.zeros(len(self.rows))  # at most what sets add that are bounded by H
        self.base = {size: self._base_masses(minor, size) for size in (2, 3)}

    def _sum_weights(self, places: Sequence[int], factor: Callable[[float], float]) -> NDArray[np.float64]:
        return self.split.sum_weights(places, [factor(float(self.split.chances[place])) for place in places], self.rows)

    def _base_masses(self, minor: MinorAttributes, size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of sets of so many minor attributes at their base values: their probabilities, and those times C - c_N."""
        mass, taken = (own[minor.patterns.of[self.rows]] for own in minor.base_masses(size))
        return mass, mass * self.consequence - taken

    def _masses(self, main: MainSets, terms: RowTerms) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of the sets in which a record is not alone: their probabilities, and those times c_T, added up by record."""
        chance = np.where(terms.counted, main.chance, 0.0)
        known = np.zeros(len(self.split.main))
        for node, own in enumerate(main.sets):
            known[list(own)] += chance[node]
        taken = self.split.sum_weights(self.split.main, known.tolist(), self.rows)
        alone_taken = terms.sums[self.rows, 4] if terms.sums.shape[1] > 4 else 0.0
        return chance.sum() - terms.sums[self.rows, 2], taken - alone_taken

    def _bound(self, size: int, terms: RowTerms, mass: NDArray[np.float64], mass_taken: NDArray[np.float64], sign: int) -> None:
        """Bound sets of so many base values by H instead of by the count 1 (sign 1), or no longer, as they are counted (-1)."""
        own, learnt = self.base[size]
        self.bounded += sign * terms.sums[self.rows, 3] * learnt
        self.open -= sign * (mass * learnt - mass_taken * own)

    def add_singles(self, main: MainSets, terms: RowTerms) -> None:
        """Sets of main attributes, alone and with one minor attribute; with all attributes where the record is alone."""
        total, taken, alone = terms.sums[self.rows].T[:3]
        alone_taken = terms.sums[self.rows, 4] if terms.sums.shape[1] > 4 else 0.0
        chances = self.split.chances[self.split.minor]
        mass, mass_taken = self._masses(main, terms)
        minor_learnt = self._sum_weights(self.split.minor, lambda chance: chance)
        closed = self.spread * (alone * self.closed - alone_taken)
        self.counted += self.consequence * total - taken + closed
        self.open -= closed + (1 + chances.sum()) * (mass * self.consequence - mass_taken) - mass * minor_learnt
        self._bound(2, terms, mass, mass_taken, 1)
        self._bound(3, terms, mass, mass_taken, 1)

    def add_pairs(self, main: MainSets, terms: RowTerms) -> None:
        """Sets of main attributes with two minor attributes, where the record is not alone."""
        total, taken = terms.sums[self.rows].T[:2]
        chances = self.split.chances[self.split.minor]
        mass, mass_taken = self._masses(main, terms)
        minor_learnt = self._sum_weights(self.split.minor, lambda chance: chance * (float(chances.sum()) - chance))
        pairs = (chances.sum() ** 2 - (chances**2).sum()) / 2
        self.counted += self.consequence * total - taken
        self.open -= pairs * (mass * self.consequence - mass_taken) - mass * minor_learnt
        self._bound(2, terms, mass, mass_taken, -1)

    def narrow(
        self, lower: NDArray[np.float64], upper: NDArray[np.float64], alpha: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The narrower of the given intervals and these."""
        lower = np.maximum(lower, self.counted * alpha)
        high = self.counted + np.maximum(self.bounded, 0.0) + np.maximum(self.open, 0.0) / self.least
        return lower, np.maximum(np.minimum(upper, high * alpha), lower)
