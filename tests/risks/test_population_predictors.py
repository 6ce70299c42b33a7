"""Predictors of class sizes against versions written record by record."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.population.cross_fitted import estimate_sizes
from discreet.engine.population.key_network import Dependence, expected_class_sizes
from discreet.engine.population.predictors import compute_predictors
from discreet.engine.runtime.progress import OutOfTimeError, stop_after

_ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 2)), min_size=1, max_size=40)
Rows = list[tuple[int, ...]]


def _classes(rows: Rows) -> tuple[Rows, list[np.ndarray], list[int], np.ndarray]:
    distinct = sorted(set(rows))
    codes = [np.array([row[key] for row in distinct]) for key in range(len(rows[0]))]
    return distinct, codes, [4, 2, 3][: len(rows[0])], np.array([rows.count(row) for row in distinct])


def _matching(rows: Rows, row: tuple[int, ...], keys: tuple[int, ...]) -> int:
    """Records of other classes with the row's values of the keys."""
    return sum(other != row and all(other[key] == row[key] for key in keys) for other in rows)


def _expected_size(rows: Rows, row: tuple[int, ...], network: list[Dependence]) -> float:
    size = float(len(rows))
    for key, parents, strengths in network:
        values = len({other[key] for other in rows})
        share = (_matching(rows, row, (key,)) + 0.5) / (len(rows) + 0.5 * values)
        for depth, strength in enumerate(strengths, 1):
            given_parents = parents[:depth]
            share = (_matching(rows, row, (*given_parents, key)) + strength * share) / (
                _matching(rows, row, given_parents) + strength
            )
        size *= share
    return size


@settings(max_examples=60, deadline=None)
@given(_ROWS)
def test_expected_sizes_are_products_of_smoothed_shares_of_the_other_classes(rows: Rows) -> None:
    distinct, codes, cardinalities, counts = _classes(rows)
    log_sizes, network = expected_class_sizes(codes, cardinalities, counts, 5)
    assert [dependence.key for dependence in network] == [0, 2, 1]
    for row, log_size in zip(distinct, log_sizes.tolist(), strict=True):
        assert math.exp(log_size) == pytest.approx(_expected_size(rows, row, network), rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(_ROWS)
def test_the_other_predictors_count_classes_that_agree_in_part(rows: Rows) -> None:
    distinct, codes, cardinalities, counts = _classes(rows)
    log_sizes, columns = compute_predictors(codes, cardinalities, counts, 5)
    total = len(rows)
    for place, row in enumerate(distinct):
        shares = [(_matching(rows, row, (key,)) + 0.5) / (total + 0.5 * cardinalities[key]) for key in range(3)]
        independent = total * math.prod(shares)
        floor = 0.05 * independent + 1e-5
        one = sum(_matching(rows, row, tuple(k for k in range(3) if k != key)) * shares[key] for key in range(3)) / 3
        pairs = list(combinations(range(3), 2))
        two = sum(
            _matching(rows, row, tuple(k for k in range(3) if k not in pair)) * shares[pair[0]] * shares[pair[1]]
            for pair in pairs
        ) / len(pairs)
        ratios = sum(
            math.log((_matching(rows, row, pair) + 1) / (total * shares[pair[0]] * shares[pair[1]] + 1)) for pair in pairs
        )
        relative = [math.log(value) - log_sizes[place] for value in (independent, one + floor, two + floor)]
        assert columns[place].tolist() == pytest.approx([*relative, ratios], rel=1e-9, abs=1e-9)


def test_a_key_depends_on_the_keys_it_depends_on() -> None:
    generator = np.random.default_rng(8)
    first, free = generator.integers(0, 60, 4_000), generator.integers(0, 12, 4_000)
    rows = np.column_stack([first, (first + generator.integers(0, 3, 4_000)) % 20, free])
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    _, network = expected_class_sizes(list(distinct.T), [60, 20, 12], counts, 5)
    assert {dependence.key: dependence.parents for dependence in network} == {0: (), 1: (0,), 2: ()}


def test_the_estimate_does_not_depend_on_the_order_of_the_classes() -> None:
    generator = np.random.default_rng(2)
    rows = np.column_stack([generator.integers(0, 40, 900), generator.integers(0, 9, 900), generator.integers(0, 5, 900)])
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    order = generator.permutation(len(counts))
    one = estimate_sizes(list(distinct.T), [40, 9, 5], counts, 0.1)
    other = estimate_sizes(list(distinct[order].T), [40, 9, 5], counts[order], 0.1)
    assert np.array_equal(one.alone[order], other.alone)
    assert np.array_equal(one.inverse[order], other.inverse)
    assert (one.alone_error, one.inverse_error) == (other.alone_error, other.inverse_error)


def test_no_predictor_gives_away_the_size_of_the_class_itself() -> None:
    """Independent keys and equal intensities: a predictor that knew the size of its class would be correlated with it."""
    generator = np.random.default_rng(4)
    rows = generator.integers(0, 12, (3_000, 3))
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    size, columns = compute_predictors(list(distinct.T), [12, 12, 12], counts, 5)
    for column in (size, *columns.T):
        assert abs(np.corrcoef(column, counts)[0, 1]) < 0.12


def test_a_deadline_stops_the_model() -> None:
    codes, counts = [np.arange(6), np.arange(6) % 2, np.arange(6) % 3], np.ones(6, dtype=np.int64)
    with stop_after(0.0), pytest.raises(OutOfTimeError):
        estimate_sizes(codes, [6, 2, 3], counts, 0.1)
