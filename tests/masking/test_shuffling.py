from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import spearmanr

from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DiscreetError
from discreet.masking.shuffling import Shuffling
from discreet.testing import table

N = 8000
RNG = np.random.default_rng(21)
Z = RNG.multivariate_normal([0, 0, 0], [[1, 0.7, 0.4], [0.7, 1, 0.5], [0.4, 0.5, 1]], size=N)
SEX = np.where(RNG.random(N) < 0.5, "f", "m")
DATA = table(
    {"age": np.exp(Z[:, 0]), "income": np.exp(Z[:, 1]) + (SEX == "m"), "debt": Z[:, 2] ** 3, "sex": SEX},
    key=["age", "sex"], confidential=["income", "debt"],
)  # fmt: skip


def test_rank_correlations_stay_and_given_the_keys_old_and_new_values_are_independent():
    masked = Shuffling().mask(DATA, ["income", "debt"], KeyedDraw(3)).frame
    for name in ("income", "debt"):
        assert masked[name].sort().equals(DATA.frame[name].sort())
        for partner in ("age", "income", "debt"):
            old, new = spearmanr(DATA.frame[name], DATA.frame[partner])[0], spearmanr(masked[name], masked[partner])[0]
            assert new == pytest.approx(old, abs=0.04)
    for frame in (DATA.frame, masked):
        ranks = frame["income"].rank().to_numpy() / N
        assert ranks[SEX == "m"].mean() - ranks[SEX == "f"].mean() == pytest.approx(0.26, abs=0.03), (
            "a nominal key's relation stays"
        )
    # what of the new values is not explained by age and sex is unrelated to what of the old ones is not
    features = np.column_stack([np.ones(N), Z[:, 0], SEX == "m"])
    scores = [ndtri(frame["debt"].rank().to_numpy() / (N + 1)) for frame in (DATA.frame, masked)]
    rest = [y - features @ np.linalg.lstsq(features, y, rcond=None)[0] for y in scores]
    assert abs(np.corrcoef(*rest)[0, 1]) < 4.5 / np.sqrt(N)


def test_with_nothing_given_all_relations_to_other_attributes_are_broken_but_those_among_the_columns_stay():
    masked = Shuffling(given=()).mask(DATA, ["income", "debt"], KeyedDraw(3)).frame
    assert abs(spearmanr(masked["income"], DATA.frame["age"])[0]) < 4.5 / np.sqrt(N)
    assert spearmanr(masked["income"], masked["debt"])[0] == pytest.approx(
        spearmanr(DATA.frame["income"], DATA.frame["debt"])[0], abs=0.04
    )


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.none() | st.integers(0, 5), st.none() | st.integers(0, 3), st.sampled_from("ab")), min_size=2, max_size=25
    ),
    st.randoms(),
)
def test_the_release_does_not_depend_on_the_order_of_the_rows_and_nulls_and_margins_stay(rows, random):
    data = table(
        {"x": [a for a, _, _ in rows], "s": [b for _, b, _ in rows], "g": [c for _, _, c in rows]},
        confidential=["x"],
        key=["s", "g"],
    )
    if sum(a is not None for a, _, _ in rows) < 2:
        return
    order = list(range(len(rows)))
    random.shuffle(order)
    Shuffling().check(data, ["x"])
    masked = Shuffling().mask(data, ["x"], KeyedDraw(5)).frame
    masked_shuffled = Shuffling().mask(data.take(np.array(order)), ["x"], KeyedDraw(5)).frame
    assert masked[order].equals(masked_shuffled)
    assert masked["x"].is_null().equals(data.frame["x"].is_null())
    assert masked["x"].sort().equals(data.frame["x"].sort(), null_equal=True)


@pytest.mark.parametrize(
    ("columns", "method", "message"),
    [
        ({"x": ["a", "b"]}, Shuffling(), "needs an order"),
        ({"x": [None, None]}, Shuffling(), "null in every record"),
        ({"x": [1]}, Shuffling(), "at least 2 records"),
        ({"x": [1, 2]}, Shuffling(given=("x",)), "the step itself changes"),
        ({"x": [1, 2]}, Shuffling(given=("z",)), "not a column"),
        ({"x": list(range(60)), "g": [f"g{i}" for i in range(60)]}, Shuffling(given=("g",)), "at most 50 categories"),
    ],
)
def test_unsuitable_data_are_an_error_before_anything_changes(columns, method, message):
    with pytest.raises(DiscreetError, match=message):
        method.check(table(columns, key=["x"]), ["x"])
