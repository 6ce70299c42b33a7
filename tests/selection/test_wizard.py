"""The wizard: keeps limits, says so where it cannot, and ends where an uninterrupted search ends."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import ANY

import polars as pl
import pytest

import discreet
from discreet.engine.runtime.progress import progress_listener, report_progress
from discreet.errors import DataError, PolicyError
from discreet.keys.ring import KeyRing
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.selection.build import build_plan, scaled_count
from discreet.selection.evaluate import Evaluator, Outcome, sampled_policy
from discreet.selection.options import SelectOptions
from discreet.selection.proposals import add_missing_hierarchies
from discreet.selection.space import build_space
from discreet.selection.starts import rank_risky_attributes, starting_points
from discreet.selection.trials import Trial
from discreet.testing import students, table

LIMITS = {"k_anonymity.k": 5, "known_sets.high_risk": 0, "integrity.mean": 0.05}
KEYS = ["gender", "ethnicity", "age", "grade"]


def small(n: int = 1_000, limits: dict[str, float] | None = None) -> Microdata:
    data = students(n, dense=True).with_policy(Policy())
    names = [*KEYS, "parish", "homeless", "felony"]
    policy = students(1).policy
    policy = policy.with_(
        attributes={name: policy.attributes[name] for name in names},
        risk={"known_sets": {"alpha": 100, "epsilon": 0.01, "threshold": 0.5}, "k_anonymity": {"keys": KEYS}},
        limits=LIMITS if limits is None else limits,
    )
    return Microdata(data.frame.select(names), policy, "students")


def test_the_chosen_plan_keeps_every_limit_and_is_the_cheapest_tried() -> None:
    found = discreet.select(small(), trials=16, seed=7)
    assert found.met
    assert not found.standing
    assert {verdict.limit for verdict in found.assessment.verdicts} == set(LIMITS)
    assert found.assessment.losses["ncp"]["loss"] == pytest.approx(found.loss, rel=1e-12)
    assert all(one.loss >= found.loss for one in found.frontier if one.kept)
    assert any("has the least loss" in sentence for sentence in found.sentences)
    assert found.tried >= 16


def test_the_written_policy_masks_to_the_same_release(tmp_path: Path) -> None:
    data = small()
    found = discreet.select(data, trials=8, seed=7)
    file = tmp_path / "chosen.yaml"
    file.write_text(found.to_yaml(tmp_path))
    again = discreet.read(data.frame, file)
    assert discreet.mask(again).masked.frame.equals(found.release.masked.frame)
    assert again.policy.limits == LIMITS


def test_the_same_seed_finds_the_same() -> None:
    one, other = (discreet.select(small(400), trials=40, seed=3) for _ in range(2))
    assert one.plan.steps == other.plan.steps
    assert one.frontier == other.frontier


class Stop(Exception):
    pass


def test_a_search_interrupted_and_resumed_ends_where_the_uninterrupted_one_does(tmp_path: Path) -> None:
    data, journal = small(600), tmp_path / "search.journal"
    plain = discreet.select(data, trials=44, seed=5, sample=200)
    told: list[str] = []

    def listener(what: str, done: int, total: int) -> None:
        if what.startswith("select") and what not in told:
            told.append(what)
            if len(told) in (3, 24, 38):
                raise Stop

    runs = 0
    while True:
        runs += 1
        try:
            with progress_listener(listener):
                found = discreet.select(data, trials=44, seed=5, sample=200, resume=journal)
            break
        except Stop:
            continue
    assert runs == 4
    assert any("best so far" in what for what in told)
    assert found.plan.steps == plain.plan.steps
    assert found.frontier == plain.frontier
    assert found.loss == plain.loss
    assert (found.tried, found.tried_on_sample) == (plain.tried, plain.tried_on_sample)


def test_a_plan_that_was_killed_before_it_ran_gets_its_turn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from optuna.study import Study

    data, journal = small(300), tmp_path / "search.journal"
    plain = discreet.select(data, trials=6, seed=5)
    calls, ask = 0, Study.ask

    def killed(self: Study, *given: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt
        return ask(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Study, "ask", killed)
    with pytest.raises(KeyboardInterrupt):
        discreet.select(data, trials=6, seed=5, resume=journal)
    found = discreet.select(data, trials=6, seed=5, resume=journal)
    assert found.plan.steps == plain.plan.steps
    assert found.tried == plain.tried


def test_a_plan_that_was_killed_while_it_ran_gets_its_turn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, journal = small(300), tmp_path / "search.journal"
    plain = discreet.select(data, trials=6, seed=5)
    calls, run = 0, Evaluator.__call__

    def killed(self: Evaluator, plan: object) -> Outcome:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt
        return run(self, plan)  # type: ignore[arg-type]

    monkeypatch.setattr(Evaluator, "__call__", killed)
    with pytest.raises(KeyboardInterrupt):
        discreet.select(data, trials=6, seed=5, resume=journal)
    found = discreet.select(data, trials=6, seed=5, resume=journal)
    assert calls >= 7
    assert (found.plan.steps, found.frontier) == (plain.plan.steps, plain.frontier)


def test_another_table_cannot_resume_a_search(tmp_path: Path) -> None:
    journal = tmp_path / "search.journal"
    discreet.select(small(200), trials=2, resume=journal)
    with pytest.raises(PolicyError, match="belongs to a search on other data"):
        discreet.select(small(201), trials=2, resume=journal)


def test_where_no_plan_keeps_the_limits_the_nearest_is_given_and_what_stands_in_the_way() -> None:
    found = discreet.select(small(300, {"k_anonymity.k": 5, "ncp.loss": 0.0}), trials=10, seed=1)
    assert not found.met
    assert found.standing
    assert set(found.standing) < {"k_anonymity.k", "ncp.loss"}
    assert any("No plan meets every limit; this is the nearest" in sentence for sentence in found.sentences)
    assert any("stands in the way" in sentence for sentence in found.sentences)


def test_numbers_are_those_of_the_whole_table_though_a_sample_was_searched() -> None:
    data = small(1_200)
    found = discreet.select(data, trials=12, seed=2, sample=600)
    assert (found.tried >= 6, found.tried_on_sample) == (True, 6)
    assert found.release.t == 1_200
    measured = discreet.risk(found.release.masked, ["known_sets", "k_anonymity"])
    wanted = {verdict.limit: verdict.found for verdict in found.assessment.verdicts}
    assert wanted["known_sets.high_risk"] == measured["known_sets"]["high_risk"]
    assert wanted["k_anonymity.k"] == measured["k_anonymity"]["k"]
    evaluate = Evaluator(data.with_policy(found.policy), SelectOptions())
    for one in found.frontier:
        assert evaluate(found.plans[one.name]).loss == pytest.approx(one.loss, rel=1e-12)


def test_a_cost_weighs_risk_and_loss_in_one_number() -> None:
    data = small(500, {})
    careful = discreet.select(data, trials=14, cost={"risk": 100, "loss": 1})
    generous = discreet.select(data, trials=14, cost={"risk": 0, "loss": 1})
    assert careful.met
    assert careful.risk < generous.risk
    assert generous.loss == 0


def test_what_the_wizard_cannot_start_from_is_an_error() -> None:
    with pytest.raises(PolicyError, match="select needs limits to keep"):
        discreet.select(small(100, {}))
    with pytest.raises(PolicyError, match="'second' is not a field of select; did you mean 'seconds'"):
        discreet.select(small(100).with_policy(small(1).policy.with_(select={"second": 3})))
    with pytest.raises(PolicyError, match=r"select\.risk must name a risk"):
        discreet.select(small(100), risk="ncp.loss")
    with pytest.raises(DataError, match="no records"):
        discreet.select(small(0))


def test_a_budget_in_seconds_ends() -> None:
    found = discreet.select(small(200).with_policy(small(1).policy.with_(select={"trials": 100_000})), seconds=1.5)
    assert found.tried >= 1
    assert found.seconds < 15


def test_a_sample_asks_for_fewer_of_each_kind_and_allows_larger_shares_of_them() -> None:
    policy = sampled_policy(small(1).policy.with_(limits={"k_anonymity.k": 20, "known_sets.max": 1.0}), 0.25)
    assert policy.limits == {"k_anonymity.k": 5, "known_sets.max": 4.0}
    assert policy.risk["known_sets"]["threshold"] == 2.0
    assert (scaled_count(5, 0.1), scaled_count(5, 1.0), scaled_count(50, 0.1)) == (2, 5, 5)


def test_a_step_that_has_no_risk_to_lower_is_left_out_and_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    data = small(300)
    known = {"alpha": 100, "epsilon": 0.01, "threshold": 1e6}
    data = data.with_policy(data.policy.with_(risk={**data.policy.risk, "known_sets": known}))

    def plan(threshold: float) -> Plan:
        lower = {"method": "targeted_suppression", "side": "known", "missing": "category", **known, "threshold": threshold}
        return Policy.from_dict({"plan": {"steps": [{"method": "generalization", "columns": KEYS, "k": 5}, lower]}}).plan

    run, spared = Evaluator(data, SelectOptions(), patient=True)(plan(1e6)), Evaluator(data, SelectOptions())
    method = discreet.registry.load("masking", "targeted_suppression")

    def called(*_: object) -> Microdata:
        raise DataError("the step was run")

    monkeypatch.setattr(method, "mask", called)
    assert spared(plan(1e6)) == replace(run, seconds=ANY)
    # one that lowers another risk than what is measured has to run
    assert spared(plan(1e-6)).error is not None


def test_the_profile_counts_every_attribute_of_the_riskiest_records_sets() -> None:
    data = table(
        {"a": [1, 1, 2, 2], "b": ["x", "y", "x", "y"], "c": ["u", "u", "u", "v"], "ill": ["yes", "no", "no", "no"]},
        key=["a", "b", "c"], confidential=["ill"],
    )  # fmt: skip
    known = {name: data.attribute(name).model_copy(update={"known": 0.9}) for name in ("a", "b", "c")}
    ill = data.attribute("ill").model_copy(update={"sensitivity": 1.0, "values": {"yes": 1.0}, "default": 0.0})
    data = data.with_policy(data.policy.with_(attributes={**known, "ill": ill}))
    score = discreet.risk(data, "known_sets")["known_sets"]
    assert score.per_record["top_set"][0] == "a+b"
    assert rank_risky_attributes(data) == rank_risky_attributes(data, score)
    assert set(rank_risky_attributes(data)[0]) >= {"a", "b"}


def test_every_start_is_a_plan_that_can_be_made() -> None:
    data = small(400)
    data = data.with_policy(add_missing_hierarchies(data))
    top, sensitive = rank_risky_attributes(data)
    assert set(sensitive) == {"homeless", "felony"}
    space = build_space(data, top=sensitive)
    points = starting_points(space, top)
    assert len(points) > 10
    for point in points:
        assert all(point[name] in choices for name, choices in space.choices.items())
        build_plan(data, space, point)


def test_a_hierarchy_is_proposed_where_there_is_none_and_the_owners_stays() -> None:
    towns = ["A"] * 50 + ["B"] * 46 + ["C", "D", "E", "F"]
    data = table({"age": list(range(100)), "town": towns}, key=["age", "town"])
    policy = add_missing_hierarchies(data)
    assert policy.attributes["town"].hierarchy is not None
    assert policy.attributes["town"].hierarchy.groups == ({"A": ("A",), "B": ("B",), "other": ("C", "D", "E", "F")},)
    assert add_missing_hierarchies(data.with_policy(policy)) == policy


def test_a_step_that_the_limits_do_not_need_is_left_out() -> None:
    data = small(400, {"k_anonymity.k": 3, "known_sets.high_risk": 400})
    found = discreet.select(data, trials=2, seed=1)
    assert found.met
    assert [step.method for step in found.plan.steps] == ["balanced_partition"]


def test_each_trial_is_told_as_it_is_found_and_the_best_of_the_whole_table_is_the_plan() -> None:
    told: list[Trial] = []
    data = small(600)
    found = discreet.select(data, trials=16, seed=5, sample=200, on_trial=told.append)
    assert [one.number for one in told] == list(range(1, found.tried + found.tried_on_sample + 1))
    assert [one.whole for one in told] == [False] * found.tried_on_sample + [True] * found.tried
    whole = [one for one in told if one.whole]
    assert [(one.risk, one.loss, one.kept) for one in whole if one.error is None] == [
        (one.risk, one.loss, one.kept) for one in found.placed
    ]
    last = [one for one in whole if one.best][-1]
    assert (last.risk, last.loss, last.kept) == (found.risk, found.loss, found.met)
    measured = Evaluator(data.with_policy(found.policy), SelectOptions())
    for one in whole[:4]:
        outcome = measured(Policy.from_dict({"plan": dict(one.plan)}).plan)
        assert {**one.risks, **one.losses} == outcome.found
        assert set(one.risks) == {"k_anonymity.k", "known_sets.high_risk", "known_sets.mean"}
        assert set(one.losses) == {"integrity.mean", "ncp.loss"}
        assert one.kept == (not one.missed)
    assert json.loads(json.dumps(last.to_dict()))["whole"] is True


def test_a_listener_that_raises_ends_the_search_which_then_goes_on_from_its_file(tmp_path: Path) -> None:
    data, journal = small(300), tmp_path / "search.journal"
    key = KeyRing().add(bytes(range(32))).id  # without one each search draws its own
    data = data.with_policy(data.policy.with_(plan=data.policy.plan.model_copy(update={"key": key})))
    plain: list[Trial] = []
    discreet.select(data, trials=6, seed=5, on_trial=plain.append)
    told: list[Trial] = []

    def three(trial: Trial) -> None:
        told.append(trial)
        if len(told) == 3:
            raise Stop

    with pytest.raises(Stop):
        discreet.select(data, trials=6, seed=5, resume=journal, on_trial=three)
    again: list[Trial] = []
    discreet.select(data, trials=6, seed=5, resume=journal, on_trial=again.append)
    assert told == plain[:3]
    assert again == plain


def test_a_plan_that_takes_too_long_is_stopped_and_the_search_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    run, slow = Evaluator.__call__, []

    def dawdling(self: Evaluator, plan: Plan) -> Outcome:
        while any(step.method == "balanced_partition" for step in plan.steps):
            slow.append(plan)
            time.sleep(0.02)
            report_progress("dawdling", 0, 0)
        return run(self, plan)

    monkeypatch.setattr(Evaluator, "__call__", dawdling)
    told: list[Trial] = []
    found = discreet.select(small(200), seconds=4, on_trial=told.append)
    assert slow
    assert any("it was stopped after" in (one.error or "") for one in told)
    assert any(one.error is None for one in told)
    assert found.seconds < 15


def test_classes_over_all_that_may_be_known_keep_the_limit_on_the_keys() -> None:
    data = small(800, {"k_anonymity.k": 5, "known_sets.high_risk": 0})
    data = data.with_policy(add_missing_hierarchies(data))
    space = build_space(data, top=["homeless"])
    assert "parish" not in space.keys
    assert set(space.known) == {*space.keys, "parish"}
    for finish in sorted(space.wide - {"local_suppression"}):  # its blanks agree with anything, which is another k
        plan = build_plan(data, space, space.plain() | {"finish": finish, "over": "all", "k": 10})
        assert set(plan.steps[-1].columns or ()) == set(space.known)
        assert discreet.risk(discreet.mask(data, plan).masked, "k_anonymity")["k_anonymity"]["k"] >= 5


def hopeless() -> Microdata:
    """Sixty patients and a threshold that not even all of them alike would be under."""
    ages = [20 + at % 40 for at in range(60)]
    data = table({"age": ages, "ill": ["flu", "cancer"] * 30}, known={"age": 0.5}, sensitivity={"ill": 1.0}, key=["age"])
    risk = {"known_sets": {"alpha": 100, "epsilon": 0.01, "threshold": 0.01}}
    return data.with_policy(data.policy.with_(risk=risk, limits={"known_sets.high_risk": 0, "k_anonymity.k": 5}))


def test_a_threshold_out_of_reach_is_told_with_numbers() -> None:
    found = discreet.select(hopeless(), trials=8, seed=3)
    assert not found.met
    assert any("out of reach for 60 of 60 records" in told and "2.5" in told for told in found.sentences)  # 100 x 1 x 1.5 / 60
    assert not any("cannot run" in told for told in found.sentences)
    assert found.frontier


def test_where_no_plan_ran_some_run_without_what_is_too_much_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.selection.evaluate._FEW", 0)
    found = discreet.select(hopeless(), trials=4, seed=3)
    assert found.frontier
    assert found.tried > 4
    assert not any(step.method.startswith("targeted") for step in found.plan.steps)
    assert any("too many to lower the risk of one by one" in told for told in found.sentences)


def test_a_plan_that_would_have_to_change_most_records_is_given_up_unless_one_is_patient_or_they_are_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = small(300)
    plan = Policy.from_dict({"plan": {"steps": [{"method": "targeted_suppression", "threshold": 0.0}]}}).plan
    data = data.with_policy(data.policy.with_(risk={"known_sets": {"threshold": 0.0}}))
    every = data.with_columns({"felony": pl.Series(["yes"] * 300)})
    assert Evaluator(every, SelectOptions())(plan).error is None
    monkeypatch.setattr("discreet.selection.evaluate._FEW", 299)
    assert "too many to lower the risk of one by one" in (Evaluator(every, SelectOptions())(plan).error or "")
    assert Evaluator(every, SelectOptions(), patient=True)(plan).error is None


def test_where_a_blank_weighs_as_much_as_a_value_blanking_what_is_learnt_is_not_tried() -> None:
    data = table({"age": [1, 2, 3, 4]}, known={"age": 0.5}, key=["age"], sensitivity={"age": 0.5})
    data = data.with_policy(data.policy.with_(limits={"known_sets.high_risk": 0, "k_anonymity.k": 2}))
    choices = build_space(data.with_policy(add_missing_hierarchies(data)), top=["age"]).choices
    assert "hide" not in choices
    assert not any("sensitive" in str(target) for target in choices["target"])


def test_a_plan_with_targeted_generalization_is_among_the_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was left out while known_sets could not see what it gains."""
    tried: list[tuple[Plan, Outcome]] = []
    evaluate = Evaluator.__call__

    def recorded(self: Evaluator, plan: Plan) -> Outcome:
        outcome = evaluate(self, plan)
        tried.append((plan, outcome))
        return outcome

    monkeypatch.setattr(Evaluator, "__call__", recorded)
    data = small(limits={"known_sets.high_risk": 0})
    known = {**data.policy.risk["known_sets"], "threshold": 2.0}  # in reach where all are alike in whatever can be known
    data = data.with_policy(data.policy.with_(judge="release", risk={"known_sets": known}))
    found = discreet.select(data, trials=16, seed=7)
    ran = [one for plan, one in tried if [step.method for step in plan.steps] == ["targeted_generalization"]]
    # the step brings sums over the kept sets under the threshold; what is certified over all sets may leave a few records above
    before = discreet.risk(data)["known_sets"]["high_risk"]
    assert any(one.error is None and one.found["known_sets.high_risk"] < before / 10 for one in ran)
    assert found.met
