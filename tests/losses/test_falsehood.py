"""Falsehood against its definition, cell by cell."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet import Microdata, Policy
from discreet.errors import DataError
from discreet.losses.falsehood import Falsehood
from discreet.model.cells import parse_group, parse_interval
from discreet.testing import table


def is_false(value, cell):
    if value is None or cell is None or cell == "*":
        return False
    if isinstance(value, str):
        group = parse_group(cell)
        return value not in group.members if group is not None else cell != value
    interval = parse_interval(cell)
    return value not in interval if interval is not None else float(cell) != value


NUMBER_CELLS = st.sampled_from([None, "*", "1", "2", "5", "0..3", "2..9", "<3", ">=5"])
TEXT_CELLS = st.sampled_from([None, "*", "a", "b", "c", "{a|b}", "{b|c}"])
ROWS = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 9)), NUMBER_CELLS, st.one_of(st.none(), st.sampled_from("abc")), TEXT_CELLS),
    min_size=1,
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(rows=ROWS)
def test_the_share_is_that_of_the_cells_that_do_not_contain_the_truth(rows):
    numbers, number_cells, texts, text_cells = (list(column) for column in zip(*rows, strict=True))
    before = table({"x": pl.Series(numbers, dtype=pl.Int64), "y": pl.Series(texts, dtype=pl.String)}, key=["x", "y"])
    after = table({"x": pl.Series(number_cells, dtype=pl.String), "y": pl.Series(text_cells, dtype=pl.String)}, key=["x", "y"])
    score = Falsehood().measure(before, after)
    false = [sum(map(is_false, numbers, number_cells)), sum(map(is_false, texts, text_cells))]
    assert score["false"] == sum(false)
    assert score["loss"] == pytest.approx(sum(false) / (2 * len(rows)))
    assert score["worst"] == pytest.approx(max(false) / len(rows))
    assert score.per_attribute["false"].to_list() == false


def _people():
    rng = np.random.default_rng(4)
    frame = pl.DataFrame(
        {
            "born": [dt.date(1950, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 20_000, 300)],
            "age": rng.integers(20, 80, 300),
            "sex": rng.choice(["f", "m"], 300),
        }
    )
    return Microdata(frame, Policy.from_dict({"attributes": {name: {"role": "key"} for name in frame.columns}}))


@pytest.mark.parametrize(
    ("steps", "truthful"),
    [
        ([{"method": "global_recoding", "columns": ["age"], "width": 10}], True),
        ([{"method": "global_recoding", "columns": ["born"], "unit": "year"}], True),
        ([{"method": "local_suppression", "k": 3}], True),
        ([{"method": "top_bottom_coding", "columns": ["age"], "top": 70, "replace": "label"}], True),
        ([{"method": "sampling", "fraction": 0.5}], True),
        ([{"method": "pram", "columns": ["sex"]}], False),
        ([{"method": "swapping", "columns": ["sex"], "how": "random", "share": 0.5}], False),
        ([{"method": "noise", "columns": ["age"], "level": 0.3}], False),
        ([{"method": "microaggregation", "columns": ["age"], "size": 5}], False),
        ([{"method": "simulation", "factor": 0.2}], False),
    ],
)
def test_methods_that_keep_the_truth_have_no_falsehood(steps, truthful):
    data = _people()
    data = data.with_policy(data.policy.with_(plan=Policy.from_dict({"plan": {"steps": steps}}).plan))
    score = Falsehood().measure(data, discreet.mask(data).masked)
    assert (score["false"] == 0) == truthful, score


def test_tables_that_nothing_links_are_not_compared():
    score = Falsehood().measure(table({"x": [1, 2]}, key=["x"]), Microdata(pl.DataFrame({"x": [1]}), source="other.csv"))
    assert score["loss"] is None
    assert "nothing links them" in score.notes[0]


def test_nothing_in_common_is_an_error():
    with pytest.raises(DataError, match="no attribute in common"):
        Falsehood().measure(table({"x": [1]}, key=["x"]), table({"y": [1]}, key=["y"]))
