"""Group counts against counting by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.classes import groups
from discreet.engine.classes.groups import class_sizes, count_agreeing_rows, group_columns
from discreet.engine.encoding.columns import Column, encode_series

ROWS = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.sampled_from([None, 0, 1, 2])] * width), min_size=1, max_size=12)
)


@settings(max_examples=150)
@given(ROWS)
def test_groups_are_equal_rows(rows: list[tuple[int | None, ...]]) -> None:
    columns = [encode_series(pl.Series("x", list(column), dtype=pl.Int64)) for column in zip(*rows, strict=True)]
    ids, number = group_columns(columns, len(rows))
    assert number == len(set(rows))
    assert [[one == other for other in ids] for one in ids] == [[one == other for other in rows] for one in rows]
    assert class_sizes(columns, len(rows)).tolist() == [Counter(rows)[row] for row in rows]


def agree(one: tuple[int | None, ...], other: tuple[int | None, ...]) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


@settings(max_examples=150)
@given(ROWS, st.data())
def test_a_null_agrees_with_anything_on_either_side(rows: list[tuple[int | None, ...]], draw: st.DataObject) -> None:
    columns = [encode_series(pl.Series("x", list(column), dtype=pl.Int64)) for column in zip(*rows, strict=True)]
    assert class_sizes(columns, len(rows), wildcard=True).tolist() == [sum(agree(row, other) for other in rows) for row in rows]
    asked = draw.draw(st.lists(st.sampled_from(rows), min_size=1, max_size=6))
    places = [rows.index(row) for row in asked]
    codes = [column.codes for column in columns]
    found = count_agreeing_rows(
        [one[places] for one in codes], codes, [c.cardinality for c in columns], [c.null_code for c in columns]
    )
    assert found.tolist() == [sum(agree(row, other) for other in rows) for row in asked]


def test_no_rows_have_no_groups() -> None:
    column = encode_series(pl.Series("x", [], dtype=pl.Int64))
    assert group_columns([column], 0)[1] == 0
    assert class_sizes([column], 0).dtype == np.int64


@given(st.lists(st.integers(0, 4), min_size=1, max_size=20), st.booleans())
def test_the_classes_of_one_attribute_are_its_values_that_occur(codes: list[int], all_occur: bool) -> None:
    used = np.unique(codes, return_inverse=True)[1] if all_occur else np.array(codes)
    column = Column("x", used.astype(np.uint8), pl.Series("x", range(int(used.max()) + 1)), False)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(groups, "_COMPILED_LEAST", 0)
        ids, sizes = groups.number_classes([column], len(codes))
    assert sorted(sizes.tolist()) == sorted(np.unique(codes, return_counts=True)[1].tolist())
    assert sizes[ids].tolist() == [codes.count(code) for code in codes]
