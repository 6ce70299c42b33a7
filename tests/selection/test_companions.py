"""Columns beside the keys that would give masked keys back: the wizard masks them too, and says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.selection.evaluation.evaluator import Evaluator
from discreet.selection.gaps.closing import _close_columns_first, close_gaps
from discreet.selection.gaps.counting import GapCounter, Gaps
from discreet.selection.gaps.dropping import points_without_gap_columns
from discreet.selection.options import SelectOptions
from discreet.selection.outcome import Outcome, TriedPlan
from discreet.selection.proposals import add_missing_hierarchies
from discreet.selection.space.beside_keys import with_companions, with_gap_columns
from discreet.selection.space.build import build_space
from discreet.selection.space.dimensions import AS_IT_IS, AVERAGED, DROPPED, IN_RANGES, WITH_KEYS, Space
from discreet.selection.space.prepare import coarsest_point
from discreet.selection.steps.build import build_plan
from discreet.selection.trials import Trial

_JOBS = [f"job {letter}" for letter in "abcdefgh"]


def people(*, limits: dict[str, float] | None = None, **roles: str) -> Microdata:
    """300 people: the code of the job says the job, the household's number and weight say the town."""
    rng = np.random.default_rng(5)
    household = np.sort(rng.integers(0, 100, 300))
    job = rng.choice(8, 300, p=[0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05])
    weight = rng.permutation(100)[household] * 10.0 + 100
    columns: dict[str, Any] = {
        "job": np.array(_JOBS)[job],
        "town": np.array([f"T{number}" for number in rng.integers(0, 12, 100)])[household],
        "age": rng.integers(20, 80, 300),
        "code": 10 + 7 * ((3 * job) % 8),
        "hh": household,
        "w": weight,
        "income": rng.integers(10, 90, 300) * 1000,
    }
    all_roles = {"job": "key", "town": "key", "age": "key", "code": "confidential", "hh": "household", "w": "weight"} | roles
    attributes = {name: {"role": role} | ({"known": 0.5} if role == "key" else {}) for name, role in all_roles.items()}
    attributes["income"] = {"role": "confidential"}
    policy = Policy.from_dict({"attributes": attributes, "limits": limits or {"k_anonymity.k": 3}})
    return discreet.read(pl.DataFrame(columns), policy)


@pytest.fixture(scope="module")
def selection_of_table() -> tuple[discreet.Selection, list[Trial]]:
    trials: list[Trial] = []
    return discreet.select(people(), trials=12, seed=1, on_trial=trials.append), trials


def test_the_chosen_plan_leaves_no_gap_although_columns_beside_the_keys_give_them_back(
    selection_of_table: tuple[discreet.Selection, list[Trial]],
) -> None:
    selection, trials = selection_of_table
    assert selection.met
    assert not selection.assessment.gaps
    assert sum(trial.kept for trial in trials) >= 3
    assert all(trial.gaps == 0 for trial in trials if trial.kept)


def test_a_sentence_says_what_happens_to_each_column_beside_the_keys(
    selection_of_table: tuple[discreet.Selection, list[Trial]],
) -> None:
    selection, _ = selection_of_table
    household = next(sentence for sentence in selection.sentences if sentence.startswith("hh is "))
    assert household == "hh is taken out: released as it is, it would give back masked values of town."
    assert any(sentence.startswith("code is ") and "job" in sentence for sentence in selection.sentences)


def test_no_key_is_blank_because_a_column_beside_it_gives_it_back(
    selection_of_table: tuple[discreet.Selection, list[Trial]],
) -> None:
    selection, _ = selection_of_table
    suppressed = {name: change.suppressed for name, change in selection.changes.items() if name in ("job", "town", "age")}
    assert max(suppressed.values(), default=0.0) <= 0.6


def test_the_written_policy_gives_the_same_release_without_gaps(
    selection_of_table: tuple[discreet.Selection, list[Trial]],
) -> None:
    selection, _ = selection_of_table
    release = discreet.mask(discreet.read(people().frame, selection.policy), selection.plan)
    assert release.masked.frame.equals(selection.release.masked.frame)
    assert discreet.assess(release.original, release).ok


def companions_of(data: Microdata, **options: Any) -> dict[str, list[Any]]:
    """The columns beside the keys that a search would treat, with their choices."""
    from discreet.selection.evaluation.evaluator import Evaluator
    from discreet.selection.proposals import add_missing_hierarchies
    from discreet.selection.search.storage import open_storage
    from discreet.selection.space.prepare import prepare_space

    chosen = SelectOptions(trials=1, **options)
    data = data.with_policy(add_missing_hierarchies(data))
    space = prepare_space(data, chosen, (), Evaluator(data, chosen, secret=b"key"), open_storage(None))
    return {name: list(space.choices[f"beside:{name}"]) for name in space.companions}


def test_a_code_is_masked_with_the_keys_a_household_taken_out_and_a_weight_averaged() -> None:
    assert companions_of(people()) == {
        "code": [WITH_KEYS, DROPPED, AS_IT_IS],
        "hh": [DROPPED, AS_IT_IS],
        "w": [AVERAGED, AS_IT_IS],
    }


def test_what_the_owner_protects_or_measures_is_not_touched() -> None:
    assert "code" not in companions_of(people(), protect=("code",))
    assert companions_of(people(), analyses=("income ~ code + age",))["code"] == [WITH_KEYS, AS_IT_IS]
    space = with_gap_columns(build_space(wages()), wages(), SelectOptions(analyses=("bonus ~ wage",)), ["hired"])
    assert "beside:wage" not in space.choices
    space = with_companions(build_space(wages()), wages(), SelectOptions(analyses=("bonus ~ wage",)), {"wage": ("town",)})
    assert list(space.choices["beside:wage"]) == [AS_IT_IS, WITH_KEYS], "what is analysed is left alone until it shows a gap"
    data = people(limits={"k_anonymity.k": 3, "l_diversity.l": 2})
    data = data.with_policy(data.policy.with_(risk={"l_diversity": {"sensitive": ["code"]}}))
    assert "code" not in companions_of(data)


def test_a_table_without_such_columns_has_the_space_that_it_had() -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"age": rng.integers(20, 60, 200), "sex": rng.choice(["f", "m"], 200), "income": rng.random(200)})
    policy = Policy.from_dict(
        {
            "attributes": {"age": {"role": "key"}, "sex": {"role": "key"}, "income": {"role": "confidential"}},
            "limits": {"k_anonymity.k": 3},
        }
    )
    assert companions_of(discreet.read(frame, policy)) == {}


def test_a_column_beside_a_recoded_key_is_dropped_and_beside_classes_part_of_them() -> None:
    data = people()
    space = with_companions(build_space(data), data, SelectOptions(), {"code": ("job",), "hh": ("town",), "w": ("town",)})
    point = space.unchanged_point()
    assert build_plan(data, space, point).steps == ()
    suppressed = build_plan(data, space, point | {"finish": "local_suppression"}).steps
    assert suppressed[-1].columns == ("job", "town", "age", "code")
    assert [step.method for step in suppressed] == ["remove_identifiers", "microaggregation", "local_suppression"]
    recoded = build_plan(data, space, point | {"finish": "local_suppression", "level:job": space.heights["job"]}).steps
    assert [step.columns for step in recoded if step.method == "global_recoding"] == [("job",), ("code",)]
    assert "code" not in (recoded[-1].columns or ())


def test_a_known_column_beside_the_keys_is_once_in_classes_over_all_known_attributes() -> None:
    data = people(limits={"known_sets.below_5": 0})
    known = data.policy.attributes["code"].model_copy(update={"known": 0.3, "role": Role.OTHER})
    data = data.with_policy(data.policy.with_(attributes={**data.policy.attributes, "code": known}))
    data = data.with_policy(add_missing_hierarchies(data))
    space = with_companions(build_space(data), data, SelectOptions(), {"code": ("job",)})
    assert "local_suppression" in space.finishes_over_known
    point = space.unchanged_point() | {"finish": "local_suppression", "over": "all", "beside:code": WITH_KEYS}
    plan = build_plan(data, space, point)
    assert plan.steps[-1].columns == ("job", "town", "age", "code")
    discreet.mask(data.with_policy(data.policy.with_(plan=plan)))
    dropped = build_plan(data, space, point | {"beside:code": DROPPED})
    assert [step.columns for step in dropped.steps] == [("code",), ("job", "town", "age")]
    # no second recoding, which would find no group for the single value
    recoded = build_plan(data, space, point | {"beside:code": DROPPED, "level:code": 1})
    assert recoded == dropped
    near = build_plan(data, space, point | {"finish": "clusters", "over": "keys", "level:code": space.heights["code"]})
    assert [step.columns for step in near.steps] == [("job", "town", "age", "code")]


def test_averaged_weights_keep_their_total(selection_of_table: tuple[discreet.Selection, list[Trial]]) -> None:
    selection, _ = selection_of_table
    averaged = selection.release.masked.frame["w"]
    assert averaged.sum() == pytest.approx(people().frame["w"].sum())
    assert averaged.value_counts()["count"].min() >= 25


def test_a_resumed_search_has_the_columns_beside_the_keys_that_it_had(tmp_path: Path) -> None:
    whole = discreet.select(people(), trials=6, seed=3)
    file = tmp_path / "journal"
    discreet.select(people(), trials=3, seed=3, resume=file)
    resumed = discreet.select(people(), trials=6, seed=3, resume=file)
    assert resumed.tried == whole.tried
    assert [step.method for step in resumed.plan.steps] == [step.method for step in whole.plan.steps]


def test_gaps_are_closed_at_the_end_where_there_was_no_time_to_look_for_columns_before(monkeypatch: Any) -> None:
    monkeypatch.setattr("discreet.selection.space.prepare._look_for_companions", lambda *_: {})
    selection = discreet.select(people(), trials=3, seed=1)
    assert selection.met
    assert not selection.assessment.gaps
    assert any(step.method == "remove_identifiers" and step.columns == ("hh",) for step in selection.plan.steps)


def test_a_plan_that_cannot_close_its_gaps_says_because_of_which_column() -> None:
    trials: list[Trial] = []
    selection = discreet.select(people(), trials=3, seed=1, protect=["hh"], on_trial=trials.append)
    assert not selection.met
    assert any("leaves gaps in the evidence because of hh" in sentence for sentence in selection.sentences)


def test_the_gaps_of_a_plan_are_closed_where_the_plans_without_gaps_lose_more() -> None:
    """The household gives towns back; without it no gap is left, at less loss than the plan without gaps that was tried."""
    data = people()
    data = data.with_policy(add_missing_hierarchies(data))
    options = SelectOptions()
    space = with_companions(build_space(data), data, options, {"code": ("job",), "hh": ("town",), "w": ("town",)})
    evaluate = Evaluator(data, options)
    open_point = space.unchanged_point() | {"finish": "local_suppression", "beside:hh": AS_IT_IS}
    coarse = coarsest_point(space)
    tried = [
        TriedPlan(point, plan, evaluate(plan)) for point in (open_point, coarse) for plan in [build_plan(data, space, point)]
    ]
    assert tried[0].outcome.gaps
    assert tried[1].outcome.is_acceptable
    closed = close_gaps(tried, space, options, evaluate, None)
    assert closed[-1].outcome.is_acceptable
    assert closed[-1].outcome.loss < tried[1].outcome.loss
    worse = replace(tried[0], outcome=replace(tried[0].outcome, loss=0.99))
    assert close_gaps([worse, closed[-1]], space, options, evaluate, None) == [], "nothing is to be gained"


def test_a_column_is_closed_before_other_steps_change_it() -> None:
    """After them a recoding would find no groups for masked values, and the plan could not run."""
    data = people()
    data = data.with_policy(add_missing_hierarchies(data))
    weights = {"code": 2.0, "job": 4.0}
    steps = [
        {
            "method": "microaggregation",
            "columns": ["job", "town", "code"],
            "how": "mdav",
            "size": 3,
            "publish": "ranges",
            "weights": weights,
        }
    ]
    plan = Policy.from_dict({"plan": {"steps": steps}}).plan
    closed = _close_columns_first(plan, ["code"], build_space(data), Evaluator(data, SelectOptions()))
    assert [step.columns for step in closed.steps] == [("code",), ("job", "town")]
    assert closed.steps[1].parameters["weights"] == {"job": 4.0}
    release = discreet.mask(data.with_policy(data.policy.with_(plan=closed)))
    assert release.masked.frame["code"].n_unique() == 1


def test_the_search_drops_the_column_through_which_its_best_plan_leaves_gaps() -> None:
    data = people()
    data = data.with_policy(add_missing_hierarchies(data))
    space = with_companions(build_space(data), data, SelectOptions(), {"code": ("job",), "hh": ("town",)})
    point = space.unchanged_point() | {"finish": "local_suppression", "beside:code": WITH_KEYS}

    def tried(loss: float, gaps: int | None, columns: tuple[str, ...] = (), **changes: Any) -> TriedPlan:
        changed = point | changes
        return TriedPlan(changed, build_plan(data, space, changed), Outcome(1.0, loss, gaps=gaps, gap_columns=columns))

    good, better = tried(0.2, 2, ("code",)), tried(0.1, 1, ("code", "job"), k=4)
    blank, worse = tried(0.5, 0, k=5), tried(0.6, 3, ("code",), k=6)
    dropped = {"beside:code": DROPPED}
    assert list(points_without_gap_columns(space, [good, blank, worse, better])) == [better.point | dropped, good.point | dropped]
    assert list(points_without_gap_columns(space, [good, tried(0.15, 0)])) == [], "a plan without gaps loses less"
    assert list(points_without_gap_columns(space, [tried(0.1, 1, ("code",), **dropped)])) == [], "it is dropped already"
    assert list(points_without_gap_columns(space, [tried(0.1, 1, ("job",)), tried(0.1, None)])) == [], "a key is not dropped"


def test_a_search_whose_best_plan_leaves_gaps_tries_it_without_their_column(monkeypatch: Any) -> None:
    """Local suppression of a code beside the keys is counted as a gap here, as it is on tables with rare codes."""

    def count(counter: GapCounter, masked: Microdata, plan: Plan, evidence: Any) -> Gaps:
        in_classes = any("code" in (step.columns or ()) and len(step.columns or ()) > 1 for step in plan.steps)
        return Gaps(1, ("code",)) if in_classes else Gaps(0)

    monkeypatch.setattr(GapCounter, "count", count)
    trials: list[Trial] = []
    discreet.select(people(), trials=4, seed=1, on_trial=trials.append)
    first = next(index for index, trial in enumerate(trials) if trial.gaps)
    recoded = [step["columns"] for step in trials[first + 1].plan["steps"] if step["method"] == "global_recoding"]
    assert ["code"] in [list(columns) for columns in recoded]
    assert trials[first + 1].gaps == 0


def test_of_plans_with_gaps_through_the_same_columns_the_best_is_tried_without_them_and_a_weight_is_averaged() -> None:
    data = people()
    data = data.with_policy(add_missing_hierarchies(data))
    space = with_companions(build_space(data), data, SelectOptions(), {"code": ("job",), "w": ("town",)})
    point = space.unchanged_point() | {"finish": "local_suppression", "beside:code": WITH_KEYS, "beside:w": AS_IT_IS}

    def tried(loss: float, k: int, *columns: str) -> TriedPlan:
        changed = point | {"k": k}
        return TriedPlan(changed, build_plan(data, space, changed), Outcome(1.0, loss, gaps=1, gap_columns=columns))

    best, same, other = tried(0.1, 3, "w", "code"), tried(0.2, 4, "code", "w"), tried(0.3, 5, "w")
    assert list(points_without_gap_columns(space, [other, same, best])) == [
        best.point | {"beside:code": DROPPED, "beside:w": AVERAGED},
        other.point | {"beside:w": AVERAGED},
    ]


def _count_gaps_of_code(counter: GapCounter, masked: Microdata, plan: Plan, evidence: Any) -> Gaps:
    """As if every plan left a gap through the code unless it masks the code as well."""
    return Gaps(0) if any("code" in (step.columns or ()) for step in plan.steps) else Gaps(1, ("code",))


def test_a_column_that_shows_its_gaps_during_the_search_is_masked_by_the_next_plans(monkeypatch: Any) -> None:
    """On adult a column singled out in plans that no quick plan shows; all searches before chose from the plans with gaps."""
    monkeypatch.setattr("discreet.selection.space.prepare._look_for_companions", lambda *_: {})
    monkeypatch.setattr(GapCounter, "count", _count_gaps_of_code)
    trials: list[Trial] = []
    selection = discreet.select(people(), trials=8, seed=1, on_trial=trials.append)
    assert sum(trial.kept and trial.gaps == 0 for trial in trials[:8]) >= 3, "only the plans of the end would have no gap"
    assert any("code" in (step.columns or ()) for step in selection.plan.steps)


def test_plans_that_close_gaps_take_the_place_of_no_starting_point_and_leave_other_columns_alone(monkeypatch: Any) -> None:
    """On personnel data three of them followed each other, the good starting points were left out, and others made gaps."""
    points: list[dict[str, Any]] = []

    def start(space: Space, *_: object) -> list[Any]:
        points[:] = [space.unchanged_point() | {"finish": "local_suppression", "k": k} for k in (3, 4, 5, 6)]
        return points

    def count(counter: GapCounter, masked: Microdata, plan: Plan, evidence: Any) -> Gaps:
        """The first plan leaves a gap through the code, closing it one through the income; the others leave none."""
        masks = {name for step in plan.steps for name in step.columns or ()}
        if plan.steps[-1].parameters["k"] > 3:
            return Gaps(0)
        return Gaps(1, ("income",)) if "code" in masks else Gaps(1, ("code",))

    monkeypatch.setattr("discreet.selection.wizard.starting_points", start)
    monkeypatch.setattr("discreet.selection.space.prepare._look_for_companions", lambda *_: {})
    monkeypatch.setattr(GapCounter, "count", count)
    trials: list[Trial] = []
    discreet.select(people(), trials=6, seed=1, on_trial=trials.append)
    plans = [trial.plan["steps"] for trial in trials]
    tried = [(steps[-1]["k"], any("code" in step["columns"] for step in steps)) for steps in plans]
    assert tried[:6] == [(3, False), (3, True), (4, False), (3, True), (5, False), (6, False)], (
        "one more start after each in vain"
    )


def test_a_search_that_is_resumed_has_the_columns_that_its_earlier_plans_showed(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("discreet.selection.space.prepare._look_for_companions", lambda *_: {})
    monkeypatch.setattr(GapCounter, "count", _count_gaps_of_code)
    whole = discreet.select(people(), trials=8, seed=3)
    file = tmp_path / "journal"
    discreet.select(people(), trials=5, seed=3, resume=file)
    resumed = discreet.select(people(), trials=8, seed=3, resume=file)
    assert resumed.plan.steps == whole.plan.steps
    assert resumed.loss == whole.loss


def wages() -> Microdata:
    """Each of 150 people stands in the file twice, with the same wage to the cent: a town masked once stands in the other row."""
    rng = np.random.default_rng(8)
    wage = np.repeat(rng.lognormal(8, 1, 150).round(2), 2)
    columns: dict[str, Any] = {
        "town": np.repeat(
            rng.choice([f"T{number}" for number in range(9)], 150, p=[0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.03, 0.02]), 2
        ),
        "age": rng.integers(20, 60, 300),
        "wage": wage,
        "bonus": (wage / 10).round(2),
        "hired": np.datetime64("2001-01-01") + rng.integers(0, 7000, 300).astype("timedelta64[D]"),
        "shift": rng.choice(["a", "b"], 300),
    }
    attributes: dict[str, Any] = {name: {"role": "confidential"} for name in columns}
    attributes |= {"town": {"role": "key", "known": 0.5}, "age": {"role": "key", "known": 0.5}}
    return discreet.read(pl.DataFrame(columns), Policy.from_dict({"attributes": attributes, "limits": {"k_anonymity.k": 3}}))


def test_a_number_or_date_that_restores_no_key_is_offered_in_ranges_before_it_is_dropped() -> None:
    data = wages()
    data = data.with_policy(add_missing_hierarchies(data))
    space = with_gap_columns(build_space(data), data, SelectOptions(), ["wage", "hired", "shift", "town"])
    assert {name: list(space.choices[f"beside:{name}"]) for name in space.companions} == {
        "wage": [IN_RANGES, WITH_KEYS, DROPPED, AS_IT_IS],
        "hired": [IN_RANGES, WITH_KEYS, DROPPED, AS_IT_IS],
        "shift": [WITH_KEYS, DROPPED, AS_IT_IS],
    }
    household = with_gap_columns(build_space(people()), people(), SelectOptions(), ["hh"])
    assert IN_RANGES not in household.choices["beside:hh"], "a household number is no amount"


def test_no_ranges_are_offered_of_a_number_whose_ranges_say_a_key_too() -> None:
    """The months of an age still say the age in ranges; a wage that two rows share says the town of neither in ranges."""
    ages = 20 + pl.int_range(300, eager=True).shuffle(1) % 6
    months = 12 * ages + pl.int_range(300, eager=True) % 12
    data = discreet.read(wages().frame.with_columns(age=ages, months=months), wages().policy)
    data = data.with_policy(add_missing_hierarchies(data))

    def offers_ranges(name: str, *keys: str) -> bool:
        return IN_RANGES in with_companions(build_space(data), data, SelectOptions(), {name: keys}).choices[f"beside:{name}"]

    assert not offers_ranges("months", "age")
    assert offers_ranges("months", "town")
    assert not offers_ranges("months", "town", "age")
    assert offers_ranges("wage", "town")


def test_a_column_in_ranges_keeps_its_values_true_and_shared_by_many_records() -> None:
    data = wages()
    data = data.with_policy(add_missing_hierarchies(data))
    space = with_gap_columns(build_space(data), data, SelectOptions(), ["wage", "hired"])
    point = space.unchanged_point() | {"finish": "local_suppression", "beside:wage": IN_RANGES, "beside:hired": IN_RANGES}
    plan = build_plan(data, space, point)
    masked = discreet.mask(data.with_policy(data.policy.with_(plan=plan))).masked
    assert [step.columns for step in plan.steps] == [("wage",), ("hired",), ("town", "age")]
    for name in ("wage", "hired"):
        assert masked.frame[name].value_counts()["count"].min() >= 25
    losses = discreet.loss(data.with_policy(data.policy.with_(loss={"falsehood": {}})), masked)
    assert losses["falsehood"].summary["worst"] == 0


def test_a_column_that_leaves_gaps_gets_its_next_treatment_in_the_order_of_promise() -> None:
    """The year of a claim, left as it is, was dropped at once, and a plan with three times the loss was chosen."""
    data = wages()
    data = data.with_policy(add_missing_hierarchies(data))
    space = with_gap_columns(build_space(data), data, SelectOptions(), ["wage", "shift"])
    point = space.unchanged_point() | {"finish": "local_suppression"}

    def tried(loss: float, name: str, treatment: str) -> TriedPlan:
        changed = point | {f"beside:{name}": treatment}
        return TriedPlan(changed, build_plan(data, space, changed), Outcome(1.0, loss, gaps=1, gap_columns=(name,)))

    wage, shift = [AS_IT_IS, IN_RANGES, WITH_KEYS, DROPPED], [AS_IT_IS, WITH_KEYS, DROPPED]
    for name, treatments in (("wage", wage), ("shift", shift)):
        plans = [tried(0.1 + 0.1 * place, name, treatment) for place, treatment in enumerate(treatments)]
        for number in range(1, len(treatments)):
            following = [point | {f"beside:{name}": treatment} for treatment in treatments[1 : number + 1]]
            assert list(points_without_gap_columns(space, plans[:number])) == following


def test_the_wizard_releases_a_wage_that_links_rows_in_ranges_and_says_so() -> None:
    selection = discreet.select(wages(), trials=12, seed=1)
    assert selection.met
    assert not selection.assessment.gaps
    assert selection.release.masked.frame["wage"].n_unique() > 1, "the wage was dropped"
    assert any(sentence.startswith("wage is released in ranges of near values") for sentence in selection.sentences)
