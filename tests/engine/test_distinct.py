"""Distinct rows of encoded columns against a dictionary of tuples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.classes import distinct
from discreet.engine.classes.distinct import Recoded, number_rows


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[tuple[Any, int]], int]:
    size = draw(st.integers(0, 60))
    width = draw(st.integers(0, 7))
    made: list[tuple[Any, int]] = []
    for _ in range(width):
        cardinality = draw(st.sampled_from([1, 2, 3, 200, 70_000, 1 << 31]))
        values = draw(st.lists(st.integers(0, cardinality - 1), min_size=1, max_size=4))
        codes = [draw(st.sampled_from(values)) for _ in range(size)]
        kind = np.uint8 if cardinality <= 1 << 8 else np.uint16 if cardinality <= 1 << 16 else np.uint32
        made.append((np.array(codes, dtype=kind), cardinality))
    return made, size


@pytest.mark.parametrize(("block", "space"), [(1 << 14, 1 << 13), (3, 1)])
@settings(deadline=None, max_examples=150)
@given(columns())
def test_records_share_a_row_exactly_where_all_codes_agree(
    block: int, space: int, made: tuple[list[tuple[Any, int]], int]
) -> None:
    given_columns, size = made
    seen: dict[tuple[int, ...], int] = {}
    expected = [seen.setdefault(tuple(int(codes[at]) for codes, _ in given_columns), len(seen)) for at in range(size)]
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(distinct, "_BLOCK", block)
        changed.setattr(distinct, "_FIRST_SPACE", space)
        rows = number_rows(given_columns, size)
        fewer = number_rows(given_columns, size, most=len(seen) - 1) if len(seen) > 1 else None
    assert rows is not None
    assert rows.of.tolist() == expected
    assert rows.first.tolist() == [expected.index(row) for row in range(len(seen))]
    assert rows.counts.tolist() == np.bincount(expected, minlength=len(seen)).tolist()[: len(seen)]
    assert fewer is None


def test_recoded_columns_are_read_through_their_table() -> None:
    codes = np.array([0, 1, 2, 3, 0], dtype=np.uint8)
    rows = number_rows([(Recoded(codes, np.array([5, 5, 7, 5], dtype=np.uint8)), 8)], 5)
    assert rows is not None
    assert rows.of.tolist() == [0, 0, 1, 0, 0]
    assert rows.counts.tolist() == [4, 1]


def test_more_columns_than_a_word_holds_are_told_apart() -> None:
    random = np.random.default_rng(3)
    wide = [(random.integers(0, 2, 4000).astype(np.uint8), 1 << 8) for _ in range(20)]
    rows = number_rows(wide, 4000)
    assert rows is not None
    table = np.column_stack([codes for codes, _ in wide])
    assert len(rows) == len(np.unique(table, axis=0))
    assert np.array_equal(table[rows.first][rows.of], table)


def test_class_sizes_are_the_same_with_and_without_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.engine.classes import groups
    from discreet.engine.encoding.columns import encode
    from discreet.testing import students

    data = students(3000)
    columns = encode(data, ["gender", "school", "grade", "birth_year"])
    sizes = []
    for least in (1, 1 << 60):
        monkeypatch.setattr(groups, "_COMPILED_LEAST", least)
        sizes.append(groups.class_sizes(columns, len(data)))
    assert np.array_equal(*sizes)
