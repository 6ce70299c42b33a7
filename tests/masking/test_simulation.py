from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

import discreet
from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DiscreetError, ParameterError
from discreet.masking.simulation import Simulation
from discreet.registry import create
from discreet.testing import table

N = 10_000
RNG = np.random.default_rng(31)
Z = RNG.multivariate_normal(
    [0, 0, 0, 0], [[1, 0.8, -0.5, 0.6], [0.8, 1, -0.3, 0.5], [-0.5, -0.3, 1, -0.4], [0.6, 0.5, -0.4, 1]], size=N
)
DATA = table(
    {
        "income": np.exp(Z[:, 0]),
        "age": np.round(40 + 12 * Z[:, 1]).astype(int),
        "grade": np.array(["a", "b", "c"])[np.digitize(Z[:, 2], [-0.3, 1.2])],
        "debt": [None if missing else value for missing, value in zip(RNG.random(N) < 0.1, Z[:, 3], strict=True)],
    },
    key=["age", "grade"], confidential=["income", "debt"],
)  # fmt: skip


def ranks(frame: pl.DataFrame) -> np.ndarray:
    known = frame.drop_nulls()
    return np.column_stack([known[name].rank().to_numpy() for name in ("income", "age", "grade", "debt")])


@pytest.mark.parametrize("how", ["copula", "bootstrap"])
def test_simulated_records_keep_margins_and_rank_correlations_within_a_few_hundredths(how):
    synthetic = Simulation(factor=1, how=how).mask(DATA, [], KeyedDraw(4)).frame
    assert synthetic.schema == DATA.frame.schema
    assert len(synthetic) == N
    for name in synthetic.columns:
        values = DATA.frame[name].unique().sort()
        codes = [np.searchsorted(values.drop_nulls(), frame[name].drop_nulls()) for frame in (synthetic, DATA.frame)]
        shares = [np.cumsum(np.bincount(code, minlength=len(values))) / N for code in codes]
        assert np.abs(shares[0] - shares[1]).max() < 0.025, "Kolmogorov's distance of a margin"
    assert synthetic["debt"].null_count() == pytest.approx(DATA.frame["debt"].null_count(), rel=0.15)
    old, new = spearmanr(ranks(DATA.frame))[0], spearmanr(ranks(synthetic))[0]
    assert np.abs(old - new).max() < 0.05


def test_the_bootstrap_preserves_a_relation_without_correlation_and_the_copula_does_not():
    x = RNG.normal(size=6000)
    data = table({"x": x, "y": x**2 + RNG.normal(size=6000) / 10}, key=["x", "y"])

    def tie(frame: pl.DataFrame) -> float:
        return abs(np.corrcoef(np.abs(frame["x"]), frame["y"])[0, 1])

    assert tie(Simulation(factor=1, how="bootstrap", smoothing=0.2).mask(data, [], KeyedDraw(1)).frame) > 0.6
    assert tie(Simulation(factor=1).mask(data, [], KeyedDraw(1)).frame) < 0.1


def test_the_factor_is_the_share_of_synthetic_rows_which_are_spread_over_the_result():
    release = discreet.mask(DATA, {"seed": 3, "steps": [{"method": "simulation", "factor": 0.2}]})
    assert (release.n, release.t, release.r) == (N, 12_500, N)
    assert release.fs == pytest.approx(0.2)
    assert release.log[0].records_added == 2_500
    assert release.log[0].values_changed == 0
    simulated = np.flatnonzero(release.link < 0)
    assert simulated.mean() == pytest.approx(12_500 / 2, rel=0.05)
    assert np.bincount(simulated // 1250, minlength=10) == pytest.approx([250] * 10, rel=0.3)
    assert not (np.diff(release.link[release.link >= 0]) > 0).all(), "originals are mixed too"


def test_a_second_simulation_gives_its_records_new_numbers():
    step = {"method": "simulation", "factor": 0.5}
    release = discreet.mask(table({"x": [1, 2, 3, 4]}, key=["x"]), {"steps": [step, step]})
    assert len(np.unique(release.link)) == release.t == 16
    assert (release.r, release.fs) == (4, 0.75)


@settings(deadline=None, max_examples=10)
@given(
    st.lists(st.tuples(st.none() | st.integers(0, 3), st.sampled_from("ab"), st.none() | st.booleans()), min_size=2, max_size=20),
    st.randoms(),
)
def test_the_release_does_not_depend_on_the_order_of_the_rows_and_has_only_values_of_the_data(rows, random):
    data = table({"x": [a for a, _, _ in rows], "s": [b for _, b, _ in rows], "t": [c for _, _, c in rows]}, key=["x", "s", "t"])
    order = list(range(len(rows)))
    random.shuffle(order)
    for how in ("copula", "bootstrap"):
        method = Simulation(factor=0.5, how=how)
        masked, masked_shuffled = method.mask(data, [], KeyedDraw(5)), method.mask(data.take(np.array(order)), [], KeyedDraw(5))
        assert masked.frame.equals(masked_shuffled.frame)
        assert masked.records.tolist() == masked_shuffled.records.tolist()
        for name in data.columns:
            assert set(masked.frame[name]) <= set(data.frame[name])


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [({}, "required"), ({"factor": 0}, "greater than 0"), ({"factor": 1, "smoothing": 0}, "greater than 0")],
)
def test_an_invalid_parameter_is_named_in_the_error(parameters, rule):
    with pytest.raises(ParameterError, match=rule):
        create("masking", "simulation", parameters)


def test_unsuitable_data_are_an_error_before_anything_changes():
    for data, columns, message in [
        (table({"x": [1, 2], "n": ["a", "b"]}, identifier=["n"]), [], "'n' has the role identifier"),
        (table({"x": [1]}), [], "there is 1"),
        (table({"x": [1, 2]}), [], "adds no record"),
        (table({"x": [1, 2]}), ["x"], "whole records"),
    ]:
        with pytest.raises(DiscreetError, match=message):
            Simulation(factor=0.1).check(data, columns)
