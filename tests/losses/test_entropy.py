"""Conditional entropy against its definition."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DataError
from discreet.losses.entropy import Entropy
from discreet.testing import table

cell = st.sampled_from(["a", "b", "c", None])


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(cell, cell), max_size=10))
def test_bits_agree_with_the_definition_on_joint_counts(rows):
    before = table({}, key=[]).replace(pl.DataFrame({"x": [x for x, _ in rows]}, schema={"x": pl.String}), np.arange(len(rows)))
    after = before.replace(pl.DataFrame({"x": [y for _, y in rows]}, schema={"x": pl.String}))
    score = Entropy().measure(before, after)
    size = len(rows)
    joint, masks, values = Counter(rows), Counter(y for _, y in rows), Counter(x for x, _ in rows)
    lost = -sum(n / size * math.log2(n / masks[y]) for (_, y), n in joint.items())
    bits = -sum(n / size * math.log2(n / size) for n in values.values())
    assert score["bits_lost"] == pytest.approx(lost, abs=1e-9)
    assert score["bits"] == pytest.approx(bits, abs=1e-9)
    assert score["loss"] == pytest.approx(lost / bits if bits > 1e-12 else 0.0, abs=1e-9)


def test_numbers_are_cut_into_bins_and_more_noise_loses_more():
    rng = np.random.default_rng(1)
    data = table({"x": rng.normal(size=4000).tolist()}, key=["x"])
    losses = [
        Entropy().measure(data, data.with_columns({"x": data.frame["x"] + pl.Series(rng.normal(scale=scale, size=4000))}))["loss"]
        for scale in (0.0, 0.1, 1.0, 100.0)
    ]
    assert losses[0] == 0.0
    assert losses == sorted(losses)
    assert losses[-1] > 0.9


def test_an_interval_loses_the_entropy_of_the_values_inside():
    data = table({"x": list(range(8))}, key=["x"])
    masked = data.with_columns({"x": pl.Series(["0..4"] * 4 + ["4..8"] * 4)})
    assert Entropy().measure(data, masked)["loss"] == pytest.approx(2 / 3)


def test_removed_and_simulated_records_are_not_counted_and_a_missing_link_is_an_error():
    data = table({"x": ["a", "b", "c"]}, key=["x"])
    release = data.replace(pl.DataFrame({"x": ["b", "z"]}), np.array([1, -1]))
    assert Entropy().measure(data, release)["bits_lost"] == 0.0
    with pytest.raises(DataError, match="entropy needs to know which original record"):
        Entropy().measure(data, table({"x": ["a", "b"]}, key=["x"]))
