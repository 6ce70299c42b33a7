"""What a search does with the whole table after it searched a sample: a plan to fall back on, columns left, scores used again."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from optuna.storages import InMemoryStorage

import discreet
from discreet.assessment.known_scores import KnownScores
from discreet.assessment.release import assess_release
from discreet.engine.runtime.progress import report_progress, stop_after
from discreet.losses.associations.measure import Associations
from discreet.losses.falsehood import Falsehood
from discreet.losses.ncp.measure import Ncp
from discreet.masking.generate import generate
from discreet.masking.local_suppression.method import LocalSuppression
from discreet.masking.targeted_suppression.method import TargetedSuppression
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.risks.coverage.measure import Coverage
from discreet.risks.k_anonymity.measure import KAnonymity
from discreet.selection.evaluation.evaluator import Evaluator
from discreet.selection.gaps.leaving import points_with_columns_left
from discreet.selection.options import SelectOptions
from discreet.selection.outcome import Outcome, TriedPlan
from discreet.selection.proposals import add_missing_hierarchies
from discreet.selection.search.budget import Budget
from discreet.selection.search.search import Search
from discreet.selection.search.storage import open_storage
from discreet.selection.space.build import build_space
from discreet.selection.space.dimensions import AS_IT_IS, DROPPED, WITH_KEYS, Space
from discreet.selection.space.prepare import prepare_space
from discreet.selection.steps.build import build_plan
from discreet.selection.trials import Trial
from discreet.selection.wizard import _share_of_sample, spell_out_losses

LIMITS = {"k_anonymity.k": 3.0, "l_diversity.l": 1.0, "target_linkage.max": 0.9}


def make_table(**sections: Any) -> Microdata:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"age": rng.integers(18, 60, 400), "zip": rng.integers(0, 10, 400), "income": rng.choice(["low", "mid", "high"], 400)}
    )
    attributes: dict[str, Any] = {"age": {"role": "key"}, "zip": {"role": "key"}, "income": {"role": "confidential"}}
    return discreet.read(frame, Policy.from_dict({"attributes": attributes, **sections}))


def make_plan(*steps: dict[str, Any], k: int = 3) -> Plan:
    suppression = {"method": "local_suppression", "columns": ["age", "zip"], "k": k, "blanks": "category"}
    return Policy.from_dict({"plan": {"seed": 4, "steps": [suppression, *steps]}}).plan


def run_search(monkeypatch: Any, finish: str) -> list[list[int]]:
    """For each plan on the whole table the k of its local suppression: one plan is confirmed, and k = 10 is the fallback."""
    monkeypatch.setattr("discreet.selection.wizard.starting_points", lambda space, *_: [space.unchanged_point()])
    monkeypatch.setattr("discreet.selection.wizard.points_if_none_meets_limits", lambda _: [])

    def confirm(tried: Any, _: Any) -> Any:
        point = tried[0].point | {"k": 5}
        return [point | {"finish": finish}], point | {"finish": "local_suppression", "k": 10}

    monkeypatch.setattr("discreet.selection.wizard.points_to_confirm", confirm)
    trials: list[Trial] = []
    discreet.select(make_table(limits={"k_anonymity.k": 5}), trials=6, sample=100, seed=2, on_trial=trials.append)
    plans = [trial.plan.get("steps", ()) for trial in trials if trial.whole]
    return [[step["k"] for step in steps if step["method"] == "local_suppression"] for steps in plans]


def test_the_fallback_is_tried_next_if_the_first_plan_misses_the_limits(monkeypatch: Any) -> None:
    assert run_search(monkeypatch, "none")[:2] == [[], [10]]


def test_after_a_plan_that_was_stopped_the_best_point_of_another_finish_is_tried_and_not_the_fallback(monkeypatch: Any) -> None:
    """Of 299,285 records groups of near records were stopped, and the fallback, with a key blank, took the rest of the time."""
    data = make_table(limits={"k_anonymity.k": 5})
    space = build_space(data.with_policy(add_missing_hierarchies(data)))
    point = space.unchanged_point()
    starts = [point | {"finish": "clusters", "k": k} for k in (5, 10)] + [point | {"finish": "partition"}]
    evaluate = Evaluator(data, SelectOptions(), patient=True)
    outcomes = iter(
        [Outcome(1.0, 1.0, error="it was stopped after 18 seconds"), Outcome(1.0, 0.2, gaps=0), Outcome(1.0, 0.3, gaps=0)]
    )
    monkeypatch.setattr(Search, "_evaluate_in_time", lambda *_: next(outcomes))
    search = Search(
        "whole table", space, lambda space, point: build_plan(data, space, point), evaluate, open_storage(None),
        limits=("k_anonymity.k",), seed=1, fingerprint="", after_sample=True,
    )  # fmt: skip
    tried = search.run(Budget(3, None), starts, point | {"finish": "local_suppression"})
    assert [plan.point["finish"] for plan in tried] == ["clusters", "partition", "clusters"]


def test_nothing_is_fallen_back_on_if_the_first_plan_meets_the_limits(monkeypatch: Any) -> None:
    first, second, *_ = run_search(monkeypatch, "local_suppression")
    assert first == [5]
    assert second != [10]


def count_calls(measure: Any, names: list[str]) -> Any:
    """The method of a measure, which writes down whose it is."""
    return lambda self, *rest, **options: names.append(self.name) or measure(self, *rest, **options)


@pytest.mark.parametrize("judge", ["both", "release"])
def test_an_assessment_with_known_scores_is_the_same_as_one_that_measures(judge: str, monkeypatch: Any) -> None:
    options = SelectOptions()
    data = make_table(limits=LIMITS, judge=judge)
    data = data.with_policy(spell_out_losses(data.policy, data, options))
    evaluate = Evaluator(data, options)
    plan = make_plan()
    assert evaluate(plan).error is None
    release = generate(data.with_policy(data.policy.with_(plan=plan)), plan)
    known = evaluate.known_scores(release)
    assert known is not None
    assert evaluate.knows_scores
    expected = assess_release(release.original, release)
    measured: list[str] = []
    for kind in (KAnonymity, Coverage, Ncp, Falsehood, Associations):
        monkeypatch.setattr(kind, "measure", count_calls(kind.measure, measured))
    assessment = assess_release(release.original, release, known=known)
    assert measured == ["coverage"], "of the original"
    assert known.loss(Ncp(attributes=("age",))) is None, "another measure"
    assert assessment.verdicts == expected.verdicts
    assert assessment.gaps == expected.gaps
    assert assessment.to_dict() == expected.to_dict()


@pytest.mark.parametrize("steps", [(), ({"method": "noise", "columns": ["age"], "level": 0.1},)])
def test_the_release_that_a_search_keeps_is_the_one_that_the_plan_makes(steps: Any) -> None:
    """Cell by cell, with its log, its warnings and its key, so that the chosen plan need not be run again."""
    options = SelectOptions()
    data = make_table(limits={"target_linkage.max": 1})
    data = data.with_policy(spell_out_losses(data.policy, data, options))
    plan = make_plan(*steps)
    evaluate = Evaluator(data, options)
    evaluate(plan)
    kept, expected = evaluate.release_of(plan), generate(data.with_policy(data.policy.with_(plan=plan)), plan)
    assert kept is not None
    for own, other in [
        (kept.masked, expected.masked),
        (kept.original, expected.original),
        *zip(kept.stages, expected.stages, strict=True),
    ]:
        assert own.frame.equals(other.frame)
        assert own.policy == other.policy
        assert (own.records == other.records).all()
        assert own.cells == other.cells
    assert [replace(entry, seconds=0.0) for entry in kept.log] == [replace(entry, seconds=0.0) for entry in expected.log]
    assert (kept.plan, kept.warnings, kept.draw_key) == (expected.plan, expected.warnings, expected.draw_key)
    assert evaluate.release_of(make_plan(k=4)) is None


def test_a_plan_whose_time_ends_while_gaps_are_looked_for_is_kept_with_its_release(monkeypatch: Any) -> None:
    """Making the log of its release looked at the clock as well, so that the only plan of a large table was lost."""
    data = make_table(limits={"k_anonymity.k": 3})
    options = SelectOptions()
    evaluate = Evaluator(data.with_policy(spell_out_losses(data.policy, data, options)), options)
    deadline = time.monotonic() + 60

    def count(*_: Any) -> Any:
        monkeypatch.setattr(time, "monotonic", lambda: deadline + 1)
        report_progress("looking for gaps", 0, 1)

    monkeypatch.setattr(evaluate.gap_counter, "count", count)
    monkeypatch.setattr(LocalSuppression, "notes", lambda *_: report_progress("notes", 0, 1) or [])
    with stop_after(deadline):
        outcome = evaluate(make_plan())
    assert outcome.meets_limits
    assert outcome.gaps is None
    assert evaluate.release_of(make_plan()) is not None


def test_the_release_of_a_plan_with_a_needless_step_is_kept_and_the_step_is_not_run(monkeypatch: Any) -> None:
    """It took 40 s after the end of a search on 32,561 records in groups of near records."""
    options = SelectOptions()
    known = {"role": "key", "known": 0.3}
    attributes = {"age": known, "zip": known, "income": {"role": "confidential", "sensitivity": 0.9}}
    risk = {"known_sets": {"threshold": 1e6}}
    data = make_table(attributes=attributes, limits={"known_sets.high_risk": 0}, risk=risk)
    data = data.with_policy(spell_out_losses(data.policy, data, options))
    plan = make_plan({"method": "targeted_suppression"})
    expected = generate(data.with_policy(data.policy.with_(plan=plan)), plan)
    monkeypatch.setattr(TargetedSuppression, "mask", lambda *_: pytest.fail("the step was run"))
    evaluate = Evaluator(data, options)
    evaluate(plan)
    kept = evaluate.release_of(plan)
    assert kept is not None
    assert kept.masked.frame.equals(expected.masked.frame)
    assert [(entry.step, entry.columns, entry.values_changed) for entry in kept.log] == [
        (entry.step, entry.columns, entry.values_changed) for entry in expected.log
    ]


def test_scores_of_another_table_or_of_another_measure_are_not_used() -> None:
    data = make_table(limits={"k_anonymity.k": 3})
    options = SelectOptions()
    data = data.with_policy(spell_out_losses(data.policy, data, options))
    evaluate = Evaluator(data, options)
    evaluate(make_plan())
    for other in (make_plan(k=4), make_plan({"method": "sampling", "fraction": 0.5})):
        release = generate(data, other)
        assert evaluate.known_scores(replace(release, plan=make_plan())) is None, "another table"
        assert evaluate.known_scores(release) is None
    own = generate(data, make_plan())
    assert evaluate.known_scores(own) is not None
    another = replace(own, plan=make_plan(k=4))
    assert evaluate.known_scores(another) is None, "another plan, whose labels may mean something else"
    score = evaluate.risks["k_anonymity"].measure(data)
    known = KnownScores({"k_anonymity": KAnonymity()}, {"k_anonymity": score}, {"k_anonymity": score})
    assert known.has(KAnonymity(), informed=False)
    assert not known.has(KAnonymity(), informed=True)
    assert not known.has(KAnonymity(keys=("age",)), informed=False)


def test_a_column_that_singles_out_in_the_small_classes_of_a_sample_alone_is_left_as_it_is() -> None:
    """On a sample classes shrink from ten records to two, in which half of the records are alone with their year."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"age": rng.integers(18, 60, 2000), "zip": rng.integers(0, 99, 2000), "year": rng.integers(2019, 2021, 2000)}
    )
    policy = Policy.from_dict({"attributes": {"age": {"role": "key"}, "zip": {"role": "key"}}, "limits": {"k_anonymity.k": 10}})
    sample, options = discreet.read(frame, policy), SelectOptions()
    sample = sample.with_policy(spell_out_losses(sample.policy, sample, options))
    space = prepare_space(sample, options, (), Evaluator(sample, options, scale=0.1), InMemoryStorage())
    assert not space.companions


def test_the_unmasked_table_is_measured_only_if_a_plan_leaves_gaps(monkeypatch: Any) -> None:
    data, options = make_table(limits={"k_anonymity.k": 3}), SelectOptions()
    data = data.with_policy(spell_out_losses(data.policy, data, options))
    measured: list[str] = []
    monkeypatch.setattr(Coverage, "measure", count_calls(Coverage.measure, measured))
    outcome = Evaluator(data, options)(make_plan())
    assert outcome.gaps == 0
    assert measured == ["coverage"]


def test_limits_on_bounds_are_measured_again_at_the_end() -> None:
    """A search narrows bounds for two seconds, an assessment for a minute."""
    attributes = {name: {"role": "key", "known": 0.5} for name in ("age", "zip")}
    data = make_table(limits={"known_sets.below_5": 0})
    data = data.with_policy(
        data.policy.with_(attributes={**data.policy.attributes, **Policy.from_dict({"attributes": attributes}).attributes})
    )
    data = data.with_policy(spell_out_losses(data.policy, data, SelectOptions()))
    assert not Evaluator(data, SelectOptions()).knows_scores


def test_gaps_of_the_best_plan_are_looked_for_without_running_it_again(monkeypatch: Any) -> None:
    data = make_table(limits={"k_anonymity.k": 3})
    options = SelectOptions()
    data = data.with_policy(spell_out_losses(data.policy, data, options))
    evaluate, again = Evaluator(data, options), Evaluator(data, options)
    plan, expected = make_plan(), again(make_plan())
    assert evaluate(plan, is_needless=lambda _: True).gaps is None
    monkeypatch.setattr("discreet.selection.evaluation.evaluator.run_plan", lambda *_: pytest.fail("it ran again"))
    outcome = evaluate.look_for_gaps(plan)
    assert (outcome.gaps, outcome.gap_columns, outcome.loss) == (expected.gaps, expected.gap_columns, expected.loss)


def make_space() -> Space:
    choices: dict[str, Any] = {"k": [2], "beside:year": [WITH_KEYS, AS_IT_IS], "beside:job": [WITH_KEYS, DROPPED, AS_IT_IS]}
    return Space(choices, frozenset(), ("age",), {}, (), (), companions={"year": (), "job": ("age",)})


def tried(loss: float, year: str, gaps: int | None = None) -> TriedPlan:
    return TriedPlan({"k": 2, "beside:year": year, "beside:job": WITH_KEYS}, Plan(), Outcome(1.0, loss, gaps=gaps))


def test_columns_that_only_single_out_are_left_as_they_are_once_and_only_of_the_best_plan() -> None:
    """Of 171,067 claims the year singled out a sample, and masking it lost a third more."""
    plans = [tried(0.2, WITH_KEYS), tried(0.1, WITH_KEYS)]
    assert list(points_with_columns_left(make_space(), plans)) == [plans[1].point | {"beside:year": AS_IT_IS}]
    assert not list(points_with_columns_left(make_space(), plans[:1])), "the first plan may lose far more than others"
    assert not list(points_with_columns_left(make_space(), [*plans, tried(0.05, AS_IT_IS, gaps=1)])), "it leaves gaps"
    assert not list(points_with_columns_left(make_space(), [*plans, tried(0.05, AS_IT_IS, gaps=0)])), "it is the best"


def test_columns_are_left_in_the_best_plan_of_each_finish_that_loses_little_more() -> None:
    plans = [
        TriedPlan({"finish": finish, "k": 2, "beside:year": year, "beside:job": WITH_KEYS}, Plan(), Outcome(1.0, loss))
        for finish, year, loss in [
            ("clusters", AS_IT_IS, 0.06), ("clusters", WITH_KEYS, 0.062), ("balanced_partition", WITH_KEYS, 0.065),
            ("balanced_partition", WITH_KEYS, 0.07), ("partition", WITH_KEYS, 0.2),
        ]
    ]  # fmt: skip
    assert list(points_with_columns_left(make_space(), plans)) == [plans[2].point | {"beside:year": AS_IT_IS}]


def test_gaps_of_one_finish_do_not_keep_columns_from_being_left_in_another() -> None:
    """Near records of 171,067 claims were singled out by the year, balanced ranges were not, and lost less without it."""
    plans = [
        TriedPlan({"finish": finish, "k": 2, "beside:year": year, "beside:job": WITH_KEYS}, Plan(), Outcome(1.0, loss, gaps=gaps))
        for finish, year, loss, gaps in [
            ("clusters", AS_IT_IS, 0.048, 1), ("clusters", WITH_KEYS, 0.05, 0), ("balanced_partition", WITH_KEYS, 0.065, 0),
        ]
    ]  # fmt: skip
    assert list(points_with_columns_left(make_space(), plans)) == [plans[2].point | {"beside:year": AS_IT_IS}]


def test_the_time_of_the_sample_does_not_shrink_because_code_was_loaded_first() -> None:
    evaluate: Any = SimpleNamespace(seconds_to_measure=5.0, time_again=lambda _: setattr(evaluate, "seconds_to_measure", 0.1))
    assert _share_of_sample(SelectOptions(seconds=60), evaluate, 0.1) == 0.5
    slow: Any = SimpleNamespace(seconds_to_measure=5.0, time_again=lambda _: None)
    assert _share_of_sample(SelectOptions(seconds=60), slow, 0.1) == 0.25


def test_a_measurement_that_takes_too_long_is_not_made_twice() -> None:
    data = make_table(limits=LIMITS)
    data = data.with_policy(spell_out_losses(data.policy, data, SelectOptions()))
    evaluate = Evaluator(data, SelectOptions())
    evaluate.measuring = evaluate.measuring_informed = 1000.0
    evaluate.time_again(-1.0)
    assert evaluate.seconds_to_measure == 2000.0
    evaluate.time_again(600.0)
    assert evaluate.seconds_to_measure < 600.0


def test_less_time_is_reserved_for_the_last_run_where_its_scores_are_known() -> None:
    deadline = time.monotonic() + 100
    known, unknown = Budget(None, deadline, 5.0, scores_known=True), Budget(None, deadline, 5.0)
    assert unknown.search_end(10.0) < known.search_end(10.0) < deadline - 5.0


@pytest.mark.parametrize(("gaps", "plans"), [(0, 2), (3, 1)])
def test_time_is_kept_for_gaps_only_until_the_best_plan_is_known_to_leave_none(monkeypatch: Any, gaps: int, plans: int) -> None:
    """Of 60 seconds on 171,067 records, up to 12 were kept for gaps that were looked for already."""
    data = make_table(limits={"k_anonymity.k": 5})
    space = build_space(data.with_policy(add_missing_hierarchies(data)))
    starts = [space.unchanged_point() | {"finish": "local_suppression", "k": k} for k in (5, 10)]
    outcomes = iter([Outcome(1.0, loss, gaps=gaps, seconds=50.0) for loss in (0.3, 0.2)])
    monkeypatch.setattr(Search, "_evaluate_in_time", lambda *_: next(outcomes))
    search = Search(
        "whole table", space, lambda space, point: build_plan(data, space, point), Evaluator(data, SelectOptions()),
        open_storage(None), limits=("k_anonymity.k",), seed=1, fingerprint="", after_sample=True,
    )  # fmt: skip
    budget = Budget(2, time.monotonic() + 100, reserved=80.0, scores_known=True, settled=10.0)
    assert len(search.run(budget, starts)) == plans
