"""The wizard keeps categories true, protects what the owner names, keeps its time, and can be interrupted."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.engine.runtime.progress import OutOfTimeError, stop_after
from discreet.errors import PolicyError
from discreet.losses.falsehood import Falsehood
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.selection.options import SelectOptions
from discreet.selection.outcome import Outcome
from discreet.selection.proposals import add_missing_hierarchies
from discreet.selection.space.build import build_space
from discreet.selection.trials import Trial


def employees(limits: dict[str, float] | None = None, **select: Any) -> Microdata:
    rng = np.random.default_rng(9)
    size = 400
    frame = pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], size),
            "race": rng.choice(["white", "black", "asian", "other"], size, p=[0.6, 0.25, 0.1, 0.05]),
            "marital": rng.choice(["single", "married", "divorced"], size),
            "age": rng.integers(20, 66, size),
            "salary": rng.integers(20_000, 200_000, size),
        }
    )
    roles = {name: {"role": "key"} for name in ("sex", "race", "marital", "age")} | {"salary": {"role": "confidential"}}
    content = {
        "attributes": roles,
        "risk": {"k_anonymity": {}},
        "limits": limits or {"k_anonymity.k": 5},
        "select": {"trials": 14, "seed": 3} | select,
    }
    return discreet.read(frame, Policy.from_dict(content))


def falsehoods(data: Microdata, selection: Any, names: list[str]) -> dict[str, float]:
    score = Falsehood(attributes=tuple(names)).measure(selection.release.original, selection.release.masked)
    assert score.per_attribute is not None
    return dict(score.per_attribute.select("attribute", "loss").iter_rows())


def test_no_plan_that_is_tried_changes_a_category() -> None:
    data = employees()
    plans: list[Trial] = []
    selection = discreet.select(data, on_trial=plans.append)
    assert selection.met
    assert len(plans) >= 14
    assert set(falsehoods(data, selection, ["sex", "race", "marital"]).values()) == {0.0}
    steps = [step for trial in plans for step in trial.plan.get("steps", ()) if len(step.get("columns") or ()) > 1]
    assert steps
    assert all(step.get("publish") == "ranges" for step in steps if step["method"] == "microaggregation")


def finishes(data: Microdata, **select: Any) -> list[Any]:
    complete = data.with_policy(add_missing_hierarchies(data))
    return list(build_space(complete, SelectOptions(**select)).choices["finish"])


def test_perturbation_is_offered_only_where_the_owner_allows_it() -> None:
    data = employees()
    assert "microaggregation" not in finishes(data)
    assert "microaggregation" in finishes(data, truthful=False)
    assert "microaggregation" in finishes(data, allow=("microaggregation",))
    numbers = Microdata(data.frame.select("age", "salary"), Policy.from_dict({"attributes": {"age": {"role": "key"}}}))
    assert "microaggregation" in finishes(numbers)


def test_a_protected_column_is_never_changed() -> None:
    data = employees({"k_anonymity.k": 2}, protect=["race"])
    selection = discreet.select(data)
    assert selection.release.masked.frame["race"].to_list() == data.frame["race"].to_list()


def test_what_must_stay_usable_is_not_suppressed() -> None:
    data = employees({"k_anonymity.k": 12}, keep={"marital": 0.95})
    selection = discreet.select(data)
    column = selection.release.masked.frame["marital"]
    assert (column.is_not_null() & (column != "*").fill_null(value=False)).mean() >= 0.95


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ({"protect": ["rase"]}, "select.protect names 'rase', which is no column; did you mean 'race'"),
        ({"keep": {"rase": 0.5}}, "select.keep names 'rase', which is no column"),
        ({"allow": ["swaping"]}, "select.allow names 'swaping', which is not a perturbative method"),
        ({"keep": {"race": 2}}, "keep"),
    ],
)
def test_a_wrong_option_is_an_error(select: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        discreet.select(employees(**select))


def test_a_plan_that_suppresses_most_of_a_key_ranks_behind_all_that_do_not() -> None:
    blank = Outcome(risk=0.1, loss=0.1, blank=0.9)
    coarse = Outcome(risk=0.1, loss=0.7, blank=0.2)
    assert coarse.rank < blank.rank
    assert blank.rank < Outcome(risk=0.1, loss=0.2, blank=0.9).rank


def test_ages_stay_whole_numbers() -> None:
    data = employees()
    step = {"method": "balanced_partition", "columns": ["sex", "age"], "criterion": "records", "k": 7, "publish": "means"}
    for whole in (True, False):
        plan = Policy.from_dict({"plan": {"steps": [step | {"whole": whole}]}}).plan
        column = discreet.mask(data.with_policy(data.policy.with_(plan=plan))).masked.frame["age"]
        assert column.dtype.is_integer() == whole
        assert column.min() >= 20
        assert column.max() <= 65


@pytest.mark.parametrize(
    "step",
    [
        {"method": "generalization", "k": 5, "columns": ["sex", "race", "marital", "age"], "suppression_limit": 0.1},
        {"method": "local_suppression", "k": 5, "columns": ["sex", "race", "marital", "age"]},
        {"method": "balanced_partition", "criterion": "records", "k": 5, "columns": ["sex", "age"]},
        {"method": "targeted_suppression", "threshold": 0.5, "alpha": 1, "epsilon": 0},
        {"method": "targeted_generalization", "threshold": 0.5, "alpha": 1, "epsilon": 0},
    ],
)
def test_methods_stop_at_the_deadline(step: dict[str, Any]) -> None:
    known = {name: {"role": "key", "known": 0.6} for name in ("sex", "race", "marital", "age")}
    attributes = known | {"salary": {"role": "confidential", "sensitivity": 1.0}}
    data = employees().with_policy(Policy.from_dict({"attributes": attributes}))
    plan = Policy.from_dict({"plan": {"steps": [step]}}).plan
    data = data.with_policy(add_missing_hierarchies(data).with_(plan=plan))
    from discreet import registry
    from discreet.engine.draws.draw import KeyedDraw

    resolved, method = registry.resolve_step(plan.steps[0], data.policy, origin="test")
    columns = resolved.columns or method.choose(data)
    with pytest.raises(OutOfTimeError), stop_after(time.monotonic() - 1):
        method.mask(data, list(columns), KeyedDraw(1))


def test_an_interrupted_search_keeps_the_best_plan_so_far() -> None:
    trials: list[Trial] = []

    def interrupt(trial: Trial) -> None:
        trials.append(trial)
        if len(trials) == 3:
            raise KeyboardInterrupt

    selection = discreet.select(employees(), on_trial=interrupt)
    assert selection.interrupted
    assert selection.sentences[0].startswith("The search was interrupted after 3 plans")
    assert selection.met


def test_an_interrupt_before_the_first_plan_ends_the_search() -> None:
    from discreet.engine.runtime.progress import progress_listener

    def stop(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with progress_listener(stop), pytest.raises(KeyboardInterrupt):
        discreet.select(employees())


def test_a_budget_that_is_too_short_for_a_plan_still_gives_one() -> None:
    selection = discreet.select(employees(), seconds=0.001)
    assert selection.tried >= 1
    assert [step.method for step in selection.plan.steps]


def test_a_risk_without_a_limit_is_not_measured_in_every_trial() -> None:
    from discreet.selection.evaluation.evaluator import Evaluator
    from discreet.selection.evaluation.measures import default_risk

    data = employees()
    policy = data.policy.with_(risk={"known_sets": {}, "k_anonymity": {}})
    assert default_risk(policy) == "k_anonymity.classes"
    assert set(Evaluator(data.with_policy(policy), SelectOptions(trials=1)).risks) == {"k_anonymity"}
    assert default_risk(policy.with_(limits={"known_sets.mean": 1.0})) == "known_sets.mean"
