"""The discernibility metric against its definition."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DataError
from discreet.losses.discernibility import Discernibility
from discreet.testing import table

cell = st.sampled_from(["a", "b", None, "*"])


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(cell, cell), max_size=8))
def test_the_penalty_of_a_record_is_its_class_size_and_of_a_blank_one_the_table_size(rows):
    before = table({"x": [str(number) for number in range(len(rows))], "y": ["same"] * len(rows)}, key=["x", "y"])
    frame = pl.DataFrame(rows, schema={"x": pl.String, "y": pl.String}, orient="row")
    score = Discernibility().measure(before, before.replace(frame))
    costs = [len(rows) if all(value in (None, "*") for value in row) else rows.count(row) for row in rows]
    assert score["metric"] == sum(costs)
    assert score["before"] == len(rows)
    assert score.per_record["cost"].to_list() == costs
    size = len(rows)
    assert score["loss"] == pytest.approx((sum(costs) / size**2 - 1 / size) / (1 - 1 / size) if size > 1 else 0.0)


def test_a_table_without_keys_is_an_error():
    with pytest.raises(DataError, match="role key"):
        Discernibility().measure(table({"x": [1]}), table({"x": [1]}))
