"""Counts of small tables by bits against counts as the definition reads."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.targeting import state
from discreet.engine.targeting.state import TargetingState
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy


@st.composite
def tables(draw: st.DrawFn) -> Microdata:
    height = draw(st.one_of(st.integers(1, 9), st.sampled_from([63, 64, 65, 130])))
    seed = np.random.default_rng(draw(st.integers(0, 1000)))
    names = [f"x{at}" for at in range(draw(st.integers(1, 4)))]
    cells = np.array(["a", "a", "b", "c", None], dtype=object)
    columns = {name: pl.Series(seed.choice(cells, height).tolist(), dtype=pl.String) for name in names}
    known: dict[str, Any] = {name: {"known": draw(st.sampled_from([0.05, 0.3, 0.9]))} for name in names}
    columns["secret"], known["secret"] = pl.Series(["s"] * height), {"sensitivity": 1.0, "known": 0.0}
    return Microdata(pl.DataFrame(columns), Policy.from_dict({"attributes": known}))


@settings(max_examples=60)
@given(tables(), st.data())
def test_bits_count_the_records_that_agree_on_each_set(data: Microdata, draw: st.DataObject) -> None:
    table = TargetingState.of(data, epsilon=0.01, max_sets=1000, missing="category")
    rows = np.array(draw.draw(st.lists(st.integers(0, len(data) - 1), unique=True, max_size=8)), dtype=np.int64)
    by_bits = table.count_agreeing(rows)
    records = data.frame.to_dicts()
    for at, row in enumerate(rows):
        for node, places in enumerate(table.tree.sets):
            chosen = [table.names[place] for place in places]
            assert by_bits[at, node] == sum(all(other[name] == records[row][name] for name in chosen) for other in records)
    with mock.patch.object(state, "FEW_RECORDS", -1):
        np.testing.assert_array_equal(table.count_agreeing(rows), by_bits)
