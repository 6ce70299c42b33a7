"""Diversity and distances of classes against their definitions, and the earth mover's distance against linear programming."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from discreet.engine.classes.closeness import GroundDistance
from discreet.engine.classes.diversity import (
    _find_recursive_l,
    _find_recursive_l_of_few,
    class_histograms,
    distinct_values,
    entropy_l,
    overall_distribution,
    recursive_l,
)

LEVELS = (np.array([0, 1, 2, 3, 4, 5]), np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 0, 0, 1, 1]))


def transport(p, q, ground):
    """The earth mover's distance as the linear program that defines it."""
    m = len(p)
    rows = []
    for i in range(m):
        row = np.zeros((m, m))
        row[i, :] = 1
        rows.append(row.ravel())
    for j in range(m):
        row = np.zeros((m, m))
        row[:, j] = 1
        rows.append(row.ravel())
    return linprog(ground.ravel(), A_eq=np.array(rows), b_eq=np.concatenate((p, q)), bounds=(0, None)).fun


def ground_matrix(kind, m):
    if kind == "equal":
        return 1.0 - np.eye(m)
    if kind == "ordered":
        return np.abs(np.subtract.outer(np.arange(m), np.arange(m))) / max(m - 1, 1)
    labels = [*LEVELS, np.zeros(6, dtype=int)]
    return np.array([[next(h for h in range(4) if labels[h][i] == labels[h][j]) / 3 for j in range(m)] for i in range(m)])


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=25),
    st.sampled_from(["equal", "ordered", "hierarchical"]),
)
def test_distances_are_those_of_the_transport_problem(rows, kind):
    ids, codes = np.array(rows).T
    whole = overall_distribution(codes, 6)
    away = GroundDistance(kind, LEVELS if kind == "hierarchical" else ()).emd(class_histograms(ids, 3, codes, 6), whole)
    for group in range(3):
        inside = codes[ids == group]
        if len(inside):
            p = np.bincount(inside, minlength=6) / len(inside)
            assert away[group] == pytest.approx(transport(p, whole, ground_matrix(kind, 6)), abs=1e-9)
        else:
            assert math.isnan(away[group])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), max_size=25), st.floats(0.2, 4))
def test_diversities_are_those_of_their_definitions(rows, c):
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    codes = np.array([row[1] for row in rows], dtype=np.int64)
    found = class_histograms(ids, 3, codes, 4)  # the code 4 is null
    for group in range(3):
        inside = [value for at, value in rows if at == group and value < 4]
        if not inside:
            assert math.isnan(distinct_values(found)[group])
            continue
        counts = sorted((inside.count(value) for value in set(inside)), reverse=True)
        assert distinct_values(found)[group] == len(counts)
        entropy = -sum(n / len(inside) * math.log(n / len(inside)) for n in counts)
        assert entropy_l(found)[group] == pytest.approx(math.exp(entropy), rel=1e-9)
        holding = [l for l in range(1, len(counts) + 1) if counts[0] < c * sum(counts[l - 1 :])]  # noqa: E741
        assert recursive_l(found, c)[group] == max(holding, default=0)


def test_histogram_weights_multiply_rows():
    ids, codes, times = np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([2, 1, 3])
    found = class_histograms(ids, 2, codes, 2, times)
    assert found.counts.tolist() == [2, 1, 3]
    assert overall_distribution(codes, 2, times).tolist() == [2 / 6, 4 / 6]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.integers(1, 9), max_size=20), max_size=6),
    st.sampled_from([0.4, 1.0, 3.0]),
    st.sampled_from(["small", "code"]),
)
def test_recursive_l_is_that_of_its_definition_in_both_versions(classes, c, version):
    starts = np.concatenate(([0], np.cumsum([len(counts) for counts in classes]))).astype(np.int64)
    counts = np.array([count for own in classes for count in own], dtype=np.int64)
    largest = np.zeros(len(classes))
    run = _find_recursive_l_of_few if version == "small" else _find_recursive_l.machine_code
    run(starts, counts, c, largest)
    for own, measured in zip(classes, largest, strict=True):
        falling = sorted(own, reverse=True)
        assert measured == max((at + 1 for at in range(len(own)) if falling[0] < c * sum(falling[at:])), default=0)
