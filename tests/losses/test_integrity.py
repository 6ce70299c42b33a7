"""Statistical integrity against the definitions of its statistics."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DataError, UnexplainedCellError
from discreet.losses.integrity.measure import STATISTIC_KINDS, Integrity
from discreet.losses.integrity.statistics import correlations, mean_and_variance, quantiles, regression
from discreet.model.microdata import Microdata
from discreet.testing import table

cell = st.one_of(st.none(), st.integers(-5, 5).map(float))
weight = st.integers(1, 4).map(float)


def with_nan(values):
    return np.array([math.nan if value is None else value for value in values])


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(cell, weight), max_size=12), st.sampled_from([0.05, 0.25, 0.5, 0.95]))
def test_an_integer_weight_acts_like_a_repeated_value(rows, share):
    values, weights = with_nan([value for value, _ in rows]), np.array([w for _, w in rows])
    repeated = [value for value, w in rows for _ in range(int(w)) if value is not None]
    mean, variance = mean_and_variance(values, weights)
    known = sum(value is not None for value, _ in rows)
    (quantile,) = quantiles(values, weights, np.array([share]))
    if not repeated:
        assert math.isnan(mean)
        assert math.isnan(quantile)
        return
    assert mean == pytest.approx(np.mean(repeated))
    assert variance == pytest.approx(np.var(repeated) * known / (known - 1) if known > 1 else 0.0)
    ordered = sorted(repeated)
    assert quantile == next(x for x in ordered if sum(y <= x for y in ordered) >= share * len(ordered) - 1e-9)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(cell, cell, weight), max_size=12))
def test_a_correlation_uses_the_records_in_which_both_values_are_present(rows):
    values = np.array([with_nan(row[:2]) for row in rows]).reshape(-1, 2)
    weights = np.array([row[2] for row in rows])
    repeated = [(x, y) for x, y, w in rows for _ in range(int(w)) if x is not None and y is not None]
    correlation = correlations(values, weights)[0, 1]
    if len({x for x, _ in repeated}) < 2 or len({y for _, y in repeated}) < 2:
        assert math.isnan(correlation)
    else:
        assert correlation == pytest.approx(np.corrcoef(np.array(repeated).T)[0, 1])


def test_regression_recovers_the_slopes_of_generated_data():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(500, 2))
    y = 3 + 2 * x[:, 0] - x[:, 1]
    y[:5] = np.nan
    assert regression(y, x, rng.random(500)) == pytest.approx([2, -1])
    assert regression(y, np.column_stack((x[:, 0], np.full(500, 7.3))), np.ones(500))[1] == 0.0


def survey(seed=0, size=2000):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, size)
    income = 1000 * age + rng.normal(scale=9000, size=size)
    region = rng.choice(["north", "south", "west"], size)
    job = np.where(age > 65, "retired", rng.choice(["cook", "smith"], size))
    columns = {"age": age.tolist(), "income": income.tolist(), "region": region.tolist(), "job": job.tolist()}
    return table(columns, key=["age", "region"], confidential=["income", "job"])


def test_an_unchanged_table_has_no_loss():
    data = survey()
    assert set(Integrity().measure(data, data).to_dict().values()) == {0.0, 8 * 2 + 1 + 2 + 2 + 1}


def test_each_field_detects_the_change_that_it_measures():
    data = survey()
    up = Integrity().measure(data, data.with_columns({"income": data.frame["income"] * 1.04}))
    assert up["mean"] == pytest.approx(0.04)
    assert up["standard_deviation"] == pytest.approx(0.04)
    assert up["variance"] == pytest.approx(1.04**2 - 1)
    assert up["quantile"] == pytest.approx(0.04)
    assert up["correlation"] == pytest.approx(0.0, abs=1e-9)
    assert up["regression"] == pytest.approx(0.04 * 0.886, rel=0.2)
    assert up["share"] == up["contingency"] == 0.0
    assert up["outside"] == 1  # the variance alone leaves the range of 5 %
    rng = np.random.default_rng(1)
    shuffled = Integrity().measure(data, data.with_columns({"income": data.frame["income"][rng.permutation(len(data))]}))
    assert shuffled["mean"] < 1e-9
    assert shuffled["correlation"] > 0.8
    swapped = Integrity().measure(data, data.with_columns({"job": data.frame["job"][rng.permutation(len(data))]}))
    assert swapped["share"] == 0.0
    assert swapped["contingency"] > 0.0


def test_measuring_some_fields_only_gives_the_same_numbers():
    data = survey()
    changed = data.with_columns({"income": data.frame["income"] * 1.04, "job": data.frame["job"].reverse()})
    whole = Integrity().measure(data, changed)
    assert Integrity().only({"loss", "mean"}) == Integrity()
    for kind in STATISTIC_KINDS:
        partial = Integrity().only({kind}).measure(data, changed)
        assert partial[kind] == whole[kind]
        assert 0 < partial["statistics"] < whole["statistics"]
    both = Integrity(kinds=("mean", "correlation")).measure(data, changed)
    assert (both["mean"], both["correlation"], both["statistics"]) == (whole["mean"], whole["correlation"], 3)


def test_sampling_is_measured_by_statistics_and_not_by_removed_records():
    data = survey(size=4000)
    half = data.take(np.sort(np.random.default_rng(2).permutation(4000)[:2000]))
    score = Integrity().measure(data, half)
    assert score["mean"] < 0.05
    assert score["correlation"] < 0.05


def test_a_range_by_attribute_decides_what_is_outside():
    data = survey()
    changed = data.with_columns({"income": data.frame["income"] * 1.04})
    assert Integrity(ranges={"income": 0.1}).measure(data, changed)["outside"] == 0
    assert (
        Integrity(range=0.2, ranges={"income": 0.01}).measure(data, changed)["outside"] == 8 + 2
    )  # its own statistics and both slopes, not the correlation
    row = Integrity().measure(data, changed).per_attribute.row(1, named=True)
    assert (row["attribute"], row["range"]) == ("income", 0.05)
    assert row["mean_after"] == pytest.approx(row["mean_before"] * 1.04)


def test_an_interval_counts_as_its_midpoint_and_a_suppressed_cell_as_missing():
    before = table({"age": [42, 48, 61, 70]}, key=["age"])
    after = before.with_columns({"age": pl.Series(["40..50", "40..50", ">=60", "*"])})
    score = Integrity().measure(before, after)
    row = score.per_attribute.row(0, named=True)
    assert row["mean_after"] == pytest.approx((45 + 45 + 65) / 3)
    assert "1 masked values" in score.notes[0]
    with pytest.raises(UnexplainedCellError, match="'age' holds 'old'"):
        Integrity().measure(before, before.with_columns({"age": pl.Series(["42", "48", "61", "old"])}))


def test_sampling_weights_of_both_tables_are_used():
    before = table({"x": [1.0, 2.0], "w": [1.0, 3.0]}, key=["x"], weight=["w"])
    after = before.with_columns({"w": pl.Series([3.0, 1.0])})
    row = Integrity().measure(before, after).per_attribute.row(0, named=True)
    assert (row["mean_before"], row["mean_after"]) == (1.75, 1.25)


def test_only_the_regressions_of_the_parameters_are_compared():
    data = survey()
    score = Integrity(attributes=("income", "age"), regressions={"income": ("age",)}).measure(data, data)
    assert score["statistics"] == 2 * 8 + 1 + 1
    with pytest.raises(DataError, match="'job' is not numeric"):
        Integrity(regressions={"income": ("job",)}).measure(data, data)
    with pytest.raises(DataError, match="did you mean 'income'"):
        Integrity(ranges={"incom": 0.1}).measure(data, data)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(cell, st.sampled_from(["a", "b", None])), max_size=6),
    st.lists(st.tuples(cell, st.sampled_from(["a", "c", None])), max_size=6),
)
def test_the_distance_of_shares_agrees_with_the_definition_on_any_two_tables(rows_before, rows_after):
    schema = {"x": pl.Float64, "c": pl.String}
    before, after = (Microdata(pl.DataFrame(rows, schema=schema, orient="row")) for rows in (rows_before, rows_after))
    score = Integrity().measure(before, after)
    left, right = ([row[1] for row in rows] for rows in (rows_before, rows_after))
    values = set(left) | set(right)
    differences = [
        abs((left.count(v) / len(left) if left else 0) - (right.count(v) / len(right) if right else 0)) for v in values
    ]
    assert score["share"] == pytest.approx(sum(differences) / 2)
    assert 0 <= score["loss"] <= 1
