"""Distinct and separation ratio against their definitions on all pairs, and what the search promises."""

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
        (f"c{at}", draw(st.lists(draw(st.sampled_from(VALUES)), min_size=rows, max_size=rows)))
        for at in range(width)
    ]  # fmt: skip


def encoded(table):
    return [encode_series(pl.Series(name, values, strict=False)) for name, values in table]


def slow(table, names):
    """Distinct, separated pairs and unique records by looking at every pair."""
    rows = list(zip(*(values for name, values in table if name in names), strict=True))
    pairs = list(combinations(rows, 2))
    separated = sum(one != other for one, other in pairs)
    return len(set(rows)), separated, sum(rows.count(row) == 1 for row in rows), len(rows), len(pairs)


@given(tables())
@settings(deadline=None, max_examples=150)
def test_ratios_are_those_of_the_definition(table):
    columns = encoded(table)
    records = len(table[0][1])
    search = qi.Search(columns, records, 0.8)
    for size in range(1, min(4, len(columns)) + 1):
        for members in combinations(range(len(columns)), size):
            found = search.strength(members)
            distinct, separated, unique, n, pairs = slow(table, found.attributes)
            assert (found.distinct, found.separated, found.unique) == (distinct, separated, unique)
            assert found.distinct_ratio == pytest.approx(distinct / n if n else 0)
            assert found.separation_ratio == pytest.approx(separated / pairs if pairs else 0)


@given(tables())
@settings(deadline=None, max_examples=150)
def test_every_set_told_is_counted_right_and_minimal_keys_are_minimal(table):
    records = len(table[0][1])
    threshold = 0.8
    for one in qi.strongest(encoded(table), records, threshold=threshold).sets:
        distinct, separated, unique, n, _ = slow(table, one.attributes)
        assert (one.distinct, one.separated, one.unique) == (distinct, separated, unique)
        inner = [slow(table, names) for size in range(1, len(one.attributes)) for names in combinations(one.attributes, size)]
        is_minimal = distinct / n >= threshold and all(small[0] / n < threshold for small in inner)
        assert one.minimal_key == is_minimal
        assert one.minimal_key or distinct / n < threshold


@given(tables())
@settings(deadline=None, max_examples=100)
def test_a_wide_search_finds_the_strongest_set_of_each_size(table):
    columns = encoded(table)
    records = len(table[0][1])
    found = qi.strongest(columns, records, threshold=1.1, width=1000)
    used = [one for one in table if one[0] not in found.same and len({*map(str, one[1])}) > 1]
    for size in range(1, min(4, len(used)) + 1):
        best = max(slow(used, names)[:2] for names in combinations([name for name, _ in used], size))
        first = next(one for one in found.sets if len(one.attributes) == size)
        assert (first.distinct, first.separated) == best


def test_the_sorted_count_agrees_with_the_table_count(monkeypatch):
    draw = np.random.default_rng(3)
    column = encode_series(pl.Series("x", draw.integers(0, 50, 4000)))
    ids = draw.integers(0, 300, 4000)
    counted = np.sort(qi.sizes_of(ids, 300, column))
    monkeypatch.setattr(qi, "_TABLE_LEAST", 0)
    monkeypatch.setattr(qi, "_TABLE_PER_RECORD", 0)
    assert np.array_equal(np.sort(qi.sizes_of(ids, 300, column)), counted)
    assert np.array_equal(np.sort(qi.sizes_of(ids * 2**25, 300 * 2**25, column)), counted)


def test_a_recoded_column_stands_once_in_the_search():
    table = [("a", [1, 2, 3, 1, 2, 3]), ("code", ["x", "y", "z", "x", "y", "z"]), ("b", [0, 0, 0, 1, 1, 1])]
    found = qi.strongest(encoded(table), 6)
    assert found.same == {"code": "a"}
    assert [one.attributes for one in found.sets if one.minimal_key] == [("a", "b")]
    assert not any("code" in one.attributes for one in found.sets)
