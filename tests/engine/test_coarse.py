"""What a masked cell contains, against reading it value by value."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.assessment.unexplained_labels import check_explained
from discreet.engine.cells.containment import read_containment
from discreet.engine.encoding.columns import encode_series
from discreet.errors import UnexplainedCellError
from discreet.model.attribute import Attribute
from discreet.model.cells import ColumnCells, parse_group, parse_interval
from discreet.model.hierarchy import Hierarchy
from discreet.testing import table

TREE = Hierarchy.from_rows([("a", "ab"), ("b", "ab"), ("c", "c"), ("d", "de"), ("e", "de")])


def by_hand(value, text, hierarchy, numeric):
    """The definition, one value and one text at a time."""
    if text is None or text == "*" or value is None:
        return True
    if numeric and (interval := parse_interval(text)):
        return value in interval
    if hierarchy and text in hierarchy.members:
        return str(value) in hierarchy.members[text]
    if str(value) == text:
        return True
    group = parse_group(text)
    return group is not None and str(value) in group.members


cells = st.one_of(
    st.none(), st.just("*"), st.integers(-3, 12).map(str),
    st.tuples(st.integers(-3, 12), st.integers(0, 9)).map(lambda t: f"{t[0]}..{t[0] + t[1]}"),
    st.tuples(st.integers(-3, 12), st.integers(0, 9)).map(lambda t: f"[{t[0]}, {t[0] + t[1]}]"),
    st.sets(st.integers(0, 9), min_size=1).map(lambda s: "{" + "|".join(map(str, s)) + "}"),
    st.sampled_from(["<4", ">=7"]),
)  # fmt: skip
letters = st.one_of(st.none(), st.sampled_from(["a", "b", "c", "d", "e", "ab", "de", "*", "{a|c}", "{ab|e}"]))


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 9)), cells), min_size=1, max_size=12))
def test_numbers_are_contained_exactly_in_the_cells_that_hold_them(rows):
    before = encode_series(pl.Series("x", [row[0] for row in rows], dtype=pl.Int64))
    after = encode_series(pl.Series("x", [row[1] for row in rows], dtype=pl.String))
    read = read_containment(before, after)
    assert read.contains(after.codes, before.codes).tolist() == [by_hand(*row, None, True) for row in rows]
    values = [row[0] for row in rows if row[0] is not None]
    for (_, text), code in zip(rows, after.codes, strict=True):
        if text is None or text == "*":
            assert read.share[code] == 1
        elif values and (interval := parse_interval(text)):
            low, high = min(values), max(values)
            inside = max(0.0, min(interval.upper, high) - max(interval.lower, low))
            assert read.share[code] == pytest.approx(inside / (high - low) if high > low else 0)


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(st.one_of(st.none(), st.sampled_from("abcde")), letters), min_size=1, max_size=12))
def test_categories_are_contained_under_their_labels_and_in_their_groups(rows):
    before = encode_series(pl.Series("x", [row[0] for row in rows], dtype=pl.String))
    after = encode_series(pl.Series("x", [row[1] for row in rows], dtype=pl.String))
    read = read_containment(before, after, TREE)
    found = read.contains(after.codes, before.codes)
    for (value, text), contained, code in zip(rows, found, after.codes, strict=True):
        if text == "{ab|e}":
            assert contained == (value in (None, "a", "b", "e"))
            assert read.share[code] == 3 / 5
        else:
            assert contained == by_hand(value, text, TREE, False)
        if text in ("ab", "de", "{a|c}"):
            assert read.share[code] == 2 / 5
    assert read.matrix().shape == (after.cardinality, len(before.values))


def test_a_text_that_is_neither_a_value_nor_a_label_is_an_error():
    before, after = table({"x": ["a", "b"]}), table({"x": ["a", "zz"]})
    with pytest.raises(UnexplainedCellError, match="'x' holds 'zz'"):
        check_explained(before, after)
    check_explained(before, after.with_cells({"x": ColumnCells(kind="text")}))


def test_cells_of_a_release_file_are_read_as_in_memory():
    before = encode_series(pl.Series("x", [1.0, 2.0, 3.5]))
    for masked in (pl.Series("x", ["1", "2", "3.5"]), pl.Series("x", [1.0, 2.0, 3.5])):
        assert read_containment(before, encode_series(masked)).matrix().tolist() == np.eye(3, dtype=bool).tolist()


def test_a_list_contains_every_notation_of_its_numbers():
    before = encode_series(pl.Series("x", ["1", "1.0", "2", "3"]))
    after = encode_series(pl.Series("x", ["{1|3}", "2..4"]))
    read = read_containment(before, after)
    contained = dict(zip(after.values.to_list(), read.matrix().tolist(), strict=True))
    assert [value for value, inside in zip(before.values.to_list(), contained["{1|3}"], strict=True) if inside] == [
        "1",
        "1.0",
        "3",
    ]
    assert [value for value, inside in zip(before.values.to_list(), contained["2..4"], strict=True) if inside] == ["2", "3"]


def test_years_of_dates_are_labels_and_not_numbers():
    days = encode_series(pl.Series("d", ["2014-05-03", "2014-07-01", "2015-01-01"]).str.to_date())
    tree = Hierarchy.from_rows([("2014-05-03", "2014"), ("2014-07-01", "2014"), ("2015-01-01", "2015")])
    for masked in (pl.Series("d", ["2014", "2015"]), pl.Series("d", [2014, 2015])):
        assert read_containment(days, encode_series(masked), tree).matrix().tolist() == [
            [True, True, False],
            [False, False, True],
        ]


def test_an_interval_of_coded_categories_counts_by_leaves():
    before = encode_series(pl.Series("x", [0, 1, 2, 10]))
    read = read_containment(before, encode_series(pl.Series("x", ["0..2"])), numeric=False)
    assert read.share.tolist() == [0.5]
    assert read.matrix().tolist() == [[True, True, False, False]]


def test_the_policys_order_leaves_intervals_correct_and_accepts_coarse_values():
    before = encode_series(pl.Series("x", [1, 2, 3]), Attribute(order=("3", "1", "2")))
    assert before.values.to_list() == [3, 1, 2]
    assert read_containment(before, encode_series(pl.Series("x", ["1..3"]))).matrix().tolist() == [[False, True, True]]
    after = encode_series(pl.Series("x", ["1", "{1|2}", "3"]), Attribute(order=("3", "1", "2")))
    assert after.values.to_list() == ["3", "1", "{1|2}"]
