"""The number that an analyst would compute with for a coarse cell."""

import datetime
import math

import numpy as np
import polars as pl
import pytest

from discreet.engine.cells.midpoints import as_numbers, cell_midpoint, is_number, released_numbers, value_range
from discreet.errors import UnexplainedCellError
from discreet.model.cells import ColumnCells, Group, Interval, Prefix
from discreet.model.hierarchy import Hierarchy, HierarchySpec
from discreet.testing import table

D = datetime.date


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (Interval(40, 50), 45.0),
        (Interval(0.5, 1.5), 1.0),
        (Interval(-math.inf, 50), 25.0),
        (Interval(60, math.inf), 80.0),
        (Group(frozenset({"1", "2", "6"})), 3.0),
        (Group(frozenset({"1"}), frozenset({Interval(4, 6)})), 3.0),
        (Group(frozenset({"1"}), frozenset(), True), 50.0),
        (Group(frozenset()), math.nan),
        (Group(frozenset({"1", "x"})), math.nan),
        (Prefix("4", 2), math.nan),
    ],
    ids=str,
)
def test_the_middle_of_a_cell_within_the_range_of_the_table(cell, expected):
    assert cell_midpoint(cell, "number", 0.0, 100.0) == pytest.approx(expected, nan_ok=True)


def test_an_interval_without_an_end_has_no_middle_where_the_range_is_unknown():
    assert math.isnan(cell_midpoint(Interval(60, math.inf), "number", -math.inf, math.inf))
    assert math.isnan(cell_midpoint(Group(frozenset({"1"}), frozenset(), True), "number", -math.inf, math.inf))


def test_intervals_without_an_end_reach_to_the_given_range_where_there_is_no_original():
    assert as_numbers(pl.Series(["<=30", ">=60", "44"]), 10.0, 80.0).tolist() == [20.0, 70.0, 44.0]


def test_dates_become_days_and_times_do_not():
    days = as_numbers(pl.Series([D(1970, 1, 2), None, D(1970, 1, 11)]))
    assert days.tolist()[::2] == [1.0, 10.0]
    assert math.isnan(days[1])
    assert as_numbers(pl.Series(["1970-01-02..1970-01-04"]), like=pl.Series([D(1970, 1, 1)])).tolist() == [2.0]
    assert as_numbers(pl.Series(["{1970-01-02|1970-01-04}"]), like=pl.Series([D(1970, 1, 1)])).tolist() == [2.0]
    assert as_numbers(pl.Series([datetime.time(0, 0, 1)])).tolist() == [1_000_000.0]
    assert as_numbers(pl.Series([True, False])).tolist() == [1.0, 0.0]
    assert [is_number(pl.Series([one])) for one in (1, 0.5, True, D(1970, 1, 1), "1")] == [True, True, True, True, False]


def test_dates_and_datetimes_are_days_also_where_they_are_compared_or_stand_in_texts():
    halfway = datetime.datetime(1970, 1, 2, 12)
    assert as_numbers(pl.Series([halfway])).tolist() == [1.5]
    assert as_numbers(pl.Series([halfway]), like=pl.Series([D(1970, 1, 1)])).tolist() == [1.5]
    assert as_numbers(pl.Series(["1970-01-03", "1970-01-02..1970-01-05"]), like=pl.Series([D(1970, 1, 1)])).tolist() == [2.0, 2.5]


def test_released_numbers_that_are_labels_get_the_number_of_what_they_stand_for():
    tree = Hierarchy.from_rows([["11", "1", "*"], ["12", "1", "*"], ["21", "2", "*"]], attribute="x")
    for labels in ([1, 1, 2], ["1", "1", "2"]):
        assert as_numbers(pl.Series(labels), like=pl.Series([11, 12, 21]), hierarchy=tree).tolist() == [11.5, 11.5, 21.0]
    declared = ColumnCells(kind="number", labels={"99": "4..6"})
    assert as_numbers(pl.Series([99, 3]), cells=declared).tolist() == [5.0, 3.0]
    assert as_numbers(pl.Series([99, 3]), like=pl.Series([1]), cells=declared).tolist() == [5.0, 3.0]


def test_only_what_could_be_an_original_value_is_read_as_its_kind():
    for released, original in ((5, D(1970, 1, 1)), (5, True), (True, 5)):
        with pytest.raises(UnexplainedCellError):
            as_numbers(pl.Series([released]), like=pl.Series([original]))
    with pytest.raises(UnexplainedCellError):
        as_numbers(pl.Series(["unheard of"]), cells=ColumnCells(kind="number"))
    assert np.isnan(as_numbers(pl.Series([5]), like=pl.Series(["a"]))).all()
    assert as_numbers(pl.Series(["20..30", "40"]), like=pl.Series(["x", "y"])).tolist() == [25.0, 40.0]


def test_the_numbers_of_a_column_may_be_changed_without_changing_the_column():
    column = pl.Series([1.0, 2.0])
    as_numbers(column)[0] = 5.0
    assert column.to_list() == [1.0, 2.0]


def test_the_range_ignores_what_is_missing_and_is_open_without_numbers():
    assert value_range(np.array([3.0, math.nan, -1.0])) == (-1.0, 3.0)
    assert value_range(np.array([math.nan])) == (-math.inf, math.inf)


def test_a_label_that_nothing_explains_is_an_error_beside_the_original_and_missing_without_it():
    labels = pl.Series(["unheard of", "3"])
    assert as_numbers(labels).tolist()[1] == 3.0
    assert math.isnan(as_numbers(labels)[0])
    with pytest.raises(UnexplainedCellError):
        as_numbers(labels, like=pl.Series([1, 3]))
    declared = ColumnCells(kind="number", labels={"unheard of": "4..6"})
    assert as_numbers(labels, like=pl.Series([1, 3]), cells=declared).tolist() == [5.0, 3.0]
    assert as_numbers(labels, cells=declared).tolist() == [5.0, 3.0]


def test_a_column_of_intervals_and_words_has_the_same_numbers_before_and_after_where_nothing_changed():
    """The word is no number, but it stands in the original too, so that it does not hide the numbers beside it."""
    for bands in (["20..30", "30..40", "unknown"], ["unknown", "20..30", "30..40"]):
        data = table({"band": bands}, key=["band"])
        before, after = released_numbers(data, data, "band")
        assert np.array_equal(before, [math.nan if band == "unknown" else float(band[:2]) + 5 for band in bands], equal_nan=True)
        assert np.array_equal(after, before, equal_nan=True)


def test_empty_null_and_text_columns_have_no_numbers():
    assert np.isnan(as_numbers(pl.Series(["a", "{a|b}"]), like=pl.Series(["a", "b"]))).all()
    assert as_numbers(pl.Series([], dtype=pl.String)).tolist() == []
    assert np.isnan(as_numbers(pl.Series([None, None]))).all()
    for like, cells in ((pl.Series([1]), None), (pl.Series(["a"]), None), (None, ColumnCells(kind="number"))):
        assert as_numbers(pl.Series([], dtype=pl.Int64), like=like, cells=cells).tolist() == []
        assert np.isnan(as_numbers(pl.Series([None, None]), like=like, cells=cells)).all()


def test_released_intervals_end_where_the_original_values_end():
    data = table({"age": [20, 40, 60]}, key=["age"])
    masked = data.with_columns({"age": pl.Series("age", ["<=30", ">=50", None])})
    before, after = released_numbers(data, masked, "age")
    assert before.tolist() == [20.0, 40.0, 60.0]
    assert after.tolist()[:2] == [25.0, 55.0]
    assert math.isnan(after[2])


def test_released_numbers_follow_the_hierarchy_the_declared_cells_and_the_type_of_the_original():
    data = table({"age": [20, 40, 60], "born": [D(1970, 1, day) for day in (1, 2, 3)]}, key=["age"])
    age = data.policy.attributes["age"].model_copy(
        update={"hierarchy": HierarchySpec(groups=[{"low": ["20", "40"], "high": ["60"]}])}
    )
    data = data.with_policy(data.policy.with_(attributes={**data.policy.attributes, "age": age}))
    masked = data.with_columns({"age": pl.Series("age", ["low", "high", "*"]), "born": pl.Series("born", ["1970-01-02"] * 3)})
    assert released_numbers(data, masked, "age")[1].tolist()[:2] == [30.0, 60.0]
    assert released_numbers(data, masked, "born")[1].tolist() == [1.0] * 3
    renamed = data.with_columns(
        {"age": pl.Series("age", ["?", "60", "60"])}, cells={"age": ColumnCells(kind="number", labels={"?": "20..30"})}
    )
    assert released_numbers(data, renamed, "age")[1].tolist() == [25.0, 60.0, 60.0]
