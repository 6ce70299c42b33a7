"""A search whose time is too short to measure the original table still judges its plans, and ends."""

from __future__ import annotations

import time

import pytest

import discreet
from discreet.model.policy import Policy
from discreet.selection.conclusion import _run_in_time, half_way_to
from discreet.selection.evaluation.evaluator import Evaluator
from discreet.selection.options import SelectOptions
from discreet.selection.outcome import Outcome, TriedPlan
from discreet.selection.proposals import add_missing_hierarchies
from discreet.selection.wizard import spell_out_losses
from discreet.testing import students

METHODS = ["remove_identifiers", "targeted_suppression"]


def test_plans_are_judged_although_the_original_was_not_measured() -> None:
    data = students(300)
    data = data.with_policy(data.policy.with_(limits={"k_anonymity.k": 3}))
    options = SelectOptions()
    data = data.with_policy(spell_out_losses(add_missing_hierarchies(data), data, options))
    plan = Policy.from_dict({"plan": {"steps": [{"method": "generalization", "k": 3, "algorithm": "partition"}]}}).plan
    in_time, late = Evaluator(data, options), Evaluator(data, options, deadline=time.monotonic() - 1)
    assert late.known is None
    expected, outcome = in_time(plan), late(plan)
    assert outcome.meets_limits
    assert outcome.measured == expected.measured
    assert outcome.loss == expected.loss


def test_a_search_without_time_to_measure_the_original_ends_with_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.selection.wizard._SHARE_OF_ORIGINAL", -1.0)
    data = students(300)
    data = data.with_policy(data.policy.with_(limits={"k_anonymity.k": 40}, risk={}))
    selection = discreet.select(data, trials=3, seconds=300, seed=1)
    assert selection.plan.steps
    assert not selection.standing


def test_a_plan_that_must_be_run_twice_may_take_half_of_the_time_that_is_left() -> None:
    now = time.monotonic()
    moment = half_way_to(now + 1000)
    assert moment is not None
    assert 400 < moment - now <= 600
    assert half_way_to(None) is None
    assert (half_way_to(now - 5) or now) >= now


@pytest.mark.parametrize(("error", "kept"), [("there was no time to try it", ["remove_identifiers"]), (None, METHODS)])
def test_a_plan_that_was_stopped_is_not_run_to_its_end_at_the_last_moment(error: str | None, kept: list[str]) -> None:
    data = students(300)
    plan = Policy.from_dict({"plan": {"seed": 1, "steps": [{"method": method} for method in METHODS]}}).plan
    stopped = TriedPlan({}, plan, Outcome(1.0, 1.0, error=error))
    release = _run_in_time(data, stopped, None, time.monotonic() - 1)
    assert [step.method for step in release.plan.steps] == [log.method for log in release.log] == kept
