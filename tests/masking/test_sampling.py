from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DiscreetError, ParameterError
from discreet.masking.sampling.method import Sampling
from discreet.registry import create
from discreet.testing import table


@settings(deadline=None, max_examples=80)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 0.8, 1.0]))
def test_each_stratum_is_sampled_in_proportion_and_the_total_is_that_of_a_simple_sample(values, fraction):
    data = table({"s": values, "i": list(range(len(values)))}, key=["s", "i"])
    sizes = np.bincount(values)
    method = Sampling(fraction=fraction, strata=("s",), least=1)
    sample = method.mask(data, [], KeyedDraw(3))
    drawn = np.bincount(sample.frame["s"], minlength=len(sizes))
    for size, number in zip(sizes, drawn, strict=True):
        assert number in (math.floor(fraction * size + 1e-9), math.ceil(fraction * size - 1e-9), min(1, size))
    total = Sampling(fraction=fraction, strata=("s",)).allocate(sizes[sizes > 0]).sum()
    assert total == round(fraction * len(values))
    assert sample.frame["i"].to_list() == sorted(sample.frame["i"]), "in their old order"
    assert sample.records.tolist() == sample.frame["i"].to_list(), "each with its own number"


def test_every_record_is_as_likely_as_any_other():
    data = table({"i": list(range(20))}, key=["i"])
    counts = np.zeros(20)
    for seed in range(2000):
        counts[Sampling(fraction=0.3).mask(data, [], KeyedDraw(seed)).records] += 1
    assert (np.abs(counts - 600) < 4.5 * math.sqrt(2000 * 0.3 * 0.7)).all()


def test_weights_are_corrected_so_that_their_total_still_estimates_that_of_the_table():
    data = table({"s": ["a"] * 30 + ["b"] * 10, "w": [2] * 30 + [5] * 10}, key=["s"], weight=["w"])
    method = Sampling(fraction=0.5, strata=("s",))
    sample = method.mask(data, method.choose(data), KeyedDraw(1))
    assert sample.frame["w"].sum() == pytest.approx(110)
    assert set(sample.frame["w"]) == {4.0, 10.0}
    totals = [Sampling(fraction=0.2).mask(data, ["w"], KeyedDraw(seed)).frame["w"].sum() for seed in range(500)]
    assert np.mean(totals) == pytest.approx(110, rel=0.02), "unbiased without strata too"


@settings(deadline=None, max_examples=30)
@given(st.lists(st.sampled_from("ab"), min_size=2, max_size=30), st.randoms())
def test_the_sample_does_not_depend_on_the_order_of_the_rows(values, random):
    data = table({"s": values}, key=["s"])
    order = list(range(len(values)))
    random.shuffle(order)
    for method in (Sampling(fraction=0.5), Sampling(fraction=0.5, strata=("s",), least=1)):
        sample, sample_of_shuffled = (
            method.mask(data, [], KeyedDraw(4)),
            method.mask(data.take(np.array(order)), [], KeyedDraw(4)),
        )
        assert set(sample.records.tolist()) == set(sample_of_shuffled.records.tolist())


@pytest.mark.parametrize(
    ("parameters", "rule"), [({}, "required"), ({"fraction": 0}, "greater than 0"), ({"fraction": 1.1}, "equal to 1")]
)
def test_an_invalid_parameter_is_named_in_the_error(parameters, rule):
    with pytest.raises(ParameterError, match=rule):
        create("masking", "sampling", parameters)


@pytest.mark.parametrize(
    ("values", "method", "message"),
    [
        (["a"], Sampling(fraction=0.3), "leaves the release empty"),
        (["a"] * 30 + ["b"], Sampling(fraction=0.1, strata=("s",)), "leaves the stratum s = b empty; set least"),
        (["a"], Sampling(fraction=0.3, strata=("z",)), "not a column"),
        (["a"], Sampling(fraction=0.9, least=2), "needs strata"),
    ],
)
def test_unsuitable_data_are_an_error_before_anything_changes(values, method, message):
    with pytest.raises(DiscreetError, match=message):
        method.check(table({"s": values}, key=["s"]), [])


def test_a_weight_that_is_text_is_refused():
    with pytest.raises(DiscreetError, match="corrects weights"):
        Sampling(fraction=0.5).check(table({"w": ["1", "2"]}, weight=["w"]), ["w"])
