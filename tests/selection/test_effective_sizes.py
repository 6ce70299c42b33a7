"""Limits on effective class sizes: the records that miss them are targeted, and samples are judged by sizes of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import PolicyError
from discreet.model.policy import Plan, Policy, Step
from discreet.model.score import Score
from discreet.selection.evaluation.evaluator import Evaluator
from discreet.selection.gaps.dropping import points_without_gap_columns
from discreet.selection.options import SelectOptions
from discreet.selection.outcome import Outcome, TriedPlan
from discreet.selection.proposals import add_missing_hierarchies
from discreet.selection.sampling import effective_size_in_sample, sampled_policy
from discreet.selection.space.beside_keys import with_spared_keys
from discreet.selection.space.build import build_space
from discreet.selection.space.dimensions import AS_IT_IS, KNOWN_TARGET, SPARED, TARGETED_GENERALIZATION
from discreet.selection.starts.order import starting_points
from discreet.selection.steps.build import build_plan
from discreet.selection.steps.targeted import required_effective_size
from discreet.selection.unreachable import explain_undecided_sizes
from discreet.testing import students


def score_of(sizes: list[float | None]) -> Score:
    return Score("known_sets", {}, lambda: pl.DataFrame({"effective_k": pl.Series(sizes, dtype=pl.Float64)}))


def limited(**limits: float) -> Policy:
    return Policy.from_dict({"limits": {f"known_sets.{name}": number for name, number in limits.items()}})


@given(
    st.lists(st.floats(1, 50), min_size=1, max_size=40),
    st.lists(st.floats(1, 50), min_size=20, max_size=60, unique=True),
    st.floats(1.5, 20),
)
def test_as_large_a_share_of_a_sample_is_below_its_size_as_of_the_table(
    sizes: list[float], sampled: list[float], required: float
) -> None:
    size = effective_size_in_sample(required, score_of([*sizes, None]), score_of([*sampled, float("nan")]))
    assert size is not None
    assert 1 <= size <= required
    share = sum(one < required for one in sizes) / len(sizes)
    below = sum(one < size for one in sampled) / len(sampled)
    if 1 < size < required:
        assert below == pytest.approx(share, abs=1 / len(sampled))


def test_no_size_is_known_where_nobody_has_one() -> None:
    assert effective_size_in_sample(5.0, score_of([None]), score_of([3.0])) is None


def test_limits_of_a_small_sample_still_say_something() -> None:
    """Five records in the table were one in a sample of a fifth, so that the sample met below_5 = 0 as it was."""
    policy = Policy.from_dict({"limits": {"known_sets.below_5": 0, "target_linkage.mean": 0.2, "target_linkage.marketer": 0.1}})
    scaled = sampled_policy(policy, 0.1).limits
    assert scaled == {"known_sets.effective_k_min": 2.0, "target_linkage.mean": 0.5, "target_linkage.marketer": 0.5}
    assert sampled_policy(policy, 0.1, 2.7).limits["known_sets.effective_k_min"] == 2.7
    assert sampled_policy(limited(effective_k_min=1.5), 0.1).limits["known_sets.effective_k_min"] == 1.5


@pytest.mark.parametrize(
    ("limits", "size"),
    [
        ({"below_5": 0}, 5.0),
        ({"below_5": 3, "effective_k_min": 8}, 8.0),
        ({"effective_k_min": 1}, None),
        ({"effective_k_median": 20}, None),
        ({"below_5": 0, "high_risk": 0}, None),
        ({}, None),
    ],
)
def test_the_target_aims_at_the_size_that_limits_ask_for_and_else_at_the_threshold_of_the_policy(
    limits: dict[str, float], size: float | None
) -> None:
    assert required_effective_size(limited(**limits)) == size
    of_population = limited(**limits).with_(risk={"known_sets": {"population": "model"}})
    assert required_effective_size(of_population) is None


def small_classes() -> discreet.Microdata:
    """3,000 students of whom few have an effective class size below 5."""
    data = students(3_000)
    policy = discreet.analyze(data).policy().with_(risk={"known_sets": {}}, limits={"known_sets.below_5": 0})
    data = data.with_policy(policy)
    return data.with_policy(add_missing_hierarchies(data))


def test_the_step_raises_records_to_the_required_size_times_the_margin() -> None:
    data = small_classes()
    space = build_space(data, SelectOptions())
    point = space.unchanged_point() | {"target": KNOWN_TARGET}
    (step,) = [step for step in build_plan(data, space, point).steps if step.method == "targeted_suppression"]
    assert step.parameters["threshold"] == {"among": 7.0}
    (wider,) = [step for step in build_plan(data, space, point | {"margin": 2.0}).steps if step.method == "targeted_suppression"]
    assert wider.parameters["threshold"] == {"among": 10.0}
    release = discreet.mask(data.with_policy(data.policy.with_(plan=Plan(steps=(step,)))))
    assert discreet.risk(release.masked)["known_sets"].summary["below_5"] == 0


def test_few_records_with_small_effective_classes_cost_few_values() -> None:
    """The search looked for classes of all records: of 100,000 students it blanked a key because of 912 of them."""
    rng = np.random.default_rng(3)
    towns = [f"town {letter}" for letter in rng.choice(list("abcdefgh"), 2_000)]
    towns[:10] = [f"hamlet {number}" for number in range(10)]
    frame = pl.DataFrame(
        {
            "town": towns,
            "job": rng.choice(["clerk", "nurse", "smith", "cook"], 2_000),
            "age": rng.integers(2, 8, 2_000) * 10,
            "illness": rng.choice(["flu", "none"], 2_000),
        }
    )
    attributes = {name: {"role": "key", "known": 0.3} for name in ("town", "job", "age")}
    confidential = {"illness": {"role": "confidential", "sensitivity": 1.0, "values": {"flu": 1.0}}}
    policy = Policy.from_dict(
        {"attributes": attributes | confidential, "risk": {"known_sets": {}}, "limits": {"known_sets.below_5": 0}}
    )
    data = discreet.read(frame, policy)
    assert 0 < discreet.risk(data)["known_sets"].summary["below_5"] <= 10
    selection = discreet.select(data, trials=6, seed=1)
    assert selection.met
    (step,) = selection.plan.steps
    assert step.method in ("targeted_suppression", "targeted_generalization")
    assert selection.loss < 0.01


def test_it_is_said_that_attributes_beside_the_keys_leave_a_limit_open() -> None:
    """171,067 claims with 131 such attributes could not meet the limit however the keys were masked, and nothing said why."""
    rng = np.random.default_rng(3)
    columns = {"sex": rng.choice(["f", "m"], 200)} | {f"c{number}": rng.permutation(200) for number in range(80)}
    attributes: dict[str, Any] = {name: {"known": 0.01} for name in columns}
    attributes["sex"] = {"role": "key", "known": 0.5}
    attributes["illness"] = {"role": "confidential", "sensitivity": 1.0, "values": {"flu": 1.0}}
    frame = pl.DataFrame(columns | {"illness": ["flu"] * 200})
    policy = Policy.from_dict({"attributes": attributes, "risk": {"known_sets": {}}, "limits": {"known_sets.below_5": 0}})
    evaluate = Evaluator(discreet.read(frame, policy), SelectOptions(), secret=b"key")
    (sentence,) = explain_undecided_sizes(evaluate, ["known_sets.below_5"])
    assert sentence.startswith("Even if every key were blank, the smallest effective class size would be at most 1.27, where 5")
    assert "80 attributes beside the keys, each with a probability of at most 0.01" in sentence
    assert not explain_undecided_sizes(evaluate, ["k_anonymity.k"])
    reachable = policy.with_(attributes={name: policy.attributes[name] for name in ("sex", "illness")})
    evaluate = Evaluator(discreet.read(frame, reachable), SelectOptions(), secret=b"key")
    assert not explain_undecided_sizes(evaluate, ["known_sets.below_5"])


def test_a_limit_that_more_known_sets_settle_is_not_called_out_of_reach() -> None:
    """Of a court table without keys the kept sets left sizes down to 2.8 open; over all sets the smallest is 6.6."""
    rng = np.random.default_rng(4)
    columns = {"sex": rng.choice(["f", "m"], 400)} | {f"c{number}": rng.integers(0, 3, 400) for number in range(20)}
    attributes: dict[str, Any] = {name: {"known": 0.05} for name in columns}
    attributes["sex"] = {"role": "key", "known": 0.5}
    attributes["illness"] = {"role": "confidential", "sensitivity": 1.0, "values": {"flu": 1.0}}
    frame = pl.DataFrame(columns | {"illness": ["flu"] * 400})
    policy = Policy.from_dict({"attributes": attributes, "risk": {"known_sets": {}}, "limits": {"known_sets.below_5": 0}})
    evaluate = Evaluator(discreet.read(frame, policy), SelectOptions(), secret=b"key")
    blank = evaluate.data.with_columns({"sex": pl.Series([None] * 400, dtype=pl.String)})
    assert evaluate.risks["known_sets"].measure(blank).bounds["effective_k_min"][0] < 5
    assert not explain_undecided_sizes(evaluate, ["known_sets.below_5"])


def test_a_key_that_others_give_back_is_spared_by_the_target() -> None:
    """The age of students was suppressed although birth year and grade gave it back: a gap that no other column could close."""
    data = small_classes()
    space = with_spared_keys(build_space(data, SelectOptions()), ["age"])
    assert space.choices["spare:age"] == [AS_IT_IS, SPARED]
    point = space.unchanged_point() | {"target": KNOWN_TARGET}
    outcome = Outcome(1.0, 0.1, gaps=1, gap_columns=("birth_year", "grade"), gap_keys=("age",))
    tried = TriedPlan(point, build_plan(data, space, point), outcome)
    assert list(points_without_gap_columns(space, [tried])) == [point | {"spare:age": SPARED}]
    plan = build_plan(data, space, point | {"spare:age": SPARED})
    masked = discreet.mask(data.with_policy(data.policy.with_(plan=plan))).masked
    assert masked.frame["age"].equals(data.frame["age"])
    assert not list(points_without_gap_columns(space, [TriedPlan(point | {"spare:age": SPARED}, plan, outcome)]))


def test_where_most_records_miss_the_size_larger_classes_come_first() -> None:
    """Of 7,214 records nearly all missed the limit: targeting them one by one was given up, and no plan met it."""
    data = small_classes()
    space = build_space(data, SelectOptions())
    few, most = starting_points(space, share_missing=0.01), starting_points(space, share_missing=0.9)
    assert [point["target"] for point in few[2:5]] == [KNOWN_TARGET, TARGETED_GENERALIZATION, TARGETED_GENERALIZATION]
    assert [(point["finish"], point["k"]) for point in most[2:4]] == [("partition", 30), ("local_suppression", 30)]
    without = build_space(data.with_policy(data.policy.with_(limits={"k_anonymity.k": 3})), SelectOptions())
    assert starting_points(without, share_missing=0.9) == starting_points(without)


def test_a_targeted_step_is_given_up_by_its_own_threshold() -> None:
    """Half of the records were above the policy's threshold, a hundredth above that of the step, and the step was not run."""
    data = small_classes()
    data = data.with_policy(data.policy.with_(risk={"known_sets": {"threshold": {"among": 2999}}}))
    evaluate = Evaluator(data, SelectOptions(), secret=b"key")
    step = Step.model_validate({"method": "targeted_suppression", "threshold": {"among": 1.5}})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.selection.evaluation.evaluator._FEW_HIGH_RISK", 10)
        patch.setattr("discreet.selection.evaluation.evaluator._MOST_HIGH_RISK_SHARE", 0.01)
        assert evaluate._should_run(step, data)
        with pytest.raises(PolicyError, match="too many to lower the risk of one by one"):
            evaluate._should_run(Step.model_validate({"method": "targeted_suppression"}), data)


def test_only_keys_that_a_target_may_suppress_are_spared() -> None:
    data = small_classes()
    space = build_space(data, SelectOptions())
    assert with_spared_keys(space, ["no key"]) is space
    untargeted = build_space(data.with_policy(data.policy.with_(limits={"k_anonymity.k": 3})), SelectOptions())
    assert with_spared_keys(untargeted, ["age"]) is untargeted
    assert with_spared_keys(with_spared_keys(space, ["age"]), ["age"]).choices == with_spared_keys(space, ["age"]).choices


def test_outcomes_of_journals_keep_the_keys_that_are_given_back() -> None:
    outcome = Outcome(1.0, 0.1, gaps=1, gap_keys=("age",))
    assert Outcome.from_journal(outcome.to_journal()) == outcome
    assert np.isfinite(outcome.ranked_loss)
