r"""Known sets that are counted once, and the bounds of every record's risk under any guesses from these counts.

The number of records that agree with a record on a set does not depend on the guesses. For a *fixed* family F of counted sets,
a tree in which what a set S leaves out below it is a suffix of the attributes, and any probabilities p and weights w,

    lower(r) = \sum_T  p_T (C - c_T) / n_{up(T)},      upper(r) = \sum_{S \in F} p_S (C - c_S) / n_S
                                                                  + \sum_{T \notin F} p_T (C - c_T) / n_all,

where up(T) is the counted set above T and n_all the count over all attributes: n_all <= n_T <= n_{up(T)}. Both are polynomials in
the guesses with coefficients that are not negative, so both rise with every guess, and both are linear in each single guess
(docs/theory/sensitivity.md). They are the bounds of :class:`discreet.engine.known_sets.risk_sums.RiskSums` with F in place of the
family that epsilon keeps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.cells.weights import cell_weights
from discreet.engine.encoding.columns import encode
from discreet.engine.encoding.record_links import require_original_rows
from discreet.engine.known_sets.counter import Counter
from discreet.engine.known_sets.effective_size import effective_sizes
from discreet.engine.known_sets.family import Family, family, fitting_epsilon
from discreet.engine.known_sets.inputs import build_queries, find_sensitive_records, weights_of
from discreet.engine.known_sets.queries import Queries
from discreet.engine.known_sets.risk_sums import RiskSums
from discreet.engine.known_sets.sums import Missing, build_classes, distinct_queries
from discreet.engine.known_sets.threads import KernelThreads
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.known_sets.ranges import End
from discreet.risks.known_sets.sensitivity.guesses import known_probabilities, with_known

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_SETS = 4096
_MOST_COUNTS = 10_000_000
"""Sets beyond those that epsilon keeps are counted up to so many, and counts are kept in memory up to so many (8 bytes each)."""
_MOST_WEIGHTS = 64
"""Weights of attributes that are kept, for values that come again."""
_COUNTED_PATTERNS = 512
"""Patterns of queries up to which the count over all attributes is taken; otherwise 1, which is certain too."""


@dataclass(frozen=True)
class Spec:
    """What is counted: the table, the original (None: the release alone), which sets epsilon keeps, and how nulls agree."""

    data: Microdata
    original: Microdata | None
    names: list[str]
    epsilon: float
    max_sets: int
    missing: Missing


@dataclass(frozen=True)
class Point:
    """Bounds of the records' sums at one point of the guesses, before alpha and without the part of the empty set.

    ``lower`` and ``upper`` bound M, ``mass`` is N (every count 1), ``alone`` the part of the empty set, C / n. All four are
    linear in each single guess. ``multiplicity`` is how many of the ``records`` have each sum; the others have nothing to learn.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    mass: NDArray[np.float64]
    alone: NDArray[np.float64]
    multiplicity: NDArray[np.float64]
    records: int

    def towards(self, other: Point, share: float) -> Point:
        """The point at a share of the way to another one, along a line on which a single guess moves."""

        def between(here: NDArray[np.float64], there: NDArray[np.float64]) -> NDArray[np.float64]:
            return (1 - share) * here + share * there

        return replace(
            self,
            lower=between(self.lower, other.lower),
            upper=between(self.upper, other.upper),
            mass=between(self.mass, other.mass),
            alone=between(self.alone, other.alone),
        )

    @cached_property
    def end(self) -> End:
        """The same for :func:`discreet.risks.known_sets.ranges.extremes_over_ranges`."""
        lower, upper, weight = self.lower + self.alone, self.upper + self.alone, self.alone * max(self.records, 1)
        sizes = effective_sizes(lower, lower, upper, weight, self.mass, self.mass, self.records)
        return End(lower, sizes, self.mass, self.lower, self.upper)


class Counted:
    """The counts of one family of sets, for one intruder; ``multiplicity`` is how many records each sum stands for."""

    def __init__(self, spec: Spec, centre: NDArray[np.float64]) -> None:
        """Count the likeliest sets under the probabilities ``centre`` (one for each of the names)."""
        self.spec = spec
        self._unit_weights: dict[tuple[Any, ...], NDArray[np.float64]] = {}
        data = spec.data.with_policy(with_known(spec.data.policy, dict(zip(spec.names, centre.tolist(), strict=True))))
        is_query = find_sensitive_records(data, weights_of(data, spec.names))
        if spec.original is not None:
            is_query &= require_original_rows(data, spec.original, "known_sets") >= 0
        slots = np.flatnonzero(is_query)
        duplicates = distinct_queries(data, spec.names, slots) if spec.original is None else None
        self.slots, self.kind = slots, None if duplicates is None else duplicates.kind
        self.rows = slots if duplicates is None else slots[duplicates.first]
        self.multiplicity = np.ones(len(slots)) if duplicates is None else np.bincount(duplicates.kind).astype(np.float64)
        self.tree = self._family(centre)
        self.classes, self.queries, ordered = build_classes(data, spec.names, self.tree, self.rows, spec.missing, spec.original)
        with Counter(self.classes, self.queries) as counter:
            few = len(self.queries.patterns) <= _COUNTED_PATTERNS
            self.count_all = counter.count_all(len(ordered)) if few else np.ones(len(self.rows), dtype=np.int64)
            self._inverse = self._invert_counts(counter)

    @property
    def is_complete(self) -> bool:
        """Whether every set of attributes that may be known is counted, so that both bounds are the risk itself."""
        return bool(len(self.tree) == 2 ** int((self.tree.probabilities > 0).sum()))

    def point_at(self, policy: Policy) -> Point:
        """The bounds of all sums, before alpha, under the guesses of a policy."""
        tree = self._tree_at(known_probabilities(policy, self.spec.names))
        data = self._with_weights(policy)
        queries = build_queries(data, tree, self.spec.names, self.rows, self.queries.pattern, self.queries.patterns)
        sums = self._sum(tree, queries).finish(self.count_all)
        alone = queries.weight / max(len(data), 1)
        return Point(sums.lower - alone, sums.upper - alone, sums.whole_mass, alone, self.multiplicity, len(data))

    def _family(self, centre: NDArray[np.float64]) -> Family:
        """The sets that epsilon keeps, and further ones in the order of their probability while they cost little."""
        spec = self.spec
        kept = family(centre.tolist(), spec.epsilon, spec.max_sets)
        allowed = min(_MOST_SETS, _MOST_COUNTS // max(len(self.rows), 1), spec.max_sets)
        if allowed <= len(kept):
            return kept
        falling = sorted((float(chance) for chance in centre if chance > 0), reverse=True)
        return family(centre.tolist(), min(spec.epsilon, fitting_epsilon(falling, allowed)), spec.max_sets)

    def _invert_counts(self, counter: Counter) -> NDArray[np.float64] | None:
        """1 / count of every set (row) for every query, or None where these are too many to be kept.

        A query that is alone keeps the count 1 in the counter's array while the walk is below that set, so a row is the array.
        """
        if len(self.tree) * len(self.rows) > _MOST_COUNTS:
            return None
        inverse = np.ones((len(self.tree), len(self.rows)))

        def invert(node: int, _: NDArray[np.uint32], counts: NDArray[np.int32]) -> None:
            np.divide(1.0, np.maximum(counts, 1), out=inverse[node])

        counter.walk(self.tree, invert)
        return inverse

    def _sum(self, tree: Family, queries: Queries) -> RiskSums:
        """The sums of all queries: a product of matrices for each pattern, or another walk where the counts were not kept."""
        if self._inverse is None:
            with Counter(self.classes, queries) as counter:
                sums = RiskSums(tree, queries, counter.threads)
                counter.walk(tree, sums.add)
                return sums
        sums = RiskSums(tree, queries, KernelThreads(1))
        near, far = np.column_stack((queries.weight, queries.single)), np.column_stack((queries.weight, queries.single))
        far[:, 0] -= queries.rest
        for shape in range(len(queries.patterns)):
            mine = slice(None) if len(queries.patterns) == 1 else np.flatnonzero(queries.pattern == shape)
            both = np.hstack((sums.terms.kept[:, shape], sums.terms.whole[:, shape]))  # one pass over the counts for both sums
            parts = np.hsplit(self._inverse[:, mine].T @ both, 2)
            for own, weights, part in ((sums.near, near, parts[0]), (sums.far, far, parts[1])):
                own[mine] = part[:, 0] if queries.plain else (part * weights[mine]).sum(axis=1)
        return sums

    def _with_weights(self, policy: Policy) -> Microdata:
        """The table under other guesses; weights of values that are as before are not computed again."""
        data, names = self.spec.data.with_policy(policy), tuple(self.spec.names)
        weights = {}
        for column in encode(data, [name for name in names if data.attribute(name).sensitivity > 0]):
            attribute = data.attribute(column.name)
            key = (column.name, tuple(attribute.values.values()), attribute.default)
            if key not in self._unit_weights:
                if len(self._unit_weights) > _MOST_WEIGHTS:
                    self._unit_weights.clear()
                unit = attribute.model_copy(update={"sensitivity": 1.0})
                self._unit_weights[key] = cell_weights(column, unit, data.cells.get(column.name))
            own = attribute.sensitivity * self._unit_weights[key]
            if own.any():
                weights[column.name] = own
        data.cache["weights", names] = weights
        return data

    def _tree_at(self, known: NDArray[np.float64]) -> Family:
        """The same sets with the probabilities that they have there."""
        tree, falling = self.tree, known[self.tree.order]
        chance = np.ones(len(tree))
        for depth in range(1, int(tree.depth.max()) + 1):
            nodes = np.flatnonzero(tree.depth == depth)
            chance[nodes] = chance[tree.parent[nodes]] * falling[tree.last[nodes]]
        moved = replace(tree, probabilities=falling, chance=chance, mass=chance)  # without factors for what is unknown
        # what depends on the sets alone is not computed again; frozen classes keep cached properties among their variables
        vars(moved).update(parent=tree.parent, rank=tree.rank)
        return moved
