"""Limits on scores of special uniques and on rare combinations: the search has a plan that meets them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.selection.space.build import build_space
from discreet.selection.space.dimensions import SCORE_TARGET
from discreet.selection.starts.order import starting_points
from discreet.selection.steps.build import build_plan


def _data(risk: dict[str, Any], limits: dict[str, float]) -> Any:
    random = np.random.default_rng(11)
    frame = pl.DataFrame({name: random.integers(0, 12, 90) for name in ("a", "b", "c")}).with_columns(ill=pl.lit("yes"))
    attributes = {name: {"role": "key", "known": 0.5} for name in ("a", "b", "c")}
    attributes["ill"] = {"role": "confidential", "sensitivity": 1.0}
    return discreet.read(frame, {"attributes": attributes, "risk": risk, "limits": limits})


@pytest.mark.parametrize(
    ("limits", "threshold"),
    [
        ({"special_uniques.score_max": 1}, 1),
        ({"special_uniques.records": 0}, 0),
        ({"special_uniques.high_risk": 0, "special_uniques.score_max": 5}, 0),
        ({"special_uniques.high_risk": 0}, None),
    ],
)
def test_one_of_the_first_plans_suppresses_by_score_and_meets_the_limit(
    limits: dict[str, float], threshold: float | None
) -> None:
    data = _data({"special_uniques": {"threshold": 1.5}}, limits)
    space = build_space(data)
    plans = [build_plan(data, space, point) for point in starting_points(space)[:3]]
    plan = next(plan for plan in plans if [step.method for step in plan.steps] == ["targeted_suppression"])
    assert plan.steps[0].parameters.get("threshold") == threshold
    release = discreet.mask(data, plan)
    assert [verdict.status for verdict in discreet.assess(data, release).verdicts] == ["met"] * len(limits)


def test_without_a_limit_on_scores_no_plan_suppresses_by_score() -> None:
    assert SCORE_TARGET not in build_space(_data({}, {"k_anonymity.k": 2})).choices.get("target", ())


@pytest.mark.parametrize(
    ("risk", "limit"),
    [
        ({"special_uniques": {}}, "special_uniques.score_max"),
        ({"rare_combinations": {"sets": [["a", "b"], ["c"]]}}, "rare_combinations.records"),
        ({"rare_combinations": {"dimension": 2, "threshold": 4}}, "rare_combinations.combinations"),
    ],
)
def test_the_search_finds_a_plan(risk: dict[str, Any], limit: str) -> None:
    selection = discreet.select(_data(risk, {limit: 0}), trials=4, seconds=30)
    assert [verdict.status for verdict in selection.assessment.verdicts] == ["met"]
