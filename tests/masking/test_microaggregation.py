from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Policy
from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DiscreetError, ParameterError
from discreet.losses.falsehood import Falsehood
from discreet.masking.microaggregation.method import Microaggregation
from discreet.model.cells import Group
from discreet.model.microdata import Microdata
from discreet.registry import create
from discreet.testing import table

DRAW = KeyedDraw(1)


def masked(method: Microaggregation, data: Microdata, columns: list[str]) -> pl.DataFrame:
    method.check(data, columns)
    return method.mask(data, columns, DRAW).frame


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3)), min_size=6, max_size=40), st.integers(2, 3), st.randoms())
def test_the_release_does_not_depend_on_the_order_of_rows(rows, size, random):
    data = table({"x": [a for a, _ in rows], "y": [float(b) for _, b in rows]}, key=["x", "y"])
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = data.take(np.array(order))
    for columns in (["x"], ["x", "y"]):
        straight, from_shuffled = (
            masked(Microaggregation(size=size), data, columns),
            masked(Microaggregation(size=size), shuffled, columns),
        )
        assert straight[order].equals(from_shuffled)


def test_means_and_totals_are_preserved_and_every_value_is_shared():
    rng = np.random.default_rng(3)
    data = table({"x": rng.normal(size=500), "y": rng.lognormal(size=500)}, confidential=["x", "y"])
    aggregated = masked(Microaggregation(size=5), data, ["x", "y"])
    for name in ("x", "y"):
        assert aggregated[name].mean() == pytest.approx(data.frame[name].mean(), rel=1e-9, abs=1e-12)
    sizes = aggregated.group_by("x", "y").len()["len"]
    assert sizes.min() >= 5
    assert sizes.max() < 10


def test_records_are_grouped_within_their_stratum_only():
    data = table({"x": [1, 2, 3, 4, 100, 101], "sex": ["f", "m", "f", "m", "f", "m"]}, key=["x", "sex"])
    aggregated = masked(Microaggregation(size=3, strata=("sex",)), data, ["x"])
    assert aggregated["x"].to_list() == pytest.approx([104 / 3, 107 / 3] * 3)


def test_integers_stay_integers_if_exact_or_required():
    data = table({"x": [1, 2, 7, 7]}, key=["x"])
    assert masked(Microaggregation(size=2), data, ["x"])["x"].to_list() == [1.5, 1.5, 7, 7]
    assert masked(Microaggregation(size=2, whole=True), data, ["x"])["x"].to_list() == [2, 2, 7, 7]
    assert masked(Microaggregation(size=2), table({"x": [1, 3, 7, 7]}, key=["x"]), ["x"])["x"].dtype == pl.Int64


def test_ordinal_categories_get_the_median_and_nominal_ones_the_mode():
    policy = Policy.from_dict({"attributes": {"grade": {"role": "key", "order": ["low", "mid", "high"]}, "job": {"role": "key"}}})
    frame = pl.DataFrame({"grade": ["low", "low", "mid", "high", "high", "mid"], "job": ["a", "a", "b", "c", "c", "c"]})
    data = Microdata(frame, policy)
    assert masked(Microaggregation(size=3), data, ["grade"])["grade"].to_list() == ["low", "low", "low", "high", "high", "high"]
    both = masked(Microaggregation(size=3), data, ["grade", "job"])
    assert both.group_by("grade", "job").len()["len"].min() == 3
    jobs = masked(Microaggregation(size=3), data, ["job"])["job"].to_list()
    assert sorted(jobs) == ["a", "a", "a", "c", "c", "c"], "b is too rare to be a mode"


def test_dates_are_averaged_as_dates():
    days = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 3), datetime.date(2021, 5, 5), datetime.date(2021, 5, 7)]
    aggregated = masked(Microaggregation(size=2), table({"day": days}, key=["day"]), ["day"])
    assert aggregated["day"].to_list() == [datetime.date(2020, 1, 2)] * 2 + [datetime.date(2021, 5, 6)] * 2


def test_nulls_stay_null_and_records_with_the_same_missing_columns_are_grouped():
    data = table({"x": [1, 2, None, None, 5, 6], "y": [1.0, 2.0, 8.0, 9.0, 3.0, None]}, key=["x", "y"])
    aggregated = masked(Microaggregation(size=2), data, ["x", "y"])
    assert aggregated["x"].to_list()[2:4] == [None, None]
    assert aggregated["y"].to_list()[2:4] == [8.5, 8.5]
    assert aggregated.row(5) == (None, None), "the only record without y cannot be in a group, so it is suppressed"
    notes = Microaggregation(size=2).notes(data, data.with_columns({"x": aggregated["x"], "y": aggregated["y"]}), ["x", "y"])
    assert notes[0].startswith("1 values were suppressed")


def test_columns_of_large_weight_decide_which_records_are_similar():
    data = table({"x": [0, 1, 10, 11], "name": ["a", "b", "a", "b"]}, key=["x", "name"])
    by_names = masked(Microaggregation(size=2, how="mdav", scale="range", weights={"name": 9}), data, ["x", "name"])
    by_numbers = masked(Microaggregation(size=2, how="mdav", scale="range", weights={"x": 9}), data, ["x", "name"])
    assert by_names["name"].to_list() == ["a", "b", "a", "b"]
    assert by_names["x"].to_list() == [5, 6, 5, 6]
    assert by_numbers["x"].to_list() == [0.5, 0.5, 10.5, 10.5]


def test_missing_nominal_values_can_be_a_category():
    data = table({"x": [1, 1, 1, 9, 9], "name": ["a", None, "a", None, None]}, key=["x", "name"])
    apart = masked(Microaggregation(size=2, how="mdav"), data, ["x", "name"])
    as_category = masked(Microaggregation(size=2, how="mdav", missing="category"), data, ["x", "name"])
    assert apart["name"].to_list() == ["a", None, "a", None, None]
    assert apart["x"].to_list() == pytest.approx([1, 19 / 3, 1, 19 / 3, 19 / 3])
    assert as_category.rows() == [(1, "a"), (1, "a"), (1, "a"), (9, None), (9, None)]
    single_null = table({"name": ["a", "a", None]}, key=["name"])
    assert masked(Microaggregation(size=2, how="mdav", missing="category"), single_null, ["name"])["name"].to_list() == ["a"] * 3


def test_a_table_above_the_exact_size_is_split_and_the_log_reports_the_cost():
    rng = np.random.default_rng(5)
    data = table({"x": rng.normal(size=2000), "y": rng.normal(size=2000)}, key=["x", "y"])
    method = Microaggregation(size=3, exact_up_to=500)
    in_parts = method.mask(data, ["x", "y"], DRAW)
    assert in_parts.frame.group_by("x", "y").len()["len"].min() >= 3
    (note,) = method.notes(data, in_parts, ["x", "y"])
    assert "2,000 records were split into 4 parts" in note
    exact = Microaggregation(size=3).mask(data, ["x", "y"], DRAW)

    def error(masked: Microdata) -> float:
        return sum(float(((masked.frame[name] - data.frame[name]) ** 2).sum()) / data.frame[name].var() for name in ("x", "y"))

    assert error(exact) <= error(in_parts) * 1.05
    assert error(in_parts) <= error(exact) * 1.2


def test_a_group_that_became_too_small_is_reported_with_columns_and_size():
    data = table({"x": [1, 1, 2], "y": [1, None, 2]}, key=["x", "y"])
    assert Microaggregation(size=2).promise(data, ["x"]) == [
        "its groups of at least 2 records with equal x no longer exist: 1 record is now in smaller ones, the smallest of 1"
    ]
    assert Microaggregation(size=2).promise(table({"x": [None, 1, 1]}, key=["x"]), ["x", "gone"]) == []


@pytest.mark.parametrize(
    ("parameters", "rule"), [({}, "required"), ({"size": 1}, "greater than or equal to 2"), ({"size": 2, "how": "x"}, "mdav")]
)
def test_an_invalid_parameter_is_named_in_the_error(parameters, rule):
    with pytest.raises(ParameterError, match=rule):
        create("masking", "microaggregation", parameters)


@pytest.mark.parametrize(
    ("columns", "parameters", "message"),
    [
        ({"x": [1, 2]}, {"size": 3}, "values in only 2 records"),
        ({"x": [1]}, {"size": 2}, "values in only 1 record"),
        ({"x": [None, None]}, {"size": 2}, "null in every record"),
        ({"x": ["a", "b"]}, {"size": 2, "aggregate": "mean"}, "use mode"),
        ({"x": ["a", "b"]}, {"size": 2, "how": "optimal"}, "needs an order"),
        ({"x": [1, 2, 3], "s": ["a", "a", "b"]}, {"size": 2, "strata": ("s",)}, "in the stratum s = b"),
        ({"x": [1, 2]}, {"size": 2, "strata": ("x",)}, "the step itself changes"),
        ({"x": [1, 2]}, {"size": 2, "strata": ("z",)}, "not a column"),
        ({"x": [1.0, float("inf")]}, {"size": 2}, "infinite"),
        ({"x": [1, 2]}, {"size": 2, "weights": {"y": 2}}, "weights names .y., which is not grouped"),
    ],
)
def test_unsuitable_data_are_refused_before_anything_changes(columns, parameters, message):
    with pytest.raises(DiscreetError, match=message):
        Microaggregation(**parameters).check(table(columns, key=["x"]), ["x"])


_RANGED = {"age": st.one_of(st.none(), st.integers(20, 60)), "sex": st.sampled_from(["f", "m"]), "town": st.sampled_from("abc*{")}


def _describe_group(values: list[object], number_of_values: int) -> str | None:
    """What a group publishes, read off its values one by one."""
    different = sorted(set(values), key=str) if None not in values else []
    if not different:
        return None
    if len(different) == 1:
        return str(different[0])
    if all(isinstance(value, int) for value in different):
        return f"[{min(different)}, {max(different)}]"  # type: ignore[type-var]
    return None if len(different) == number_of_values else str(Group(frozenset(map(str, different))))


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(*_RANGED.values()), min_size=4, max_size=20), st.integers(2, 4))
def test_ranges_are_those_of_groups_of_at_least_size_records_and_contain_every_true_value(rows, size):
    columns = {name: [row[index] for row in rows] for index, name in enumerate(_RANGED)}
    data = table(columns | {"number": range(len(rows))}, key=list(_RANGED))
    if data.frame["age"].null_count() == len(rows):
        return
    method = Microaggregation(size=size, how="mdav", publish="ranges", ends="exact", missing="category")
    method.check(data, list(_RANGED))
    groups = np.empty(len(rows), dtype=np.int64)
    groups[:] = method._build_grouping(data, list(_RANGED), np.arange(len(rows))).groups(False)
    assert np.bincount(groups).min() >= size
    release = method.mask(data, list(_RANGED), DRAW)
    for name, values in columns.items():
        number_of_values = len({value for value in values if value is not None})
        by_group = {
            int(group): _describe_group([values[row] for row in np.flatnonzero(groups == group)], number_of_values)
            for group in groups
        }
        released = [None if value is None else str(value) for value in release.frame[name].to_list()]
        if released != [None if value is None else str(value) for value in values]:  # no column stays unless all groups agree
            assert released == [by_group[int(group)] for group in groups]
    assert Falsehood(attributes=tuple(_RANGED)).measure(data, release).summary["false"] == 0
    rounded = method.model_copy(update={"ends": "rounded"}).mask(data, list(_RANGED), DRAW)
    assert Falsehood(attributes=tuple(_RANGED)).measure(data, rounded).summary["false"] == 0


def test_ranges_of_dates_and_of_a_group_without_a_difference():
    days = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 9), datetime.date(2024, 5, 5), datetime.date(2024, 5, 5)]
    release = masked(Microaggregation(size=2, publish="ranges", ends="exact"), table({"day": days}, key=["day"]), ["day"])
    assert release["day"].to_list() == ["[2020-01-01, 2020-01-09]"] * 2 + ["2024-05-05"] * 2
    same = table({"sex": ["f", "f", "m", "m"], "age": [1, 1, 50, 50]}, key=["sex", "age"])
    unchanged = masked(Microaggregation(size=2, publish="ranges"), same, ["sex", "age"])
    assert unchanged.equals(same.frame)
