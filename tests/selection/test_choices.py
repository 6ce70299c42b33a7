"""The default objective, the three plans to choose from, and the replay of every plan that meets the limits."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.cli.plans import print_plans
from discreet.errors import DataError, PolicyError
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.selection.changes import AttributeChange
from discreet.selection.choices import choose_plan, three_plans
from discreet.selection.evaluation.evaluator import Evaluator
from discreet.selection.frontier import MapPoint
from discreet.selection.objective import ObjectiveWeights, objective_parts
from discreet.selection.options import SelectOptions
from discreet.selection.outcome import Outcome, TriedPlan
from discreet.selection.reasons import _describe_rivals, _describe_runner_up, _regression_notes
from discreet.selection.recodings import greedy_recodings, needed_class_size
from discreet.selection.results import Selection
from discreet.selection.trials import Trial


def workers(**select: Any) -> Microdata:
    rng = np.random.default_rng(4)
    size = 300
    sex = rng.choice(["f", "m"], size)
    frame = pl.DataFrame(
        {
            "sex": sex,
            "race": rng.choice(["white", "black", "asian", "other"], size, p=[0.6, 0.25, 0.1, 0.05]),
            "town": rng.choice(["Ash", "Brill", "Cove", "Dun", "Ely"], size),
            "age": rng.integers(20, 66, size),
            "pay": 1000 * rng.integers(20, 80, size) + 9000 * (sex == "m"),
        }
    )
    roles = {name: {"role": "key"} for name in ("sex", "race", "town", "age")} | {"pay": {"role": "confidential"}}
    content = {"attributes": roles, "limits": {"k_anonymity.k": 4}, "select": {"trials": 10, "seed": 3} | select}
    return discreet.read(frame, Policy.from_dict(content))


@pytest.fixture(scope="module")
def searched() -> tuple[Microdata, Selection, list[Trial]]:
    data, trials = workers(analyses=["pay ~ sex + age"]), []
    return data, discreet.select(data, on_trial=trials.append), trials


def tried(loss: float, risk: float, falsehood: float, changed: float = 0.1, **fields: Any) -> TriedPlan:
    parts = {"information": loss, "falsehood": falsehood, "associations": 0.0}
    changes = {"age": AttributeChange(0.1, 0.0, changed, falsehood, 0.0)}
    plan = Policy.from_dict({"plan": {"steps": [{"method": "rounding", "columns": ["age"], "base": 1 + loss}]}}).plan
    return TriedPlan({}, plan, Outcome(risk, loss, parts=parts, changes=changes, **fields))


def test_the_three_plans_are_the_best_by_loss_by_truth_and_by_risk() -> None:
    named = {
        "plan 1": tried(0.1, 9.0, 0.5), "plan 2": tried(0.3, 8.0, 0.0, 0.2), "plan 3": tried(0.4, 1.0, 0.0, 0.9),
        "plan 4": tried(0.01, 0.5, 0.0, missed={"k_anonymity.k": 0.5}),
        "plan 5": tried(0.01, 0.1, 0.0, blank=0.9, blank_keys=1.0),
    }  # fmt: skip
    choices = three_plans(named, SelectOptions(), 10.0)
    assert [(choice.title, choice.name) for choice in choices] == [
        ("least loss", "plan 1"), ("most truthful", "plan 2"), ("safest", "plan 3"),
    ]  # fmt: skip
    assert choose_plan(list(named.values()), SelectOptions(), 10.0, "safest") is named["plan 3"]
    assert three_plans({"plan 4": named["plan 4"]}, SelectOptions(), 10.0) == ()


def test_one_plan_that_is_best_in_every_way_is_described_once() -> None:
    choices = three_plans({"plan 1": tried(0.1, 0.1, 0.0)}, SelectOptions(), 1.0)
    assert [choice.sentences for choice in choices[1:]] == [("The same plan as least loss.",)] * 2
    assert choices[0].sentences[0].startswith("age: of its values 10 % coarser, which loses 10 % of its information")


def test_the_objective_punishes_one_ruined_attribute_among_many_that_are_kept() -> None:
    rng = np.random.default_rng(1)
    kept = {f"c{number}": rng.integers(0, 5, 200) for number in range(40)}
    data = discreet.read(pl.DataFrame({"stay": rng.integers(0, 2, 200), **kept}), {"attributes": {"stay": {"role": "key"}}})
    data = data.with_policy(data.policy.with_(limits={"k_anonymity.k": 2}, loss={"ncp": {"attributes": data.columns}}))
    perturbed = {"plan": {"steps": [{"method": "pram", "columns": ["stay"], "retention": 0.5}], "seed": 1}}
    outcome = Evaluator(data, SelectOptions())(Policy.from_dict(perturbed).plan)
    assert outcome.error is None, outcome.error
    assert outcome.measured["ncp.loss"] is not None
    assert outcome.measured["ncp.loss"] < 0.02
    assert outcome.loss > 5 * outcome.measured["ncp.loss"]


def test_the_objective_follows_from_the_losses_that_assess_prints(searched: tuple[Microdata, Selection, list[Trial]]) -> None:
    _, selection, _ = searched
    losses = {name: score.summary for name, score in selection.assessment.losses.items()}
    information = (losses["ncp"]["loss"] + losses["ncp"]["worst"]) / 2
    falsehood = (losses["falsehood"]["loss"] + losses["falsehood"]["worst"]) / 2
    associations = (losses["associations"]["loss"] + min(1.0, losses["associations"]["effect"])) / 2
    assert selection.loss == pytest.approx((information + falsehood + associations) / 3, rel=1e-12)
    weighted = ObjectiveWeights(information=2, falsehood=0, associations=1)
    parts = objective_parts(selection.assessment.losses, 0.0)
    assert weighted.combine(parts) == pytest.approx((2 * information + associations) / 3)


def test_the_reasons_say_what_was_given_up_attribute_by_attribute(searched: tuple[Microdata, Selection, list[Trial]]) -> None:
    _, selection, _ = searched
    given_up = [sentence for sentence in selection.sentences if sentence.startswith("Given up: ")]
    for name in selection.changes:
        assert any(sentence.startswith(f"Given up: {name}: of its values ") for sentence in given_up)
    assert any("pay ~ sex + age: effect of sex=" in sentence for sentence in given_up)
    assert any("the mean of information, falsehood and associations" in sentence for sentence in selection.sentences)


def test_every_plan_that_meets_the_limits_is_replayed_from_its_file_with_the_same_numbers(
    searched: tuple[Microdata, Selection, list[Trial]], tmp_path: Path
) -> None:
    data, selection, trials = searched
    meeting = [trial for trial in trials if trial.kept and trial.whole]
    assert len(meeting) >= 3
    file = tmp_path / "replayed.yaml"
    for trial in meeting:
        file.write_text(selection.policy.with_(plan=Policy.from_dict({"plan": dict(trial.plan)}).plan).to_yaml())
        original = discreet.read(data.frame, file)
        first, second = discreet.mask(original), discreet.mask(original)
        assert first.masked.frame.equals(second.masked.frame), trial.plan
        assessment = discreet.assess(original, first)
        measured = {verdict.limit: verdict.found for verdict in assessment.verdicts}
        assert measured["k_anonymity.k"] == trial.risks["k_anonymity.k"], trial.plan
        for name, value in trial.losses.items():
            measure, field = name.split(".")
            assert assessment.losses[measure].summary[field] == pytest.approx(value, rel=1e-12, abs=1e-12), (name, trial.plan)
    file.write_text(selection.to_yaml())
    assert discreet.mask(discreet.read(data.frame, file)).masked.frame.equals(selection.release.masked.frame)


def test_each_of_the_three_plans_can_be_run(searched: tuple[Microdata, Selection, list[Trial]]) -> None:
    data, selection, _ = searched
    for choice in selection.choices:
        release = discreet.mask(discreet.read(data.frame, selection.policy_with(choice.title)))
        keys = release.masked.frame.group_by("sex", "race", "town", "age").len()["len"]
        assert keys.min() == choice.measured["k_anonymity.k"] >= 4
    with pytest.raises(DataError, match="the search has no plan 'saftest'; did you mean 'safest'"):
        selection.choice("saftest")


def test_the_preferred_plan_is_the_one_that_is_written() -> None:
    selection = discreet.select(workers(trials=6), prefer="safest")
    assert selection.plan == selection.choice("safest").plan
    assert any("it is the safest" in sentence for sentence in selection.sentences)


def test_why_a_plan_is_dominated_is_said_with_numbers(searched: tuple[Microdata, Selection, list[Trial]]) -> None:
    _, selection, _ = searched
    points = {point.name: point for point in selection.placed}
    assert selection.dominated
    for name, better in selection.dominated.items():
        assert points[better].kept
        assert (points[better].risk, points[better].loss) != (points[name].risk, points[name].loss)
        assert points[better].risk <= points[name].risk
        assert points[better].loss <= points[name].loss
        assert selection.explain_dominated()[name].startswith(f"{better} has a ")


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ({"analyses": ["pay on sex"]}, "'pay on sex' is not of the form"),
        ({"prefer": "fastest"}, "prefer"),
        ({"objective": {"information": 0, "falsehood": 0, "associations": 0}}, "at least one part must have a weight"),
    ],
)
def test_a_wrong_option_names_itself(select: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        discreet.select(workers(**select))


def test_a_limit_that_is_undecided_is_not_narrowed_for_a_plan_that_loses_more_than_the_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = {name: {"role": "key", "known": 0.3} for name in ("sex", "race", "town", "age")}
    attributes = known | {"pay": {"role": "confidential", "sensitivity": 1.0}}
    content = {"attributes": attributes, "risk": {"known_sets": {"epsilon": 0.2}}, "limits": {"known_sets.high_risk": 300}}
    data = workers()
    data = data.with_policy(Policy.from_dict(content))
    evaluate = Evaluator(data, SelectOptions())
    narrowed: list[bool] = []
    complete = Evaluator._with_informed

    def recorded(self: Evaluator, evidence: Any, masked: Microdata, *, narrow: bool = True) -> Any:
        narrowed.append(narrow)
        return complete(self, evidence, masked, narrow=narrow)

    monkeypatch.setattr(Evaluator, "_with_informed", recorded)
    plan = Policy.from_dict({"plan": {"steps": [{"method": "rounding", "columns": ["age"], "base": 10}]}}).plan
    free, late = evaluate(plan), evaluate(plan, loss_to_beat=0.0)
    assert narrowed == [True, False]
    assert free.loss == late.loss
    assert not late.meets_limits or free.meets_limits


def test_classes_are_as_large_as_a_limit_on_linkage_asks_for() -> None:
    assert needed_class_size(Policy.from_dict({"limits": {"target_linkage.max": 0.09}})) == 12
    assert needed_class_size(Policy.from_dict({"limits": {"target_linkage.max": 0.2, "k_anonymity.k": 3}})) == 5
    selection = discreet.select(
        workers(trials=8).with_policy(workers().policy.with_(limits={"target_linkage.max": 0.09})), trials=8
    )
    assert selection.met


def test_recodings_grow_coarser_and_leave_protected_keys_alone() -> None:
    data = workers()
    heights = {"sex": 1, "race": 1, "town": 1, "age": 1}
    recodings = greedy_recodings(data, list(heights), heights, 5, protected=["race"])
    assert len(recodings) >= 2
    assert all("race" not in recoding for recoding in recodings)
    for finer, coarser in pairwise(recodings):
        assert all(coarser.get(name, 0) >= level for name, level in finer.items())


def test_the_closest_plan_is_the_one_that_is_closest_on_risk_not_the_table_as_it_is() -> None:
    """With a limit on loss beside one on k, the unmasked table was called the closest plan although 53 plans met k."""
    as_it_is = Outcome(0.0, 0.0, missed={"k_anonymity.k": 0.99})
    safe = Outcome(0.0, 0.6, missed={"ncp.loss": 8.0})
    safer_column = Outcome(0.0, 0.6, missed={"ncp.loss": 8.0, "protect age": 1.0})
    assert Outcome(0.0, 0.9).rank < safe.rank < as_it_is.rank < safer_column.rank, "a protected column is no way out"
    assert safer_column.rank < Outcome(0.0, 1.0, error="cannot run").rank
    data = plain_table({"k_anonymity.k": 20, "ncp.loss": 0.0001})
    selection = discreet.select(data, trials=10, seed=1)
    assert selection.standing == ("ncp.loss",)
    assert selection.plan.steps


def plain_table(limits: dict[str, float]) -> Microdata:
    rng = np.random.default_rng(4)
    frame = pl.DataFrame({"age": rng.integers(20, 60, 300), "zip": rng.integers(0, 30, 300), "income": rng.integers(1, 99, 300)})
    attributes: dict[str, Any] = {"age": {"role": "key"}, "zip": {"role": "key"}, "income": {"role": "confidential"}}
    return discreet.read(frame, Policy.from_dict({"attributes": attributes, "limits": limits}))


def test_the_reasons_say_why_plans_with_less_loss_were_not_chosen() -> None:
    def tried(loss: float, *methods: str, **changes: Any) -> TriedPlan:
        steps = [{"method": method} for method in methods]
        return TriedPlan({}, Policy.from_dict({"plan": {"steps": steps}}).plan, Outcome(1.0, loss, **{"gaps": 0} | changes))

    chosen, open_plan = tried(0.3, "rounding"), tried(0.1, "noise", gaps=2)
    blank, unexamined = tried(0.2, "pram", blank=0.9, blank_keys=0.5), tried(0.25, "swapping", gaps=None)
    assert _describe_rivals(chosen, [chosen, tried(0.4)]) == ""
    assert _describe_rivals(chosen, [chosen, open_plan, blank]) == (
        ", apart from those that leave gaps in the evidence or suppress more than 60 % of a key,"
    )
    assert _describe_rivals(chosen, [chosen, unexamined]) == ", apart from those that were not examined for gaps,"
    assert _describe_rivals(tried(0.3, gaps=1), [open_plan]) == "", "the chosen plan has that fault too"
    (sentence,) = _describe_runner_up(chosen, [chosen, open_plan])
    assert sentence.endswith("with a loss of 0.1 and a risk of 1; but it leaves gaps in the evidence.")
    (sentence,) = _describe_runner_up(chosen, [chosen, open_plan, tried(0.4, "recoding")])
    assert "a loss of 0.4 and a risk of 1." in sentence


def test_a_lost_regression_is_said_once_before_its_effects_and_few_of_many_effects_are_listed() -> None:
    notes = tuple(f"y ~ job: effect of job={number}: 1 (0.9 to 1.1) becomes 3 (2 to 4)" for number in range(40))
    summary = {"effect": 2.0, "effects_outside": 39, "effects": 40}
    score = SimpleNamespace(notes=notes, summary=summary)
    sentences = _regression_notes(SimpleNamespace(losses={"associations": score}))  # type: ignore[arg-type]
    assert sentences[0].startswith("the named regressions: 39 of 40 effects lie outside their intervals in the original")
    assert "200 %" in sentences[0]
    assert len(sentences) < 15
    assert sentences[-1].startswith("29 more effects")
    kept = SimpleNamespace(notes=notes[:2], summary=summary | {"effect": 0.1})
    assert _regression_notes(SimpleNamespace(losses={"associations": kept})) == list(notes[:2])  # type: ignore[arg-type]


def test_a_wrong_option_of_the_call_is_not_blamed_on_the_policy_file() -> None:
    policy = Policy.from_dict({"limits": {"k_anonymity.k": 2}, "select": {"seconds": 5}})
    with pytest.raises(PolicyError, match=r"^the options of this call: .*prefer"):
        SelectOptions.from_policy(policy, prefer="truthful")
    with pytest.raises(PolicyError, match=rf"^{policy.origin}: .*seconds"):
        SelectOptions.from_policy(policy.with_(select={"seconds": -5}))


def test_the_safest_plan_says_which_plan_has_less_risk_and_why_it_was_passed_over() -> None:
    """The safest of three plans had 261 classes, and the frontier below it a plan with 16, without a word."""
    plans = {
        f"plan {number}": TriedPlan({}, Plan(), Outcome(risk, loss, blank=blank, blank_keys=float(blank > 0.6), gaps=gaps))
        for number, (risk, loss, blank, gaps) in enumerate([(10.0, 0.2, 0.1, 0), (3.0, 0.4, 0.99, 0), (1.0, 0.5, 0.0, 2)], 1)
    }
    safest = three_plans(plans, SelectOptions(), 20.0)[-1]
    assert (safest.name, safest.sentences[-1]) == ("plan 1", "plan 2 has less risk, but suppresses 99 % of the values of a key.")
    without = {name: plan for name, plan in plans.items() if name != "plan 2"}
    assert not any("less risk" in text for text in three_plans(without, SelectOptions(), 20.0)[-1].sentences)


def test_a_plan_of_which_nobody_looked_for_gaps_is_not_said_to_add_some(capsys: Any) -> None:
    points = (MapPoint("plan 1", 1.0, 0.0, kept=False, gaps_examined=False), MapPoint("plan 2", 0.5, 0.1, kept=False))
    selection = SimpleNamespace(
        choices=(), frontier=points, placed=points, axes=("risk", "loss"), plans={"plan 1": Plan(), "plan 2": Plan()},
        explain_dominated=dict,
    )  # fmt: skip
    print_plans(selection)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("plan ")]
    assert "meets the limits, adds no gaps" in lines[0]
    assert "gaps not examined" in lines[1]
    assert "gaps not examined" not in lines[2]
