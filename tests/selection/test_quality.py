"""The wizard finds what a statistician would find: plans that spread their loss, leave protected keys alone, and run."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.errors import PolicyError
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.selection.changes import AttributeChange
from discreet.selection.choices import PlanChoice
from discreet.selection.conclusion import assess_best_plan
from discreet.selection.evaluation.evaluator import Evaluator
from discreet.selection.options import SelectOptions
from discreet.selection.outcome import MOST_BLANK, Outcome, TriedPlan
from discreet.selection.proposals import add_missing_hierarchies
from discreet.selection.search.spreading import spread_loss
from discreet.selection.space.build import build_space
from discreet.selection.space.dimensions import Space
from discreet.selection.trials import Trial, TrialReporter
from discreet.selection.wizard import spell_out_losses
from discreet.testing import employees


def read_table(columns: dict[str, Any], limits: dict[str, float], keys: list[str], **select: Any) -> Microdata:
    content = {
        "attributes": {name: {"role": "key"} for name in keys},
        "risk": {limit.partition(".")[0]: {} for limit in limits},
        "limits": limits,
        "select": select,
    }
    return discreet.read(pl.DataFrame(columns), Policy.from_dict(content))


def space_of(data: Microdata, **select: Any) -> Space:
    return build_space(data.with_policy(add_missing_hierarchies(data)), SelectOptions(**select))


def test_no_key_of_a_personnel_table_is_mostly_blank_although_its_keys_are_many_for_its_records() -> None:
    data = employees()
    policy = discreet.analyze(data).policy().with_(risk={"k_anonymity": {}}, limits={"k_anonymity.k": 5})
    data = data.with_policy(policy)
    selection = discreet.select(data, trials=8, seed=7)
    assert len(data.named(Role.KEY)) >= 15
    assert not selection.standing
    assert selection.parts["falsehood"] == 0
    shares = {name: change.suppressed for name, change in selection.changes.items()}
    assert max(shares.values()) <= MOST_BLANK


@pytest.fixture(scope="module")
def protected() -> Microdata:
    rng = np.random.default_rng(3)
    race = rng.choice(["white", "black", "asian", "native"], 300, p=[0.6, 0.26, 0.09, 0.05])
    columns = {"race": race, "age": rng.integers(20, 60, 300), "town": rng.choice(list("abcdefgh"), 300)}
    return read_table(columns, {"k_anonymity.k": 5}, list(columns), protect=["race"], trials=8, seed=1)


def test_a_protected_key_whose_values_are_frequent_enough_does_not_make_k_unreachable(protected: Microdata) -> None:
    trials: list[Trial] = []
    selection = discreet.select(protected, on_trial=trials.append)
    assert not selection.standing
    assert selection.release.masked.frame["race"].equals(protected.frame["race"])
    suppressing = [
        trial for trial in trials if any(step["method"] == "local_suppression" for step in trial.plan.get("steps", ()))
    ]
    assert suppressing
    assert not any(trial.missed or trial.error for trial in suppressing)


def test_the_reasons_say_that_a_protected_key_with_a_rare_value_puts_k_out_of_reach() -> None:
    columns = {"race": ["white"] * 60 + ["native"] * 2, "age": [30, 40] * 31}
    data = read_table(columns, {"k_anonymity.k": 5}, list(columns), protect=["race"], trials=3, seed=1)
    selection = discreet.select(data)
    sentence = "k_anonymity.k 5 is out of reach while race is protected: a value of it has fewer records."
    assert any(reason.startswith(sentence) for reason in selection.sentences)
    assert selection.release.masked.frame["race"].equals(data.frame["race"]), "the closest plan masked the protected key"
    assert not selection.met


def test_what_the_owner_asks_of_columns_counts_beside_the_limits() -> None:
    """A plan that changed a protected column was called met, with exit status 0, because it met every limit."""
    columns = {"race": ["white"] * 60 + ["native"] * 2, "age": [30, 40] * 31}
    data = read_table(columns, {"k_anonymity.k": 5}, list(columns), keep={"race": 1.0}, trials=4, seed=1)
    step = {"method": "local_suppression", "columns": ["race", "age"], "k": 5, "blanks": "category"}
    plan = Policy.from_dict({"plan": {"steps": [step]}}).plan
    options = SelectOptions.from_policy(data.policy)
    evaluate = Evaluator(data.with_policy(spell_out_losses(data.policy, data, options)), options)
    outcome = evaluate(plan)
    assert outcome.missed_conditions == ("keep race",)
    tried = [TriedPlan({}, plan, outcome)]
    space = build_space(evaluate.data, options)
    selection = assess_best_plan(evaluate.data, options, evaluate, tried, [], 0.0, 0.0, TrialReporter(None), space)
    assert selection.assessment.ok
    assert not selection.met
    assert selection.standing == selection.conditions == ("keep race",)


def test_a_class_size_above_the_number_of_records_is_refused() -> None:
    data = read_table({"age": [30, 40] * 20}, {"k_anonymity.k": 50}, ["age"], trials=3, seed=1)
    with pytest.raises(PolicyError, match=r"limits.k_anonymity.k asks for 50, but .* has 40 records; at most 40 can be met"):
        discreet.select(data)


def test_no_plan_fails_on_constant_and_empty_keys() -> None:
    rng = np.random.default_rng(5)
    columns = {
        "constant": [1] * 200,
        "empty": pl.Series([None] * 200, dtype=pl.String),
        "few": pl.Series([1.5] * 3 + [None] * 197),
        "age": rng.integers(0, 90, 200),
    }
    trials: list[Trial] = []
    data = read_table(columns, {"k_anonymity.k": 5}, list(columns), trials=40, seed=2)
    discreet.select(data, on_trial=trials.append)
    assert [trial.error for trial in trials if trial.error is not None] == []


def test_groups_of_near_records_are_offered_as_ranges_where_categories_must_stay_true() -> None:
    columns = {"sex": ["f", "m"] * 50, "age": list(range(100))}
    space = space_of(read_table(columns, {"k_anonymity.k": 5}, list(columns)))
    assert "clusters" in space.choices["finish"]
    assert "microaggregation" not in space.choices["finish"]


def test_a_short_search_does_not_wait_for_the_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    columns = {"sex": ["f", "m"] * 50, "age": list(range(100))}
    data = read_table(columns, {"k_anonymity.k": 5}, list(columns))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert "clusters" not in space_of(data, seconds=15).choices["finish"]
    assert "clusters" in space_of(data, seconds=60).choices["finish"]
    assert "clusters" in space_of(data, trials=3).choices["finish"]
    monkeypatch.setattr("discreet.selection.space.finishes.was_compiled", lambda module: module == "mdav")
    assert "clusters" in space_of(data, seconds=15).choices["finish"]


def test_smaller_classes_are_offered_where_a_blank_agrees_with_any_value() -> None:
    columns = {"sex": ["f", "m"] * 50, "age": list(range(100))}
    by_class = space_of(read_table(columns, {"k_anonymity.k": 12}, list(columns)))
    by_linkage = space_of(read_table(columns, {"target_linkage.max": 0.09}, list(columns)))
    assert min(int(size) for size in by_class.choices["k"]) == 12
    assert min(int(size) for size in by_linkage.choices["k"]) < 12
    assert by_linkage.unchanged_point()["k"] == 12
    assert "blanks" in by_linkage.choices
    assert "blanks" not in by_class.choices


@pytest.mark.parametrize("finish", ["local_suppression", "clusters"])
def test_the_loss_is_spread_by_raising_the_weights_of_keys_that_lose_most(finish: str) -> None:
    columns = {name: list(range(100)) for name in ("a", "b", "c")}
    space = space_of(read_table(columns, {"k_anonymity.k": 5}, list(columns)))
    point = space.unchanged_point() | {"finish": finish}
    shares = {"a": 0.9, "b": 0.0, "c": 0.3}
    changes = {name: AttributeChange(share, share, 0.0, 0.0, 0.0) for name, share in shares.items()}
    spread = spread_loss(space, point, Outcome(0.0, 0.5, changes=changes), random.Random(0))
    assert spread is not None
    assert float(spread["weight:a"]) > 1.0 > float(spread["weight:b"])
    assert {name: value for name, value in spread.items() if not name.startswith("weight:")} == {
        name: value for name, value in point.items() if not name.startswith("weight:")
    }
    assert spread_loss(space, point, Outcome(0.0, 0.0), random.Random(0)) is None
    dropped = point | {f"level:{name}": space.heights[name] for name in ("a", "b")}
    assert spread_loss(space, dropped, Outcome(0.0, 0.5, changes=changes), random.Random(0)) is None


def test_a_choice_is_read_back_as_it_was_written(protected: Microdata) -> None:
    for choice in discreet.select(protected, trials=3).choices:
        again = PlanChoice.from_dict(choice.to_dict())
        assert again.to_dict() == choice.to_dict()
        assert again.number == int(choice.name.split()[1])
