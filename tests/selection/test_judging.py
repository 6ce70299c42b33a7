"""The wizard judges plans as assess does: against an intruder with the release alone and one who knows the original values."""

from __future__ import annotations

from typing import Any

import pytest

import discreet
from discreet.masking.generate import generate
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.selection.evaluation import evaluator
from discreet.selection.evaluation.evaluator import Evaluator
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
        "age": [77 if number % 13 == 0 else 30 for number in range(130)],
        "town": [f"town {number // 13}" for number in range(130)],
        "ill": [("Flu", "Cold", "Cancer")[number % 3] for number in range(130)],
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
    evaluate = Evaluator(data, SelectOptions.from_policy(data.policy), patient=True)
    outcome = evaluate(plan)
    assessment = discreet.assess(data, generate(data, plan, evaluate.secret))
    assert outcome.error is None
    assert outcome.meets_limits == (assessment.status == "met")
    for verdict in assessment.verdicts:
        if outcome.meets_limits or not outcome.unjudged:
            assert outcome.measured[verdict.limit] == pytest.approx(verdict.found)
    if any(verdict.status == "not met" for verdict in assessment.verdicts):
        assert outcome.missed


def test_a_plan_that_only_the_release_alone_allows_is_not_chosen() -> None:
    """Blanks hide the people of 77 from an intruder who has the release alone, not from one who knows their age."""
    steps = [{"method": "local_suppression", "columns": ["age", "town"], "k": 2}]
    plan = Plan.model_validate({"seed": 5, "steps": steps})
    alone = people({"target_linkage.max": 0.09}, "release")
    both = people({"target_linkage.max": 0.09})
    assert Evaluator(alone, SelectOptions.from_policy(alone.policy), patient=True)(plan).meets_limits
    assert not Evaluator(both, SelectOptions.from_policy(both.policy), patient=True)(plan).meets_limits
    selection = discreet.select(both, trials=30, seed=1)
    assert selection.met == (selection.assessment.status == "met")
    if selection.met:
        for verdict in selection.assessment.verdicts:
            assert verdict.measured_informed is None or verdict.measured_informed <= verdict.wanted


def test_of_plans_that_miss_the_limits_those_judged_on_both_intruders_come_first() -> None:
    data = people({"target_linkage.max": 0.09})
    judge = Evaluator(data, SelectOptions.from_policy(data.policy), patient=True)
    fails_informed = judge(Plan.model_validate({"seed": 5, "steps": PLANS[0]}))
    fails_alone = judge(Plan.model_validate({"seed": 5, "steps": []}))
    assert not fails_informed.unjudged
    assert fails_alone.unjudged
    assert fails_informed.rank < fails_alone.rank


def test_a_chosen_plan_meets_the_limits_when_its_release_is_assessed_again() -> None:
    data = patients(400)
    data = data.with_policy(data.policy.with_(limits={"known_sets.high_risk": 0, "target_linkage.expected_links": 40}))
    selection = discreet.select(data, trials=25, seed=2)
    again = discreet.assess(selection.release.original, discreet.mask(data.with_policy(selection.policy)))
    assert [verdict.status for verdict in again.verdicts] == [verdict.status for verdict in selection.assessment.verdicts]
    assert selection.met == again.ok


@pytest.mark.parametrize("steps", PLANS, ids=lambda steps: "+".join(step["method"] for step in steps) or "nothing")
def test_nothing_of_a_large_original_is_remembered_between_plans(steps: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan without steps returns the original itself."""
    monkeypatch.setattr(evaluator, "_MOST_RECORDS_REMEMBERED", 100)
    data = people({"target_linkage.max": 0.09})
    evaluate = Evaluator(data, SelectOptions.from_policy(data.policy), patient=True)
    evaluate(Plan.model_validate({"steps": steps}))
    assert evaluate.data.derived("age") is None
