from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.masking.microaggregation.aggregates import aggregate
from discreet.masking.microaggregation.grouping import Features
from discreet.masking.microaggregation.mdav import mdav_groups, split_rows
from discreet.masking.microaggregation.optimal import optimal_groups


def mdav_by_scanning(values: np.ndarray, weights: np.ndarray, nominal: np.ndarray, size: int) -> list[int]:
    """MDAV as in the textbook: every group scans all remaining records; of equal distances the higher row comes first."""
    rows, width = values.shape
    left, groups, number = list(range(rows)), [-1] * rows, 0

    def distance(a, b) -> float:
        total = 0.0
        for column in range(width):
            total += weights[column] * (float(a[column] != b[column]) if nominal[column] else (a[column] - b[column]) ** 2)
        return total

    def to_centroid(row: int, centre: list[float]) -> float:
        total = 0.0
        for column in range(width):
            same = sum(values[other, column] == values[row, column] for other in left) / len(left)
            total += weights[column] * (1.0 - same if nominal[column] else (values[row, column] - centre[column]) ** 2)
        return total

    def form(seed: int) -> None:
        nonlocal number
        others = sorted((row for row in left if row != seed), key=lambda row: (distance(values[row], values[seed]), -row))
        for row in [seed, *others[: size - 1]]:
            groups[row] = number
            left.remove(row)
        number += 1

    while len(left) >= 2 * size:
        centre = [math.fsum(values[left, column]) / len(left) for column in range(width)]
        first = max(left, key=lambda row: (to_centroid(row, centre), row))
        second = max((row for row in left if row != first), key=lambda row: (distance(values[row], values[first]), row))
        both = len(left) >= 3 * size
        form(first)
        if both:
            if second not in left:
                second = max(left, key=lambda row: (distance(values[row], values[first]), row))
            form(second)
    return [number if group < 0 else group for group in groups]


@st.composite
def points(draw):
    rows, width = draw(st.integers(1, 40)), draw(st.integers(1, 3))
    cell = draw(
        st.sampled_from(
            [st.integers(0, 3).map(float), st.integers(-50_000, 50_000).map(lambda n: n / 10_000), st.integers(0, 30).map(float)]
        )
    )
    values = np.array(draw(st.lists(st.lists(cell, min_size=width, max_size=width), min_size=rows, max_size=rows)))
    coded = bool((values == np.floor(values)).all() and (values >= 0).all())
    nominal = np.array([coded and draw(st.booleans()) for _ in range(width)])
    return values, nominal


@settings(deadline=None, max_examples=80)
@given(points(), st.integers(1, 5))
def test_the_tree_finds_the_groups_that_the_scan_finds_ties_included(case, size):
    values, nominal = case
    weights = Features.of(list(values.T), nominal).weights
    assert mdav_groups(values, weights, nominal, size).tolist() == mdav_by_scanning(values, weights, nominal, size)


@settings(deadline=None, max_examples=100)
@given(points(), st.integers(2, 6))
def test_every_group_has_at_least_size_and_fewer_than_twice_size_records(case, size):
    values, nominal = case
    sizes = np.bincount(mdav_groups(values, np.ones(values.shape[1]), nominal, size))
    assert (sizes < 2 * size).all()
    assert (sizes >= min(size, len(values))).all()


def test_many_records_keep_the_bounds_of_group_sizes_and_centroids_do_not_drift():
    values = np.random.default_rng(1).lognormal(size=(3000, 3)) + 1e6
    groups = mdav_groups(values, 1 / values.var(axis=0), np.zeros(3, bool), 3)
    assert set(np.bincount(groups)) <= {3, 4, 5}


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(-9, 9) | st.floats(-9, 9), min_size=1, max_size=12), st.integers(1, 4))
def test_the_shortest_path_is_as_good_as_the_best_of_all_partitions(values, size):
    ordered = np.sort(np.array(values, dtype=float))
    groups = optimal_groups(ordered, size)
    sizes = np.bincount(groups)
    assert (np.diff(groups) >= 0).all()
    assert (sizes >= min(size, len(ordered))).all()

    def cost(cuts) -> float:
        parts = np.split(ordered, cuts)
        return math.inf if min(map(len, parts)) < size else sum(float(((part - part.mean()) ** 2).sum()) for part in parts)

    all_costs = [cost(cuts) for number in range(len(ordered)) for cuts in itertools.combinations(range(1, len(ordered)), number)]
    actual = sum(float(((ordered[groups == g] - ordered[groups == g].mean()) ** 2).sum()) for g in range(len(sizes)))
    if len(ordered) >= size:
        assert actual == pytest.approx(min(all_costs), rel=1e-9, abs=1e-9)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 3)), min_size=1, max_size=20),
    st.sampled_from(["mean", "median", "mode"]),
)
def test_a_group_gets_its_mean_median_or_mode(pairs, how):
    dense = {group: number for number, group in enumerate(sorted({group for group, _ in pairs}))}
    groups, values = np.array([dense[g] for g, _ in pairs]), np.array([float(v) for _, v in pairs])
    aggregated = aggregate(values, groups, how)
    for group in set(groups.tolist()):
        members = sorted(values[groups == group].tolist())
        expected = {
            "mean": math.fsum(members) / len(members),
            "median": float(np.median(members)),
            "mode": min(members, key=lambda value: (-members.count(value), value)),
        }[how]
        assert aggregated[groups == group] == pytest.approx(expected)


def test_parts_contain_every_row_once_and_respect_the_maximum_size():
    values = np.random.default_rng(2).integers(0, 5, size=(1000, 2)).astype(float)
    parts = split_rows(values, np.ones(2), np.zeros(2, bool), 130)
    assert max(map(len, parts)) <= 130
    assert sorted(np.concatenate(parts).tolist()) == list(range(1000))


@settings(deadline=None, max_examples=40)
@given(points(), st.sampled_from(["std", "range"]), st.data())
def test_weights_are_the_importance_divided_by_the_unit_of_squared_distances(case, scale, data):
    values, nominal = case
    importance = data.draw(st.lists(st.sampled_from([0.25, 1.0, 8.0]), min_size=len(nominal), max_size=len(nominal)))
    weights = Features.of(list(values.T), nominal, scale=scale, importance=importance).weights
    for column, is_nominal, times, weight in zip(values.T, nominal, importance, weights, strict=True):
        if len(set(column.tolist())) < 2:
            assert weight == 0.0
            continue
        if is_nominal:
            pairs = [float(a != b) for a in column for b in column]
            square = 1.0 if scale == "range" else math.fsum(pairs) / len(pairs) / 2
        else:
            mean = math.fsum(column) / len(column)
            square = (max(column) - min(column)) ** 2 if scale == "range" else math.fsum((column - mean) ** 2) / len(column)
        assert weight == pytest.approx(times / square, rel=1e-9)
