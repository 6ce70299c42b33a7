"""The wizard: it meets the limits, reports those it cannot meet, and a resumed search ends like an uninterrupted one."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import polars as pl
import pytest

import discreet
from discreet.engine.runtime.progress import progress_listener, report_progress
from discreet.errors import DataError, PolicyError
from discreet.keys.ring import KeyRing
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.selection.evaluation.evaluator import Evaluator
from discreet.selection.objective import FIELDS, ObjectiveWeights, objective_parts
from discreet.selection.options import SelectOptions
from discreet.selection.outcome import Outcome
from discreet.selection.proposals import add_missing_hierarchies
from discreet.selection.risky_attributes import rank_risky_attributes
from discreet.selection.sampling import sampled_policy
from discreet.selection.space.build import build_space
from discreet.selection.starts.order import starting_points
from discreet.selection.steps.build import build_plan, scaled_count
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


def test_the_chosen_plan_meets_every_limit_at_the_least_loss_of_all_tried() -> None:
    selection = discreet.select(small(), trials=16, seed=7)
    assert selection.met
    assert not selection.standing
    assert {verdict.limit for verdict in selection.assessment.verdicts} == set(LIMITS)
    parts = objective_parts(selection.assessment.losses, 0.0)
    assert ObjectiveWeights().combine(parts) == pytest.approx(selection.loss, rel=1e-12)
    assert all(point.loss >= selection.loss for point in selection.frontier if point.kept)
    assert any("has the least loss" in sentence for sentence in selection.sentences)
    assert selection.tried >= 16


def test_the_written_policy_masks_to_the_same_release(tmp_path: Path) -> None:
    data = small()
    selection = discreet.select(data, trials=8, seed=7)
    file = tmp_path / "chosen.yaml"
    file.write_text(selection.to_yaml(tmp_path))
    again = discreet.read(data.frame, file)
    assert discreet.mask(again).masked.frame.equals(selection.release.masked.frame)
    assert again.policy.limits == LIMITS


def test_the_same_seed_finds_the_same_plans() -> None:
    first, second = (discreet.select(small(400), trials=40, seed=3) for _ in range(2))
    assert first.plan.steps == second.plan.steps
    assert first.frontier == second.frontier


class Stop(Exception):
    pass


def test_a_search_interrupted_and_resumed_ends_where_the_uninterrupted_one_does(tmp_path: Path) -> None:
    data, journal = small(600), tmp_path / "search.journal"
    uninterrupted = discreet.select(data, trials=44, seed=5, sample=200)
    messages: list[str] = []

    def listener(what: str, done: int, total: int) -> None:
        if what.startswith("select") and what not in messages:
            messages.append(what)
            if len(messages) in (3, 24, 38):
                raise Stop

    runs = 0
    while True:
        runs += 1
        try:
            with progress_listener(listener):
                selection = discreet.select(data, trials=44, seed=5, sample=200, resume=journal)
            break
        except Stop:
            continue
    assert runs == 4
    assert any("best so far" in message for message in messages)
    assert selection.plan.steps == uninterrupted.plan.steps
    assert selection.frontier == uninterrupted.frontier
    assert selection.loss == uninterrupted.loss
    assert (selection.tried, selection.tried_on_sample) == (uninterrupted.tried, uninterrupted.tried_on_sample)


def test_a_plan_that_was_killed_before_it_ran_gets_its_turn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from optuna.study import Study

    data, journal = small(300), tmp_path / "search.journal"
    uninterrupted = discreet.select(data, trials=6, seed=5)
    calls, ask = 0, Study.ask

    def killed(self: Study, *given: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise SystemExit
        return ask(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Study, "ask", killed)
    with pytest.raises(SystemExit):
        discreet.select(data, trials=6, seed=5, resume=journal)
    selection = discreet.select(data, trials=6, seed=5, resume=journal)
    assert selection.plan.steps == uninterrupted.plan.steps
    assert selection.tried == uninterrupted.tried


def test_a_plan_that_was_killed_while_it_ran_gets_its_turn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, journal = small(300), tmp_path / "search.journal"
    uninterrupted = discreet.select(data, trials=6, seed=5)
    calls, run = 0, Evaluator.__call__

    def killed(self: Evaluator, plan: Plan, **options: Any) -> Outcome:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise SystemExit
        return run(self, plan, **options)

    monkeypatch.setattr(Evaluator, "__call__", killed)
    with pytest.raises(SystemExit):
        discreet.select(data, trials=6, seed=5, resume=journal)
    selection = discreet.select(data, trials=6, seed=5, resume=journal)
    assert calls >= 7
    assert (selection.plan.steps, selection.frontier) == (uninterrupted.plan.steps, uninterrupted.frontier)


def test_another_table_cannot_resume_a_search(tmp_path: Path) -> None:
    journal = tmp_path / "search.journal"
    discreet.select(small(200), trials=2, resume=journal)
    with pytest.raises(PolicyError, match="belongs to a search on other data"):
        discreet.select(small(201), trials=2, resume=journal)


def test_if_no_plan_meets_the_limits_the_closest_is_chosen_and_the_unmet_limits_are_named() -> None:
    selection = discreet.select(small(300, {"k_anonymity.k": 5, "ncp.loss": 0.0}), trials=10, seed=1)
    assert not selection.met
    assert selection.standing
    assert set(selection.standing) < {"k_anonymity.k", "ncp.loss"}
    assert any("No plan meets every limit; this is the closest" in sentence for sentence in selection.sentences)
    assert any(
        "is not met by any plan that was tried" in sentence or "plans meet it, but none of them meets the other" in sentence
        for sentence in selection.sentences
    )


def test_all_reported_numbers_are_measured_on_the_whole_table_after_a_search_on_a_sample() -> None:
    data = small(1_200)
    selection = discreet.select(data, trials=12, seed=2, sample=600)
    assert (selection.tried >= 6, selection.tried_on_sample) == (True, 6)
    assert selection.release.t == 1_200
    measured = discreet.risk(selection.release.masked, ["known_sets", "k_anonymity"])
    judged = {verdict.limit: verdict.found for verdict in selection.assessment.verdicts}
    assert judged["known_sets.high_risk"] == measured["known_sets"]["high_risk"]
    assert judged["k_anonymity.k"] == measured["k_anonymity"]["k"]
    evaluate = Evaluator(data.with_policy(selection.policy), SelectOptions())
    for point in selection.frontier:
        assert evaluate(selection.plans[point.name]).loss == pytest.approx(point.loss, rel=1e-12)


def test_with_a_cost_the_weights_of_risk_and_loss_decide() -> None:
    data = small(500, {})
    careful = discreet.select(data, trials=14, cost={"risk": 100, "loss": 1})
    generous = discreet.select(data, trials=14, cost={"risk": 0, "loss": 1})
    assert careful.met
    assert careful.risk < generous.risk
    assert generous.loss == 0


def test_a_search_without_limits_or_records_or_with_wrong_options_is_an_error() -> None:
    with pytest.raises(PolicyError, match=r"select needs limits to meet, for example .limits: {k_anonymity.k: 5}"):
        discreet.select(small(100, {}))
    with pytest.raises(PolicyError, match="'second' is not a field of select; did you mean 'seconds'"):
        discreet.select(small(100).with_policy(small(1).policy.with_(select={"second": 3})))
    with pytest.raises(PolicyError, match=r"select\.risk must name a risk"):
        discreet.select(small(100), risk="ncp.loss")
    with pytest.raises(DataError, match="no records"):
        discreet.select(small(0))


def test_a_search_ends_at_its_time_limit() -> None:
    selection = discreet.select(small(200).with_policy(small(1).policy.with_(select={"trials": 100_000})), seconds=1.5)
    assert selection.tried >= 1
    assert selection.seconds < 15


def test_limits_on_counts_shrink_and_limits_on_risks_grow_for_a_sample() -> None:
    policy = sampled_policy(small(1).policy.with_(limits={"k_anonymity.k": 20, "known_sets.max": 1.0}), 0.25)
    assert policy.limits == {"k_anonymity.k": 5, "known_sets.max": 4.0}
    assert policy.risk["known_sets"]["threshold"] == 2.0
    assert (scaled_count(5, 0.1), scaled_count(5, 1.0), scaled_count(50, 0.1)) == (2, 5, 5)


def test_a_targeted_step_without_high_risk_records_is_skipped_with_the_same_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
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
    # a step that lowers another risk than the measured one has to run
    assert spared(plan(1e-6)).error is not None


def test_every_attribute_in_a_top_set_of_the_riskiest_records_is_ranked() -> None:
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


def test_every_starting_point_lies_in_the_space_and_has_a_plan() -> None:
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


def test_balanced_ranges_with_equal_weights_are_tried_before_those_with_light_numbers() -> None:
    """Light numbers suit published means; on a table of persons they made the best plan for ranges one that was never tried."""
    data = small(400, {"k_anonymity.k": 5})
    points = starting_points(build_space(data.with_policy(add_missing_hierarchies(data))))
    ranges = [point for point in points if point["finish"] == "balanced_partition" and point["publish"] == "ranges"]
    weights = [{value for name, value in point.items() if name.startswith("weight:")} for point in ranges]
    assert weights[0] == {1.0}
    assert any(0.25 in values for values in weights[1:])


def test_a_hierarchy_is_added_where_there_is_none_and_those_of_the_policy_stay() -> None:
    towns = ["A"] * 50 + ["B"] * 46 + ["C", "D", "E", "F"]
    data = table({"age": list(range(100)), "town": towns}, key=["age", "town"])
    policy = add_missing_hierarchies(data)
    assert policy.attributes["town"].hierarchy is not None
    assert policy.attributes["town"].hierarchy.groups == ({"A": ("A",), "B": ("B",), "{C|D|E|F}": ("C", "D", "E", "F")},)
    assert add_missing_hierarchies(data.with_policy(policy)) == policy


def test_a_group_of_values_is_not_named_like_a_category_of_its_own() -> None:
    """323 men whose gender was recoded together with that of three unknown were published with the gender 'other'."""
    columns = {
        "gender": ["Female"] * 54 + ["Male"] * 43 + ["Unknown/Invalid"] * 3,
        "race": ["white"] * 80 + ["Other"] * 14 + ["a", "b", "c", "d", "e", "f"],
        "town": ["A", "B"] * 40 + ["one of 6 values"] * 14 + ["C", "D", "E", "F", "G", "H"],
    }
    data = table(columns, key=list(columns))
    attributes = add_missing_hierarchies(data).attributes
    labels = {
        name: [label for label in attributes[name].hierarchy.groups[0] if label not in values] for name, values in columns.items()
    }
    assert labels == {
        "gender": ["{Male|Unknown/Invalid}"], "race": ["one of 6 values"], "town": ["one of 6 values of this column"]
    }  # fmt: skip
    steps = [{"method": "global_recoding", "columns": ["gender"], "level": 1}]
    plan = Policy.from_dict({"plan": {"seed": 1, "steps": steps}}).plan
    data = data.with_policy(data.policy.with_(attributes=attributes, loss={"falsehood": {}}))
    masked = discreet.mask(data, plan).masked
    assert set(masked.frame["gender"]) == {"Female", "{Male|Unknown/Invalid}"}
    assert discreet.loss(data, masked)["falsehood"].summary["worst"] == 0


def test_steps_that_the_limits_do_not_need_are_left_out() -> None:
    data = small(400, {"k_anonymity.k": 3, "known_sets.high_risk": 400})
    trials: list[Trial] = []
    selection = discreet.select(data, trials=6, seed=1, loss="ncp.loss", on_trial=trials.append)
    assert selection.met
    tried = [[step["method"] for step in trial.plan.get("steps", ())] for trial in trials]
    assert any(len(steps) > 1 and steps[-1] == "targeted_suppression" for steps in tried)
    assert [step.method for step in selection.plan.steps][-1] != "targeted_suppression"


def test_each_trial_is_reported_and_the_best_on_the_whole_table_is_the_chosen_plan() -> None:
    trials: list[Trial] = []
    data = small(600)
    selection = discreet.select(data, trials=16, seed=5, sample=200, on_trial=trials.append)
    assert [trial.number for trial in trials] == list(range(1, selection.tried + selection.tried_on_sample + 1))
    assert [trial.whole for trial in trials] == [False] * selection.tried_on_sample + [True] * selection.tried
    whole = [trial for trial in trials if trial.whole]
    assert [(trial.risk, trial.loss, trial.kept) for trial in whole if trial.error is None] == [
        (point.risk, point.loss, point.kept) for point in selection.placed
    ]
    last = [trial for trial in whole if trial.best][-1]
    assert (last.risk, last.loss, last.kept) == (selection.risk, selection.loss, selection.met)
    evaluate = Evaluator(data.with_policy(selection.policy), SelectOptions())
    for trial in whole[:4]:
        outcome = evaluate(Policy.from_dict({"plan": dict(trial.plan)}).plan)
        assert {**trial.risks, **trial.losses} == outcome.measured
        assert set(trial.risks) == {"k_anonymity.k", "known_sets.high_risk", "known_sets.mean"}
        assert set(trial.losses) == {"integrity.mean", *FIELDS}
        assert trial.kept == (not trial.missed)
    assert json.loads(json.dumps(last.to_dict()))["whole"] is True


def test_an_exception_in_on_trial_ends_the_search_which_can_be_resumed_from_its_file(tmp_path: Path) -> None:
    data, journal = small(300), tmp_path / "search.journal"
    key = KeyRing().add(bytes(range(32))).id  # without one each search draws its own
    data = data.with_policy(data.policy.with_(plan=data.policy.plan.model_copy(update={"key": key})))
    uninterrupted: list[Trial] = []
    discreet.select(data, trials=6, seed=5, on_trial=uninterrupted.append)
    before_stop: list[Trial] = []

    def stop_at_third(trial: Trial) -> None:
        before_stop.append(trial)
        if len(before_stop) == 3:
            raise Stop

    with pytest.raises(Stop):
        discreet.select(data, trials=6, seed=5, resume=journal, on_trial=stop_at_third)
    resumed: list[Trial] = []
    discreet.select(data, trials=6, seed=5, resume=journal, on_trial=resumed.append)
    assert before_stop == uninterrupted[:3]
    assert resumed == uninterrupted


def test_a_plan_that_takes_too_long_is_stopped_and_the_search_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    run, slow = Evaluator.__call__, []

    def dawdling(self: Evaluator, plan: Plan, **options: Any) -> Outcome:
        while any(step.method == "generalization" for step in plan.steps):
            slow.append(plan)
            time.sleep(0.02)
            report_progress("dawdling", 0, 0)
        return run(self, plan, **options)

    discreet.select(small(200), trials=2)  # what is compiled at first use does not count
    monkeypatch.setattr(Evaluator, "__call__", dawdling)
    trials: list[Trial] = []
    selection = discreet.select(small(200), seconds=4, on_trial=trials.append)
    assert slow
    assert any("it was stopped after" in (trial.error or "") for trial in trials)
    assert any(trial.error is None for trial in trials)
    assert selection.seconds < 15


def test_classes_over_all_known_attributes_meet_the_limit_on_the_keys() -> None:
    data = small(800, {"k_anonymity.k": 5, "known_sets.high_risk": 0})
    data = data.with_policy(add_missing_hierarchies(data))
    space = build_space(data, top=["homeless"])
    assert "parish" not in space.keys
    assert set(space.known) == {*space.keys, "parish"}
    for finish in sorted(space.finishes_over_known - {"local_suppression"}):  # its blanks agree with anything, which is another k
        plan = build_plan(data, space, space.unchanged_point() | {"finish": finish, "over": "all", "k": 10})
        assert set(plan.steps[-1].columns or ()) == set(space.known)
        assert discreet.risk(discreet.mask(data, plan).masked, "k_anonymity")["k_anonymity"]["k"] >= 5


def hopeless() -> Microdata:
    """Sixty patients, and a threshold that is exceeded even if all of them agree on every attribute."""
    ages = [20 + number % 40 for number in range(60)]
    data = table({"age": ages, "ill": ["flu", "cancer"] * 30}, known={"age": 0.5}, sensitivity={"ill": 1.0}, key=["age"])
    risk = {"known_sets": {"alpha": 100, "epsilon": 0.01, "threshold": 0.01}}
    return data.with_policy(data.policy.with_(risk=risk, limits={"known_sets.high_risk": 0, "k_anonymity.k": 5}))


def test_the_reasons_say_with_numbers_that_a_threshold_is_out_of_reach() -> None:
    selection = discreet.select(hopeless(), trials=8, seed=3)
    assert not selection.met
    assert any(
        "out of reach for 60 of 60 records" in sentence and "2.5" in sentence for sentence in selection.sentences
    )  # 100 x 1 x 1.5 / 60
    assert not any("cannot run" in sentence for sentence in selection.sentences)
    assert selection.frontier


def test_if_no_plan_can_run_some_are_tried_without_their_targeted_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.selection.evaluation.evaluator._FEW_HIGH_RISK", 0)
    for rule in ("add_quick_plan", "add_unchanged", "add_clusters", "add_recodings"):
        monkeypatch.setattr(f"discreet.selection.starts.classes.{rule}", lambda starts, *_, **__: None)
    selection = discreet.select(hopeless(), trials=4, seed=3)
    assert selection.frontier
    assert selection.tried > 4
    assert not any(step.method.startswith("targeted") for step in selection.plan.steps)
    assert any("too many to lower the risk of one by one" in sentence for sentence in selection.sentences)


def test_a_plan_that_must_change_most_records_is_given_up_unless_they_are_few_or_the_evaluator_is_patient(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = small(300)
    plan = Policy.from_dict({"plan": {"steps": [{"method": "targeted_suppression", "threshold": 0.0}]}}).plan
    data = data.with_policy(data.policy.with_(risk={"known_sets": {"threshold": 0.0}}))
    every = data.with_columns({"felony": pl.Series(["yes"] * 300)})
    assert Evaluator(every, SelectOptions())(plan).error is None
    monkeypatch.setattr("discreet.selection.evaluation.evaluator._FEW_HIGH_RISK", 299)
    assert "too many to lower the risk of one by one" in (Evaluator(every, SelectOptions())(plan).error or "")
    assert Evaluator(every, SelectOptions(), patient=True)(plan).error is None


def test_sensitive_values_are_not_blanked_where_a_blank_weighs_as_much_as_a_value() -> None:
    data = table({"age": [1, 2, 3, 4]}, known={"age": 0.5}, key=["age"], sensitivity={"age": 0.5})
    data = data.with_policy(data.policy.with_(limits={"known_sets.high_risk": 0, "k_anonymity.k": 2}))
    choices = build_space(data.with_policy(add_missing_hierarchies(data)), top=["age"]).choices
    assert "hide" not in choices
    assert not any("sensitive" in str(target) for target in choices["target"])


def test_a_plan_with_targeted_generalization_is_among_the_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[tuple[Plan, Outcome]] = []
    evaluate = Evaluator.__call__

    def recorded(self: Evaluator, plan: Plan, **_: Any) -> Outcome:
        outcome = evaluate(self, plan)  # limits are decided whatever the loss
        tried.append((plan, outcome))
        return outcome

    monkeypatch.setattr(Evaluator, "__call__", recorded)
    monkeypatch.setattr(
        "discreet.selection.evaluation.evaluator._SECONDS_PER_DECISION", 60.0
    )  # not by the clock of a busy machine
    data = small(limits={"known_sets.high_risk": 0})
    known = {**data.policy.risk["known_sets"], "threshold": 2.0}  # within reach if all records agree on every known attribute
    data = data.with_policy(data.policy.with_(judge="release", risk={"known_sets": known}))
    selection = discreet.select(data, trials=16, seed=7)
    outcomes = [outcome for plan, outcome in tried if [step.method for step in plan.steps] == ["targeted_generalization"]]
    # the step lowers the sums over the kept sets; certified over all sets, a few records may stay above the threshold
    before = discreet.risk(data)["known_sets"]["high_risk"]
    assert any(outcome.error is None and outcome.measured["known_sets.high_risk"] < before / 10 for outcome in outcomes)
    assert selection.met
