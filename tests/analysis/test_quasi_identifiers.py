"""Distinct and separation ratio against their definitions on all pairs, and the guarantees of the search."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.analysis import quasi_identifiers as qi
from discreet.engine.encoding.columns import encode_series

VALUES = [st.sampled_from([None, "a", "b"]), st.integers(0, 3) | st.none(), st.booleans(), st.sampled_from([0.0, 1.5, None])]


@st.composite
def tables(draw):
    rows = draw(st.integers(0, 12))
    width = draw(st.integers(1, 5))
    return [
        (f"c{number}", draw(st.lists(draw(st.sampled_from(VALUES)), min_size=rows, max_size=rows)))
        for number in range(width)
    ]  # fmt: skip


def encoded(table):
    return [encode_series(pl.Series(name, values, strict=False)) for name, values in table]


def slow(table, names):
    """Distinct values, separated pairs and unique records, by comparing all pairs of records."""
    rows = list(zip(*(values for name, values in table if name in names), strict=True))
    pairs = list(combinations(rows, 2))
    separated = sum(first != second for first, second in pairs)
    return len(set(rows)), separated, sum(rows.count(row) == 1 for row in rows), len(rows), len(pairs)


@given(tables())
@settings(deadline=None, max_examples=60)
def test_distinct_and_separation_ratio_agree_with_their_definitions(table):
    columns = encoded(table)
    records = len(table[0][1])
    search = qi.SetSearch(columns, records, 0.8)
    for size in range(1, min(4, len(columns)) + 1):
        for members in combinations(range(len(columns)), size):
            strength = search.strength(members)
            distinct, separated, unique, n, pairs = slow(table, strength.attributes)
            assert (strength.distinct, strength.separated, strength.unique) == (distinct, separated, unique)
            assert strength.distinct_ratio == pytest.approx(distinct / n if n else 0)
            assert strength.separation_ratio == pytest.approx(separated / pairs if pairs else 0)


@given(tables())
@settings(deadline=None, max_examples=150)
def test_every_reported_set_is_counted_exactly_and_minimal_keys_are_minimal(table):
    records = len(table[0][1])
    threshold = 0.8
    for strength in qi.find_quasi_identifiers(encoded(table), records, threshold=threshold).sets:
        names = strength.attributes
        distinct, separated, unique, n, _ = slow(table, names)
        assert (strength.distinct, strength.separated, strength.unique) == (distinct, separated, unique)
        subsets = [slow(table, subset) for size in range(1, len(names)) for subset in combinations(names, size)]
        is_minimal = distinct / n >= threshold and all(subset[0] / n < threshold for subset in subsets)
        assert strength.minimal_key == is_minimal
        assert strength.minimal_key or distinct / n < threshold


@given(tables())
@settings(deadline=None, max_examples=100)
def test_a_wide_search_finds_the_strongest_set_of_each_size(table):
    columns = encoded(table)
    records = len(table[0][1])
    result = qi.find_quasi_identifiers(columns, records, threshold=1.1, width=1000)
    used = [(name, values) for name, values in table if name not in result.same and len({*map(str, values)}) > 1]
    for size in range(1, min(4, len(used)) + 1):
        best = max(slow(used, names)[:2] for names in combinations([name for name, _ in used], size))
        first = next(strength for strength in result.sets if len(strength.attributes) == size)
        assert (first.distinct, first.separated) == best


def test_class_sizes_counted_by_sorting_and_in_a_table_are_the_same(monkeypatch):
    draw = np.random.default_rng(3)
    column = encode_series(pl.Series("x", draw.integers(0, 50, 4000)))
    ids = draw.integers(0, 300, 4000)
    counted = np.sort(qi.refined_class_sizes(ids, 300, column))
    monkeypatch.setattr(qi, "_LEAST_COUNTERS", 0)
    monkeypatch.setattr(qi, "_COUNTERS_PER_RECORD", 0)
    assert np.array_equal(np.sort(qi.refined_class_sizes(ids, 300, column)), counted)
    assert np.array_equal(np.sort(qi.refined_class_sizes(ids * 2**25, 300 * 2**25, column)), counted)


def test_a_one_to_one_recoding_of_a_column_is_left_out_of_the_sets():
    table = [("a", [1, 2, 3, 1, 2, 3]), ("code", ["x", "y", "z", "x", "y", "z"]), ("b", [0, 0, 0, 1, 1, 1])]
    result = qi.find_quasi_identifiers(encoded(table), 6)
    assert result.same == {"code": "a"}
    assert [strength.attributes for strength in result.sets if strength.minimal_key] == [("a", "b")]
    assert not any("code" in strength.attributes for strength in result.sets)
