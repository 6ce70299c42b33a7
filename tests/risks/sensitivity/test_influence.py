"""Elasticities against the definition: every set one by one, and the same sums with one guess moved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracle import Guesses, Oracle
from test_how_far import tables

import discreet
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.threshold import Among
from discreet.risks.known_sets.measure import KnownSets
from discreet.risks.known_sets.sensitivity import influence, influence_kernels


def kept_sums(oracle: Oracle, guesses: Guesses, base: Guesses, epsilon: float) -> tuple[Any, Any, Any]:
    """M, N and the empty set's part of each record, over the sets that epsilon keeps at other guesses."""
    consequence = guesses.weight[0].sum(axis=0)
    total, mass = np.zeros(len(consequence)), np.zeros(len(consequence))
    for members, counts in zip(oracle.sets[1:], oracle.counts[1:], strict=True):
        if base.known[0, list(members)].prod() > epsilon:
            learnt = consequence - guesses.weight[0, list(members)].sum(axis=0)
            chance = guesses.known[0, list(members)].prod()
            total += chance * learnt / counts
            mass += chance * learnt
    return total, mass, consequence / len(oracle.data)


def moved(base: Guesses, guess: str, at: int, factor: float) -> Guesses:
    """The guesses with one of them multiplied."""
    known, weight = base.known.copy(), base.weight.copy()
    (known[:, at] if guess == "known" else weight[:, at])[...] *= factor
    return replace(base, known=known, weight=weight)


NOTHING_KEPT = Microdata(
    pl.DataFrame({"x0": ["a"], "x1": ["b"]}),
    Policy.from_dict({"attributes": {"x0": {"known": 0.05}, "x1": {"known": 0, "sensitivity": 0.5}}}),
)
"""A record of which an epsilon of 0.1 keeps the empty set alone."""


@settings(max_examples=60, deadline=None)
@example(NOTHING_KEPT, 0.1, "category", True, False)
@given(tables(), st.sampled_from([0.0, 0.1]), st.sampled_from(["category", "wildcard"]), st.booleans(), st.booleans())
def test_elasticities_are_those_of_the_sums_with_one_guess_moved(
    data: Microdata, epsilon: float, missing: Any, among: bool, in_turns: bool
) -> None:
    threshold: Any = Among(among=1.9) if among else 0.40007
    measure = KnownSets(alpha=1, epsilon=epsilon, threshold=threshold, missing=missing)
    oracle = Oracle(data, missing)
    base = oracle.guesses(data.policy)
    with pytest.MonkeyPatch.context() as patch:
        if in_turns:
            patch.setattr(influence, "_MOST_COUNTS", 1)
        result = measure.examine_guesses(data, {})
        records = result.per_record()
    total, mass, alone = kept_sums(oracle, base, base, epsilon)
    risk = total + alone
    # where epsilon keeps nothing of a record, its size is a bound over all sets, which no step of a guess is judged by
    sizes = measure.measure(data).per_record["effective_k"].fill_null(np.nan).to_numpy()
    unmoved = np.where(total > 1e-15, np.nan, sizes)

    def high(parts: tuple[Any, Any, Any]) -> int:
        if not among:
            return int((parts[0] + parts[2] > threshold).sum())
        size = np.divide(parts[1], parts[0], out=unmoved.copy(), where=parts[0] > 1e-15)
        return int((size < threshold.among * (1 - 1e-9)).sum())

    expected_high = high((total, mass, alone))
    for row in result.influence.iter_rows(named=True):
        at = oracle.names.index(row["attribute"])
        without = kept_sums(oracle, moved(base, row["guess"], at, 0.0), base, epsilon)
        share = risk - without[0] - without[2]
        assert row["mean"] == pytest.approx(share.sum() / risk.sum() if risk.sum() else 0.0, abs=1e-9)
        own = records[f"{row['guess']}.{row['attribute']}"].fill_null(0.0).to_numpy()
        np.testing.assert_allclose(own * risk, share, atol=1e-9)
        more = min(row["given"] * 1.1, 1.0) / row["given"]
        fewer_and_more = [high(kept_sums(oracle, moved(base, row["guess"], at, by), base, epsilon)) for by in (0.9, more)]
        assert [row["high_risk_less"], row["high_risk_more"]] == fewer_and_more
        if expected_high:
            slope = (fewer_and_more[1] - fewer_and_more[0]) / expected_high / (more - 0.9)
            assert row["high_risk"] == pytest.approx(slope)
        else:
            assert row["high_risk"] is None


def test_every_guess_that_takes_part_is_listed_once_and_shares_of_weights_add_up_to_one() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 3], "b": ["x", "y", "y", "y"], "c": [5, 6, 5, 6]})
    policy = {"attributes": {"a": {"known": 0.5}, "b": {"known": 0.3, "sensitivity": 0.4}, "c": {"sensitivity": 1.0}}}
    result = discreet.risk(discreet.read(frame, policy), {"known_sets": {"alpha": 1, "epsilon": 0}})["known_sets"].sensitivity()
    listed = result.influence.select("attribute", "guess").rows()
    assert sorted(listed) == [("a", "known"), ("b", "known"), ("b", "sensitivity"), ("c", "sensitivity")]
    weights = result.influence.filter(pl.col("guess") == "sensitivity")
    assert weights["mean"].sum() == pytest.approx(1.0)
    assert result.influence["mean"].is_sorted(descending=True)


def test_an_intruder_who_knows_the_original_values_has_an_influence_of_its_own() -> None:
    """The masked cells of one record exclude its true value, so it is not found through them: nothing rests on its age."""
    frame = pl.DataFrame({"age": [30, 30, 41], "d": ["a", "b", "a"]})
    policy = {
        "attributes": {"age": {"known": 0.5}, "d": {"sensitivity": 1.0}},
        "risk": {"known_sets": {"alpha": 1, "epsilon": 0}},
    }
    original = discreet.read(frame, policy)
    masked = discreet.link(original, discreet.read(frame.with_columns(pl.Series("age", [30, 30, 30])), policy))
    score = discreet.risk(masked, original=original)["known_sets"]
    records = score.sensitivity().per_record()
    risk = score.per_record["risk"].to_numpy()
    assert records["known.age"][2] == pytest.approx(0.0)
    assert records["known.age"][0] * risk[0] == pytest.approx(0.5 / 3)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 3), st.integers(1, 3), st.integers(0, 1000))
def test_both_versions_of_the_loop_leave_the_same_numbers(size: int, patterns: int, width: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    active = np.flatnonzero(random.uniform(size=size) < 0.7).astype(np.uint32)
    arguments = (
        active, random.integers(1, 4, size).astype(np.int32), random.integers(0, patterns, size).astype(np.int32),
        random.uniform(size=(size, width)), random.uniform(size=patterns), random.uniform(size=patterns),
    )  # fmt: skip
    slow = [np.zeros((patterns, width)), np.zeros((patterns, width)), np.zeros(size)]
    fast = [one.copy() for one in slow]
    influence_kernels.gather_few(*arguments, *slow)
    influence_kernels.gather.interpret(*arguments, *fast)
    for one, other in zip(slow, fast, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_policy_whose_guesses_are_ranges_is_examined_at_their_upper_ends() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2], "d": ["x", "y", "x"]})
    limits = {"known_sets.mean": 5.0}
    found = [
        discreet.sensitivity(
            discreet.read(
                frame, Policy.from_dict({"attributes": {"a": {"known": known}, "d": {"sensitivity": 1}}, "limits": limits})
            )
        )["known_sets"]
        for known in ([0.1, 0.4], 0.4)
    ]
    assert found[0].verdicts == found[1].verdicts
    assert found[0].reaches == found[1].reaches
    assert any("upper ends" in note for note in found[0].notes)
