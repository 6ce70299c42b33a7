"""Which plans of the sample are tried on the whole table of a search with a time limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import discreet
from discreet.model.policy import Plan, Policy
from discreet.selection.confirming import points_to_confirm
from discreet.selection.outcome import Outcome, TriedPlan
from discreet.selection.trials import Trial


def tried(number: int, risk: float, loss: float, seconds: float, *, meets: bool = True) -> TriedPlan:
    return TriedPlan({"k": number}, Plan(), Outcome(risk, loss, missed={} if meets else {"k_anonymity.k": 0.5}, seconds=seconds))


def test_a_plan_that_loses_far_less_is_confirmed_although_it_is_not_among_the_quickest() -> None:
    """On census_income_kdd Mondrian took a little longer than recodings with four times its loss, and was never tried."""
    plans = [tried(1, 2.0, 0.07, 1.1), tried(2, 1.0, 0.27, 0.5), tried(3, 3.0, 0.26, 0.6), tried(4, 0.5, 0.03, 9.0)]
    assert [point["k"] for point in points_to_confirm(plans, 0.8)[0]] == [1, 3, 2]
    assert [point["k"] for point in points_to_confirm(plans, None)[0]] == [4, 1, 3, 2]


def test_the_plan_to_fall_back_on_is_the_safest_quick_one_even_if_its_loss_is_not_among_the_least() -> None:
    plans = [tried(number, 10.0 - number, 0.01 * number, 0.1) for number in range(1, 20)]
    points, fallback = points_to_confirm([*plans, tried(20, 0.5, 0.3, 9.0), tried(21, 0.1, 0.3, 0.1, meets=False)], 1.0)
    assert (points[0], fallback) == ({"k": 1}, {"k": 19})
    assert points_to_confirm([tried(21, 0.1, 0.3, 0.1, meets=False)], 1.0) == ([{"k": 21}], None)


def test_the_best_plan_of_each_finish_is_confirmed_before_the_neighbours_of_the_best() -> None:
    """On 100,000 patients groups of near records were best on the sample, balanced ranges on the whole table, and not tried."""

    def of(finish: str, loss: float, *, meets: bool = True) -> TriedPlan:
        outcome = Outcome(1.0 / (1.0 + loss), loss, missed={} if meets else {"k_anonymity.k": 0.5})
        return TriedPlan({"finish": finish, "loss": loss}, Plan(), outcome)

    groups = [of("clusters", 0.01 * number) for number in range(1, 15)]
    others = [of("partition", 0.5), of("balanced_partition", 0.3), of("none", 0.0, meets=False)]
    confirmed = [(point["finish"], point["loss"]) for point in points_to_confirm([*groups, *others], None)[0]]
    assert confirmed[:4] == [("clusters", 0.01), ("balanced_partition", 0.3), ("partition", 0.5), ("clusters", 0.02)]
    assert ("none", 0.0) not in confirmed


def test_another_way_to_lower_single_risks_is_confirmed_before_other_classes() -> None:
    """Of 100,000 patients one missed the limit after coarsening, and suppression, the next best, came after all classes."""

    def of(finish: str, target: str, loss: float) -> TriedPlan:
        return TriedPlan({"finish": finish, "target": target}, Plan(), Outcome(1.0, loss))

    plans = [
        of("none", "coarsen", 0.001),
        of("clusters", "none", 0.01),
        of("none", "suppress", 0.005),
        of("partition", "none", 0.1),
    ]
    confirmed = [(point["finish"], point["target"]) for point in points_to_confirm(plans, None)[0]]
    assert confirmed == [("none", "coarsen"), ("none", "suppress"), ("clusters", "none"), ("partition", "none")]


def test_the_plan_that_a_finish_began_with_is_confirmed_before_neighbours_of_the_best() -> None:
    """On 100,000 patients balanced ranges with weights tuned on the sample lost more than those without weights."""

    def of(finish: str, loss: float, *, meets: bool = True) -> TriedPlan:
        outcome = Outcome(1.0, loss, missed={} if meets else {"k_anonymity.k": 0.5})
        return TriedPlan({"finish": finish, "loss": loss}, Plan(), outcome)

    begun = [of("clusters", 0.001, meets=False), of("clusters", 0.014), of("balanced_partition", 0.012), of("partition", 0.05)]
    tuned = [of("clusters", 0.01), of("clusters", 0.011), of("balanced_partition", 0.011), of("partition", 0.04)]
    confirmed = [(point["finish"], point["loss"]) for point in points_to_confirm([*begun, *tuned], None)[0]]
    assert confirmed[:5] == [
        ("clusters", 0.01), ("balanced_partition", 0.011), ("partition", 0.04),
        ("clusters", 0.014), ("balanced_partition", 0.012),
    ]  # fmt: skip
    assert confirmed[5] == ("clusters", 0.011), "partition is far behind, so what it began with is no better than a neighbour"


def test_a_plan_that_blanks_a_key_is_not_confirmed_only_because_it_has_another_finish() -> None:
    """On 171,067 claims it took the time of a plan that could have been chosen."""
    groups = [TriedPlan({"finish": "clusters", "k": k}, Plan(), Outcome(1.0, 0.01 * k)) for k in range(1, 15)]
    blanking = TriedPlan({"finish": "local_suppression", "k": 2}, Plan(), Outcome(1.0, 0.2, blank=0.9))
    assert blanking.point not in points_to_confirm([*groups, blanking], None)[0]
    all_blank = [TriedPlan(plan.point, Plan(), Outcome(1.0, plan.outcome.loss, blank=0.9)) for plan in groups]
    assert points_to_confirm([*all_blank, blanking], None)[0][1] == blanking.point


def test_a_slow_plan_that_keeps_every_key_comes_before_quick_ones_that_blank_one() -> None:
    """On 299,285 census records that another program slowed down, Mondrian was not tried, and a key was 100 % blank."""
    blank = [TriedPlan({"k": k}, Plan(), Outcome(1.0, 0.2 + 0.01 * k, blank=0.9, seconds=0.1)) for k in range(1, 9)]
    for seconds in (1.5, 3.0, 9.0):
        points, fallback = points_to_confirm([*blank, tried(20, 2.0, 0.1, seconds)], 1.0)
        assert (points[0], fallback) == ({"k": 20}, {"k": 1})


def test_coarse_plans_are_tried_on_the_whole_table_if_none_meets_the_limits_of_the_sample(monkeypatch: Any) -> None:
    """A sample has smaller classes than the table, so that limits may be met on the table alone."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"age": rng.integers(18, 90, 400), "zip": rng.integers(0, 30, 400), "income": rng.random(400)})
    attributes: dict[str, Any] = {"age": {"role": "key"}, "zip": {"role": "key"}, "income": {"role": "confidential"}}
    data = discreet.read(frame, Policy.from_dict({"attributes": attributes, "limits": {"k_anonymity.k": 3}}))
    # the sample search tries two plans that change nothing: what it learns is that no plan meets the limits
    monkeypatch.setattr("discreet.selection.wizard.starting_points", lambda space, *_: [space.unchanged_point()])
    trials: list[Trial] = []
    selection = discreet.select(data, trials=4, sample=100, seed=2, on_trial=trials.append)
    on_sample = [trial for trial in trials if not trial.whole]
    assert on_sample
    assert not any(trial.kept for trial in on_sample)
    first = next(trial for trial in trials if trial.whole)
    assert any(step["method"] in ("generalization", "local_suppression") for step in first.plan["steps"])
    assert selection.met


def test_a_plan_that_will_not_be_stopped_comes_before_a_slow_one_that_is_better_on_the_sample() -> None:
    """On 171,067 claims groups of near records were stopped on the whole table, and no time was left for Mondrian."""
    plans = [tried(1, 1.0, 0.17, 0.5), tried(2, 2.0, 0.07, 1.2), tried(3, 3.0, 0.03, 2.2), tried(4, 3.0, 0.02, 9.0)]
    assert [point["k"] for point in points_to_confirm(plans, 1.0)[0]] == [2, 3, 1]


def test_a_plan_is_not_called_slow_because_the_first_plan_of_a_search_loads_compiled_code() -> None:
    """Mondrian took 1.1 s as the first plan and 0.6 s after that; groups of near records came first and were stopped."""

    def tried(finish: str, k: int, loss: float, seconds: float) -> TriedPlan:
        return TriedPlan({"finish": finish, "k": k}, Plan(), Outcome(1.0, loss, seconds=seconds))

    first, later = tried("partition", 5, 0.1, 1.6), tried("partition", 7, 0.2, 0.9)
    near = tried("clusters", 5, 0.05, 1.7)
    points, _ = points_to_confirm([first, later, near], 1.0)
    assert points[0] == first.point
    points, _ = points_to_confirm([first, near], 1.0)
    assert points[0] == near.point, "without a quicker one both are slow"
