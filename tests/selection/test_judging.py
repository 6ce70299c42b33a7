"""The wizard judges plans as assess does: against an intruder with the release alone and one who knows the original values."""

from __future__ import annotations

from typing import Any

import pytest

import discreet
from discreet.masking.generate import generate
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.selection.evaluate import Evaluator
from discreet.selection.options import SelectOptions
from discreet.testing import patients, table

PLANS = [
    [{"method": "local_suppression", "columns": ["age", "town"], "k": 2}],
    [{"method": "global_recoding", "columns": ["age"], "width": 20}],
    [{"method": "rounding", "columns": ["age"], "base": 10}],
    [{"method": "swapping", "how": "random", "columns": ["town"], "share": 0.5}],
    [{"method": "swapping", "how": "random", "columns": ["age", "town"], "share": 1.0}],
    [{"method": "sampling", "fraction": 0.5}],
    [],
]


def people(limits: dict[str, float], judge: str = "both") -> Microdata:
    """Ten towns of twelve people of 30 and one of 77."""
    content: dict[str, list[Any]] = {
        "age": [77 if at % 13 == 0 else 30 for at in range(130)],
        "town": [f"town {at // 13}" for at in range(130)],
        "ill": [("Flu", "Cold", "Cancer")[at % 3] for at in range(130)],
    }
    known, sensitivity = {"age": 0.4, "town": 0.4}, {"ill": 1.0}
    data = table(content, key=["age", "town"], confidential=["ill"], known=known, sensitivity=sensitivity)
    policy = data.policy.model_dump() | {"limits": limits, "judge": judge, "risk": {"target_linkage": {}, "known_sets": {}}}
    return data.with_policy(Policy.model_validate(policy))


@pytest.mark.parametrize("steps", PLANS, ids=lambda steps: "+".join(step["method"] for step in steps) or "nothing")
@pytest.mark.parametrize("judge", ["both", "release"])
@pytest.mark.parametrize(
    "limits", [{"target_linkage.max": 0.09}, {"known_sets.max": 8.0, "target_linkage.expected_links": 20.0}], ids=["link", "sets"]
)
def test_a_plan_is_judged_as_the_assessment_of_its_release(steps: list[Any], judge: str, limits: dict[str, float]) -> None:
    data = people(limits, judge)
    plan = Plan.model_validate({"steps": steps})
    judge_of_plans = Evaluator(data, SelectOptions.of(data.policy), patient=True)
    outcome = judge_of_plans(plan)
    found = discreet.assess(data, generate(data, plan, judge_of_plans.secret))
    assert outcome.error is None
    assert outcome.kept == (found.status == "met")
    for verdict in found.verdicts:
        if outcome.kept or not outcome.unjudged:
            assert outcome.found[verdict.limit] == pytest.approx(verdict.found)
    if any(one.status == "not met" for one in found.verdicts):
        assert outcome.missed


def test_a_plan_that_only_the_release_alone_allows_is_not_chosen() -> None:
    """Finding 5: blanks hide the people of 77 from whoever has the release alone, not from one who knows their age."""
    steps = [{"method": "local_suppression", "columns": ["age", "town"], "k": 2}]
    plan = Plan.model_validate({"seed": 5, "steps": steps})
    alone = people({"target_linkage.max": 0.09}, "release")
    both = people({"target_linkage.max": 0.09})
    assert Evaluator(alone, SelectOptions.of(alone.policy), patient=True)(plan).kept
    assert not Evaluator(both, SelectOptions.of(both.policy), patient=True)(plan).kept
    found = discreet.select(both, trials=30, seed=1)
    assert found.met == (found.assessment.status == "met")
    if found.met:
        assert all(one.measured_informed is None or one.measured_informed <= one.wanted for one in found.assessment.verdicts)


def test_of_plans_that_miss_the_limits_those_judged_on_both_intruders_come_first() -> None:
    data = people({"target_linkage.max": 0.09})
    judge = Evaluator(data, SelectOptions.of(data.policy), patient=True)
    fails_informed = judge(Plan.model_validate({"seed": 5, "steps": PLANS[0]}))
    fails_alone = judge(Plan.model_validate({"seed": 5, "steps": []}))
    assert not fails_informed.unjudged
    assert fails_alone.unjudged
    assert fails_informed.rank < fails_alone.rank


def test_a_chosen_plan_meets_the_limits_when_its_release_is_assessed_again() -> None:
    data = patients(400)
    data = data.with_policy(data.policy.with_(limits={"known_sets.high_risk": 0, "target_linkage.expected_links": 40}))
    found = discreet.select(data, trials=25, seed=2)
    again = discreet.assess(found.release.original, discreet.mask(data.with_policy(found.policy)))
    assert [one.status for one in again.verdicts] == [one.status for one in found.assessment.verdicts]
    assert found.met == again.ok
