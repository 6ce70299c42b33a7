"""Predictors of class sizes against versions written record by record."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.population.cross_fitted import estimate_sizes
from discreet.engine.population.key_network import Dependence, expected_class_sizes, group_neighbouring_values
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


def _expected_sizes(rows: Rows, row: tuple[int, ...], network: list[Dependence]) -> tuple[float, float, float]:
    """The expected size, that seen from a record, and the relative variance, by counting records of other classes."""
    size = seen = float(len(rows))
    second_moment = 1.0
    for key, parents, strengths in network:
        values = len({other[key] for other in rows})
        part, base = _matching(rows, row, (key,)) + 0.5, len(rows) + 0.5 * values
        for depth, strength in enumerate(strengths, 1):
            given_parents = parents[:depth]
            part = _matching(rows, row, (*given_parents, key)) + strength * part / base
            base = _matching(rows, row, given_parents) + strength
        size *= part / base
        seen *= (part + 1) / (base + 1)
        second_moment *= 1 + max(1 / (part + 1) - 1 / (base + 1), 0.0)
    return size, seen, second_moment - 1


@settings(max_examples=60, deadline=None)
@given(_ROWS)
def test_expected_sizes_are_products_of_smoothed_shares_of_the_other_classes(rows: Rows) -> None:
    distinct, codes, cardinalities, counts = _classes(rows)
    expected = expected_class_sizes(codes, cardinalities, counts, 5)
    assert [dependence.key for dependence in expected.network] == [0, 2, 1]
    for place, row in enumerate(distinct):
        size, seen, variance = _expected_sizes(rows, row, expected.network)
        assert math.exp(expected.log_size[place]) == pytest.approx(size, rel=1e-9)
        assert math.exp(expected.log_seen[place]) == pytest.approx(seen, rel=1e-9)
        assert expected.variance[place] == pytest.approx(variance, rel=1e-7, abs=1e-12)


def test_groups_of_neighbouring_values_are_keys_of_the_network() -> None:
    """A key of 40 values and one of 6: the first is preceded by eight groups, which then are counted like any key."""
    generator = np.random.default_rng(3)
    first = generator.integers(0, 40, 300)
    rows = list(zip(first.tolist(), (first // 8 + generator.integers(0, 2, 300)).tolist(), strict=True))
    distinct = sorted(set(rows))
    codes = [np.array([row[key] for row in distinct]) for key in range(2)]
    counts = np.array([rows.count(row) for row in distinct])
    [(key, groups, number)] = group_neighbouring_values(codes, [40, 6], counts)
    assert (key, number) == (0, 8)
    in_order = groups[np.argsort(codes[0], kind="stable")]
    assert (np.diff(in_order) >= 0).all()
    assert np.bincount(groups, weights=counts).max() < 2 * 300 / 8
    group_of = dict(zip(codes[0].tolist(), groups.tolist(), strict=True))
    expected = expected_class_sizes(codes, [40, 6], counts, 5)
    assert [dependence.key for dependence in expected.network] == [2, 0, 1]
    with_groups: Rows = [(*row, group_of[row[0]]) for row in rows]
    for place, row in enumerate(distinct):
        size, seen, _ = _expected_sizes(with_groups, (*row, group_of[row[0]]), expected.network)
        assert math.exp(expected.log_size[place]) == pytest.approx(size, rel=1e-9)
        assert math.exp(expected.log_seen[place]) == pytest.approx(seen, rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(_ROWS)
def test_the_other_predictors_count_classes_that_agree_in_part(rows: Rows) -> None:
    distinct, codes, cardinalities, counts = _classes(rows)
    expected = expected_class_sizes(codes, cardinalities, counts, 5)
    log_sizes, columns, precision = compute_predictors(codes, cardinalities, counts, 5)
    surprise = expected.log_seen - expected.log_size
    assert log_sizes == pytest.approx(expected.log_size + 0.7 * surprise)
    assert precision == pytest.approx(-np.log(expected.variance + 0.1))
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
        predictors = [log_sizes[place], surprise[place], *relative, ratios]
        assert columns[place].tolist() == pytest.approx(predictors, rel=1e-9, abs=1e-9)


def test_a_key_depends_on_the_keys_it_depends_on() -> None:
    generator = np.random.default_rng(8)
    first, free = generator.integers(0, 60, 4_000), generator.integers(0, 12, 4_000)
    rows = np.column_stack([first, (first + generator.integers(0, 3, 4_000)) % 20, free])
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    network = expected_class_sizes(list(distinct.T), [60, 20, 12], counts, 5).network
    parents = {dependence.key: dependence.parents for dependence in network}
    assert parents[2] == ()  # independent of all others, whose groups are the keys 3 and 4
    assert {3, 4} & set(parents[0])
    assert 0 in parents[1]


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
    assert one.total_error == other.total_error


def test_no_predictor_gives_away_the_size_of_the_class_itself() -> None:
    """Independent keys and equal intensities: a predictor that knew the size of its class would be correlated with it."""
    generator = np.random.default_rng(4)
    rows = generator.integers(0, 12, (3_000, 3))
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    _, columns, precision = compute_predictors(list(distinct.T), [12, 12, 12], counts, 5)
    for column in (precision, *columns.T):
        assert abs(np.corrcoef(column, counts)[0, 1]) < 0.12


def test_a_sample_that_is_the_whole_population_has_its_own_sizes_without_error() -> None:
    generator = np.random.default_rng(3)
    distinct, counts = np.unique(generator.integers(0, 9, (300, 3)), axis=0, return_counts=True)
    sizes = estimate_sizes(list(distinct.T), [9, 9, 9], counts, 1.0)
    assert np.array_equal(sizes.alone, np.ones(len(counts)))
    assert sizes.inverse == pytest.approx(1 / counts)
    assert max(sizes.alone_error, sizes.inverse_error, sizes.total_error) < 1e-6


def test_a_deadline_stops_the_model() -> None:
    codes, counts = [np.arange(6), np.arange(6) % 2, np.arange(6) % 3], np.ones(6, dtype=np.int64)
    with stop_after(0.0), pytest.raises(OutOfTimeError):
        estimate_sizes(codes, [6, 2, 3], counts, 0.1)
