"""Hierarchies from files and rules: trees that cover the data, or an error that says what is missing."""

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Microdata, Policy
from discreet.engine.cells.hierarchies import (
    format_rows,
    hierarchy_of,
    leaf_codes,
    level_codes,
    parse_rows,
    read_rows,
    usable_hierarchy,
)
from discreet.engine.cells.intervals import interval_bins, interval_of_bin, quantile_levels, width_levels
from discreet.engine.encoding.columns import encode
from discreet.errors import DataError, SourceError
from discreet.model.cells import parse_cell, parse_interval
from discreet.model.hierarchy import Hierarchy


def data_with(values, spec, folder=None, **more):
    attributes = {"x": {"hierarchy": spec, **more}} if spec is not None else {}
    policy = Policy.from_dict({"attributes": attributes}, folder=folder)
    return Microdata(pl.DataFrame({"x": values}, strict=False), policy)


def build(values, spec, folder=None):
    return hierarchy_of(data_with(values, spec, folder), "x")


@pytest.mark.parametrize(
    "text", ["1;low;*\n2;low;*\n3;high;*\n", "\ufeff1,low\n2,low\n3,high\n", '"1"\tlow\t*\r\n2\tlow\t*\r\n3\thigh\t*\r\n\r\n']
)
def test_an_arx_hierarchy_file_is_read_relative_to_the_policy(tmp_path, text):
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    made = build([1, 2, 3, None], "x.csv", str(tmp_path))
    assert made.labels == (("1", "2", "3"), ("low", "low", "high"), ("*", "*", "*"))
    assert build([1.0, 3.0], "x.csv", str(tmp_path)).height == 2


def test_a_file_that_misses_values_names_them(tmp_path):
    (tmp_path / "x.csv").write_text("a;*\n")
    with pytest.raises(DataError, match=r"'x' does not cover 'b', 'c'; add a line for each"):
        build(["a", "b", "c"], "x.csv", str(tmp_path))
    with pytest.raises(DataError, match=r"and 3 more"):
        build([f"v{i}" for i in range(13)], "x.csv", str(tmp_path))
    with pytest.raises(SourceError, match=r"no\.csv: the hierarchy of 'x' cannot be read"):
        build(["a"], "no.csv", str(tmp_path))


def test_a_column_without_a_hierarchy_that_covers_it_has_no_usable_one(tmp_path):
    (tmp_path / "x.csv").write_text("a;*\nb;*\n")
    covered = usable_hierarchy(data_with(["a", "b"], "x.csv", str(tmp_path)), "x")
    assert covered is not None
    assert covered.labels == (("a", "b"), ("*", "*"))
    assert usable_hierarchy(data_with(["a", "c"], "x.csv", str(tmp_path)), "x") is None
    assert usable_hierarchy(data_with(["a", "b"], None), "x") is None
    assert usable_hierarchy(data_with(["a", "b"], "x.csv", str(tmp_path)), "y") is None


def test_the_leaf_of_a_null_is_none():
    data = data_with(["b", None, "a", "c"], {"groups": [{"ab": ["a", "b"], "rest": ["c"]}]})
    hierarchy = hierarchy_of(data, "x")
    leaves = leaf_codes(encode(data, ["x"])[0], hierarchy)
    assert [hierarchy.labels[0][leaf] for leaf in leaves[:3].tolist()] == ["a", "b", "c"]
    assert leaves[3:].tolist() == [-1]


def test_hierarchy_rows_that_do_not_form_a_tree_are_refused(tmp_path):
    (tmp_path / "x.csv").write_text("a;g;one;*\nb;g;two;*\n")
    with pytest.raises(DataError, match="not a tree: 'g' on level 1 lies under 'one' and under 'two'"):
        build(["a", "b"], "x.csv", str(tmp_path))


def test_hierarchy_rules_produce_the_documented_labels():
    assert build([34, 41], {"widths": [5, 20]}).labels[1:] == (("30..35", "40..45"), ("20..40", "40..60"), ("*", "*"))
    assert build(["48201", "48307"], {"prefixes": [4, 2, 0]}).labels[1:] == (("4820*", "4830*"), ("48***", "48***"), ("*", "*"))
    days = [datetime.date(2014, 5, 3), datetime.date(2009, 12, 31)]
    made = build(days, {"dates": ["month", "quarter", "year", "decade"]})
    assert [level[1] for level in made.labels] == ["2014-05-03", "2014-05", "2014-Q2", "2014", "2010s", "*"]
    assert build([str(day) for day in days], {"dates": ["week"]}).labels[1] == ("2009-W53", "2014-W18")
    groups = [{"ab": ["a", "b"], "rest": ["c"]}, {"all": ["ab", "rest"]}]
    assert build(["a", "b", "c"], {"groups": groups}).labels[1:3] == (("ab", "ab", "rest"), ("all",) * 3)
    assert build(["a", "b"], None).labels == (("a", "b"), ("*", "*"))
    assert build(["34", "41.5"], {"widths": [5, 20]}).labels == build([34, 41.5], {"widths": [5, 20]}).labels
    assert build(["34", "41"], {"quantiles": [2]}).labels == build([34, 41], {"quantiles": [2]}).labels
    assert build([None, None], {"widths": [5]}).labels == (("*",), ("*",))


@pytest.mark.parametrize(
    ("values", "spec", "message"),
    [
        (["a", "b"], {"groups": [{"g": ["a"]}]}, "no group for 'b' on level 1"),
        (["a"], {"groups": [{"g": ["a"], "h": ["a"]}]}, "puts 'a' in 'g' and in 'h'"),
        (["a"], {"widths": [5]}, "needs numbers, but 'x' holds 'a'"),
        ([1, 2], {"widths": [5, 12]}, "12.0 is none of 5.0"),
        ([1, 2], {"widths": [5, 5]}, "5.0 is none of 5.0"),
        ([1, 2], {"widths": [5, 13]}, "13.0 is none of 5.0"),
        ([1, 2], {"quantiles": [4, 3]}, "3 does not divide 4"),
        ([1, 2], {"quantiles": [4, 4]}, "4 does not divide 4"),
        (["5", "a"], {"widths": [5]}, "needs numbers, but 'x' holds 'a'"),
        (["a", "b"], {"groups": [{"g": ["a", "b"]}, {"h": ["a"]}]}, "no group for 'b' on level 2"),
        (["x"], {"dates": ["year"]}, "needs dates such as 2014-05-31, but 'x' holds 'x'"),
        (["2014-05-31", "x"], {"dates": ["year"]}, "but 'x' holds 'x'"),
        ([1], {"dates": ["year"]}, "needs dates, but 'x' is Int64"),
    ],
)
def test_an_invalid_hierarchy_rule_raises_an_error_with_the_reason(values, spec, message):
    with pytest.raises(DataError, match=message):
        build(values, spec)


numbers = st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=1, max_size=30)


@settings(deadline=None, max_examples=60)
@given(numbers, st.sampled_from([[0.1, 0.2, 1.0], [5, 10, 50], [0.25, 1]]), st.floats(-10, 10).map(lambda x: round(x, 2)))
def test_width_intervals_contain_their_leaves(values, widths, origin):
    made = build(values, {"widths": widths, "origin": origin})
    for level, width in zip(made.labels[1:-1], widths, strict=True):
        for leaf, label in zip(made.leaves, level, strict=True):
            interval = parse_interval(label)
            assert float(leaf) in interval
            assert interval.width == pytest.approx(width, rel=1e-6, abs=1e-5)


@given(
    st.lists(st.integers(-50, 50).map(lambda tenth: tenth / 10), min_size=1),
    st.sampled_from([0.1, 0.2, 0.3]),
    st.sampled_from([0.0, 0.1, -0.3]),
)
def test_a_number_at_a_bound_lies_in_the_interval_that_begins_there(values, width, origin):
    """Also where a division of floats gives the interval before: 0.3 / 0.1 is less than 3."""
    for value, number in zip(values, interval_bins(np.array(values), width, origin).tolist(), strict=True):
        assert value in interval_of_bin(number, width, origin)


WHOLE = st.sampled_from([-(2**63), -(2**62), -1, 0, 7, 2**62, 2**63 - 1])


@given(st.lists(WHOLE, min_size=1, max_size=2), st.sampled_from([1, 5, 10]), st.sampled_from([-3, 0, 10]))
def test_whole_numbers_of_any_size_are_divided_without_rounding(values, width, origin):
    bins = interval_bins(np.array(values, dtype=np.int64), float(width), float(origin))
    assert bins.tolist() == [(value - origin) // width for value in values]


def test_bounds_are_multiples_of_the_decimal_width():
    assert width_levels(np.array([0.3, 0.7]), [0.1, 0.2], 0.0, "x") == [["0.3..0.4", "0.7..0.8"], ["0.2..0.4", "0.6..0.8"]]
    assert width_levels(np.array([1, 3, 4]), [2.5], 0.5, "x") == [["0.5..3", "3..5.5", "3..5.5"]]
    assert interval_bins(np.array([1, 3, 4]), 2.5, 1.0).tolist() == [0, 0, 1]
    assert interval_bins(np.array([1, 3, 4]), 2.0, 1.5).tolist() == [-1, 0, 1]
    assert interval_bins(np.array([], dtype=np.int64), 2.0, 0.0).tolist() == []
    far = 4_600_000_000_000_000_000  # so that their distance is no 64-bit integer
    assert interval_bins(np.array([2**62 + 64]), 4.0, -float(far)).tolist() == [(2**62 + 64 + far) // 4]


def test_a_number_lies_in_the_interval_as_it_is_written_where_bounds_are_rounded():
    """Bounds are floats: 2**60 and more have none between multiples of 128."""
    number = 1_152_921_504_606_849_001
    assert interval_of_bin(1_152_921_504_606_849, 1000.0, 0.5).lower > number
    assert interval_bins(np.array([number]), 1000.0, 0.5).tolist() == [1_152_921_504_606_848]
    assert interval_bins(np.array([1.0], dtype=object), 1.0, 1e-17).tolist() == [1]
    with pytest.raises(DataError, match="1152921504606846975 lies in no interval of the width 1"):
        interval_bins(np.array([2**60 - 1]), 1.0, 0.5)


def test_a_value_that_most_records_have_begins_no_interval_of_its_own_before_it():
    assert quantile_levels(np.array([1.0, 2.0, 3.0]), np.array([9, 1, 1]), [2], "x") == [["[1, 3]"] * 3]
    assert quantile_levels(np.array([1.0, 2.0, 3.0]), np.array([1, 1, 9]), [2], "x") == [["1..3", "1..3", "[3, 3]"]]
    assert quantile_levels(np.array([1.0, 2.0]), np.array([1, 1]), [2], "x") == [["1..2", "[2, 2]"]]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=60))
def test_quantile_bins_contain_their_leaves_and_are_as_equal_as_ties_allow(values):
    made = build(values, {"quantiles": [8, 4, 2]})
    for level, parts in zip(made.labels[1:-1], (8, 4, 2), strict=True):
        filled = {}
        for leaf, label in zip(made.leaves, level, strict=True):
            assert float(leaf) in parse_interval(label)
            filled.setdefault(label, []).append(values.count(int(leaf)))
        for counts in filled.values():
            # a bin exceeds its part of the records by less than the count of one value on either side
            assert sum(counts) - max(counts) <= len(values) / parts + max(counts)


def test_level_codes_number_the_labels_of_each_level():
    made = build([34, 41, 33, 52, 31], {"widths": [5, 20]})
    for (codes, labels), level in zip(level_codes(made), made.labels, strict=True):
        assert [labels[code] for code in codes] == list(level)
        assert labels == list(dict.fromkeys(level))


def test_a_file_that_is_not_utf8_is_read_as_latin1(tmp_path):
    (tmp_path / "x.csv").write_bytes("Köln;*\n".encode("latin-1"))
    assert read_rows(tmp_path / "x.csv", "x") == [["Köln", "*"]]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", []),
        ("\n  \n", []),
        ("a", [["a"]]),
        ("a,b\tc;d\n\ne;f", [["a,b\tc", "d"], ["e", "f"]]),
        ("a,b\tc\nd;e\tf", [["a,b", "c"], ["d;e", "f"]]),
        ("a,b\nc;d,e", [["a", "b"], ["c;d", "e"]]),
        ('"a;b";c', [["a;b", "c"]]),
    ],
)
def test_the_separator_of_the_first_line_divides_all_lines(text, rows):
    assert parse_rows(text) == rows


def test_a_line_that_is_no_row_is_an_error():
    with pytest.raises(DataError, match="cannot be read as rows value;label;…"):
        parse_rows("a;" + "x" * 200_000)


@given(st.lists(st.lists(st.text('ab;,"\t *', min_size=1, max_size=5).map("x".__add__), min_size=2, max_size=3), max_size=4))
def test_rows_that_are_written_are_read_again(rows):
    assert parse_rows(format_rows(rows)) == rows


def test_rows_are_written_as_lines():
    assert format_rows([["a", "b", "*"], ["c", "d;e", "*"]]) == 'a;b;*\nc;"d;e";*\n'


def test_leaves_are_written_as_numbers_and_truths_of_a_policy():
    assert build([1.0, 2.5], None).labels[0] == ("1", "2.5")
    assert build([False, True], None).labels[0] == ("false", "true")
    assert build([datetime.datetime(2014, 5, 3, 10)], None).labels[0] == ("2014-05-03 10:00:00",)


def test_a_text_that_is_not_longer_than_its_prefix_stays():
    made = build(["482", "4820", "48201"], {"prefixes": [4, 1]})
    assert made.labels[1:3] == (("482", "4820", "4820*"), ("4**", "4***", "4****"))


@pytest.mark.parametrize(
    ("day", "labels"),
    [
        (datetime.date(2014, 1, 1), ["2014-W01", "2014-01", "2014-Q1", "2014", "2010s"]),
        (datetime.date(2009, 3, 31), ["2009-W14", "2009-03", "2009-Q1", "2009", "2000s"]),
        (datetime.date(2010, 1, 3), ["2009-W53", "2010-01", "2010-Q1", "2010", "2010s"]),
        (datetime.date(1999, 4, 1), ["1999-W13", "1999-04", "1999-Q2", "1999", "1990s"]),
        (datetime.date(987, 12, 2), ["0987-W48", "0987-12", "0987-Q4", "0987", "0980s"]),
    ],
)
def test_dates_lie_in_the_periods_of_their_labels(day, labels):
    units = ["week", "month", "quarter", "year", "decade"]
    for values in (
        [day],
        [day.isoformat()],
        [f"{day.isoformat()} 23:59:00"],
        [datetime.datetime.combine(day, datetime.time(23))],
    ):
        assert [build(values, {"dates": [unit]}).labels[1][0] for unit in units] == labels
    assert all(day in parse_cell(label, "date") for label in labels)


def test_a_group_holds_leaves_or_labels_of_the_level_below():
    groups = [{"ab": ["a", "b", "a"], "c": ["c"]}, {"all": ["ab"], "rest": ["c"]}, {"top": ["a", "b", "rest"]}]
    assert build(["a", "b", "c"], {"groups": groups}).labels[1:4] == (("ab", "ab", "c"), ("all", "all", "rest"), ("top",) * 3)


def test_nulls_take_no_part_in_quantiles():
    some = [1, 1, 2, 3, 4, 7, 8, 9]
    assert build([*some, *[None] * 20], {"quantiles": [4, 2]}).labels == build(some, {"quantiles": [4, 2]}).labels


def test_ten_values_without_a_line_are_named_and_no_more():
    for count, named in ((10, "'v09'; add"), (11, "'v09' and 1 more; add")):
        (column,) = encode(data_with([f"v{at:02}" for at in range(count)], None), ["x"])
        with pytest.raises(DataError, match=named):
            leaf_codes(column, Hierarchy((("a",), ("*",))))


def test_columns_with_the_same_rule_have_hierarchies_of_their_own():
    rule = {"hierarchy": {"widths": [5]}}
    policy = Policy.from_dict({"attributes": {"x": rule, "y": rule, "gone": {"role": "identifier", **rule}}})
    data = Microdata(pl.DataFrame({"x": [1], "y": [7]}), policy)
    assert [hierarchy_of(data, name).labels[0] for name in "xy"] == [("1",), ("7",)]
    assert usable_hierarchy(data, "gone") is None


def test_another_policy_makes_another_hierarchy_of_the_same_table():
    data = data_with([34, 41], {"widths": [5]})
    assert hierarchy_of(data, "x").labels[1][0] == "30..35"
    again = data.with_policy(Policy.from_dict({"attributes": {"x": {"hierarchy": {"widths": [10]}}}}))
    assert hierarchy_of(again, "x").labels[1][0] == "30..40"


def test_a_file_that_changes_makes_another_hierarchy(tmp_path):
    file = tmp_path / "towns.csv"
    file.write_text("a;A;*\nb;A;*\n")
    data = Microdata(pl.DataFrame({"town": ["a", "b"]}), Policy.from_dict({"attributes": {"town": {"hierarchy": str(file)}}}))
    assert hierarchy_of(data, "town").labels[1] == ("A", "A")
    assert hierarchy_of(data, "town") is hierarchy_of(data, "town")
    file.write_text("a;A;*\nb;Bee;*\n")
    assert hierarchy_of(data, "town").labels[1] == ("A", "Bee")
