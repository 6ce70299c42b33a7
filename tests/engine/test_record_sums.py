"""Sums per query that are put together from parts, and given to the records that ask the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.engine.known_sets.family import family
from discreet.engine.known_sets.queries import Queries
from discreet.engine.known_sets.risk_sums import RecordSums, RiskSums
from discreet.engine.known_sets.terms import Pattern
from discreet.engine.known_sets.threads import KernelThreads

FIELDS = ("risk", "lower", "upper", "top", "top_node", "likelihood", "count_all", "kept_mass", "whole_mass")


def make_sums(numbers: list[int]) -> RecordSums:
    """Sums that differ in every field."""
    columns = [np.array(numbers) + 100 * at for at in range(len(FIELDS))]
    sums = RecordSums.empty(len(numbers))
    for name, column in zip(FIELDS, columns, strict=True):
        getattr(sums, name)[:] = column
    return sums


def test_parts_fill_their_own_slots() -> None:
    whole = RecordSums.empty(5)
    whole.fill(np.array([3, 0]), make_sums([7, 8]))
    whole.fill(np.array([2]), make_sums([9]))
    for at, name in enumerate(FIELDS):
        assert getattr(whole, name).tolist() == [100 * at + 8, 0, 100 * at + 9, 100 * at + 7, 0], name


def test_each_record_gets_the_sums_of_the_one_it_asks_like() -> None:
    spread = make_sums([7, 8]).spread(np.array([1, 0, 1]))
    for at, name in enumerate(FIELDS):
        assert getattr(spread, name).tolist() == [100 * at + 8, 100 * at + 7, 100 * at + 8], name


@given(
    st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.7, 0.9, 1.0]), min_size=1, max_size=5),
    st.sampled_from(["products", "independent"]),
    st.booleans(),
    st.sets(st.integers(0, 4)),
    st.tuples(st.sets(st.integers(0, 4), max_size=2), st.sets(st.integers(0, 4), max_size=1)),
)
def test_the_likeliest_larger_sets_are_one_for_each_combination_of_sensitive_attributes(
    probabilities: list[float], knowledge: Any, together: bool, sensitive: set[int], lacking: tuple[set[int], set[int]]
) -> None:
    """Among those below a set that a query asks by: sets with an attribute that it lacks are none of them."""
    tree = family(probabilities, 0.0, 100, knowledge=knowledge, together=[[0, len(probabilities) - 1]] if together else [])
    singles = sorted(place for place in sensitive if place < tree.width)
    patterns = [Pattern(), Pattern(frozenset(lacking[0]), frozenset(lacking[1]))]
    one = np.ones(2)
    queries = Queries(one, one, one, np.ones((2, len(singles))), singles, np.arange(2, dtype=np.int32), patterns)
    sums = RiskSums(tree, queries, KernelThreads())
    for node in range(len(tree)):
        for shape, without in enumerate((set(), lacking[0] | lacking[1])):
            likeliest: dict[tuple[int, ...], int] = {}
            for below in sorted(range(node + 1, int(tree.end[node])), key=lambda below: (-tree.chance[below], tree.rank[below])):
                if tree.chance[below] > 0 and not without & set(tree.sets[below]):
                    likeliest.setdefault(tuple(place for place in singles if place in tree.sets[below]), below)
            assert sorted(sums._likeliest_below(node, shape)) == sorted(likeliest.values())
