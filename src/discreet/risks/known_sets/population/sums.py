"""The sums over known sets with E(1/F) in place of 1/f, at the estimate and at the two ends of its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.queries import Queries
from discreet.engine.known_sets.terms import terms
from discreet.risks.known_sets.population.class_walk import CountedTable, SetClasses, Visit, bound_inverse_sizes, walk_classes

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOW, VALUE, HIGH = 0, 1, 2


@dataclass(frozen=True)
class PopulationSums:
    """Sums of each query before alpha. First axis: at the low end, the estimate and the high end of the class sizes.

    ``kept`` is over the kept sets; ``lower`` and ``upper`` hold the sum over all sets, given class sizes. ``chance`` is the
    standard deviation of the sum over all queries of the realized 1/F around their expected values.
    """

    kept: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    kept_mass: NDArray[np.float64]
    whole_mass: NDArray[np.float64]
    chance: float


def sum_population(table: CountedTable, tree: Family, queries: Queries, slots: NDArray[np.int64]) -> PopulationSums:
    """Sum over the kept sets and bound the sum over all sets, for the records ``slots``.

    A set that epsilon dropped has a class size of at most that of each of its subsets and at least that of all attributes
    together, so that what bounds the plain sum bounds this one.
    """
    parts = terms(tree, queries.singles, queries.patterns)
    weights = np.column_stack((queries.weight, queries.single))
    left = np.column_stack((queries.weight - queries.rest, queries.single))
    kept, far = np.zeros((3, len(slots))), np.zeros((3, len(slots)))
    kept += weights @ parts.kept[0, 0] / table.sizes.persons
    far += left @ parts.whole[0, 0] / table.sizes.persons
    cover: dict[str, NDArray[Any]] = {}
    spreads: list[float] = []

    def begin(of: NDArray[np.int64], number: int) -> Visit:
        cover["rows"] = of[slots]
        coefficients = np.zeros((2, 3, number, weights.shape[1]))
        cover["sums"] = coefficients
        learnt = np.bincount(of[slots], weights=queries.weight, minlength=number)

        def add(found: SetClasses) -> None:
            for end, inverse in enumerate(found.inverse):
                own = inverse[found.ids]
                for at, coefficient in enumerate((parts.kept[found.node, 0], parts.whole[found.node, 0])):
                    for column in np.flatnonzero(coefficient):
                        coefficients[at, end, :, column] += coefficient[column] * own
            if not table.sizes.exact:
                value = found.inverse.value
                variance = value * np.maximum(1 / np.maximum(found.sizes, 1) - value, 0.0)
                together = np.bincount(found.ids, weights=learnt, minlength=len(value))
                spreads.append(float(tree.chance[found.node] * np.sqrt((together**2) @ variance)))

        return add

    def end() -> None:
        rows, (near, beyond) = cover["rows"], cover["sums"]
        for side in range(3):
            kept[side] += (near[side][rows] * weights).sum(axis=1)
            far[side] += (beyond[side][rows] * left).sum(axis=1)

    walk_classes(table, tree, begin, end)
    kept_all, whole_all = parts.kept_below[0, 0], parts.whole_below[0, 0]
    kept_mass, whole_mass = weights @ kept_all, (left @ whole_all) * queries.spread
    lower = np.maximum(far * queries.spread, kept)
    upper = np.maximum(kept + (whole_mass - kept_mass) * bound_inverse_sizes(table, slots), lower)
    masses = kept_mass - queries.weight, whole_mass - queries.weight
    return PopulationSums(kept, lower, upper, *masses, float(sum(spreads)))


@dataclass(frozen=True)
class TopSets:
    """For each query the known set that contributes most, its part of the sum, and the largest likelihood of any set."""

    node: NDArray[np.int64]
    part: NDArray[np.float64]
    likelihood: NDArray[np.float64]


def find_top_sets(table: CountedTable, tree: Family, queries: Queries, slots: NDArray[np.int64]) -> TopSets:
    """The set that contributes most to each query; of equal ones the smaller, then the first by the table's order."""
    parts = terms(tree, queries.singles, queries.patterns)
    node = np.zeros(len(slots), dtype=np.int64)
    likelihood = np.full(len(slots), 1 / table.sizes.persons)
    top = queries.weight * likelihood

    def begin(of: NDArray[np.int64], _number: int) -> Visit:
        rows = of[slots]

        def compare(found: SetClasses) -> None:
            chances = tree.chance[found.node] * found.inverse.value[found.ids][rows]
            learnt = queries.weight - queries.single @ parts.member[found.node].astype(np.float64)
            part = chances * learnt
            tied = np.abs(part - top) <= 1e-12 * top
            better = np.where(tied, tree.rank[found.node] < tree.rank[node], part > top)
            node[better] = found.node
            np.maximum(top, part, out=top)
            np.maximum(likelihood, chances, out=likelihood)

        return compare

    walk_classes(table, tree, begin)
    return TopSets(node, top, likelihood)
