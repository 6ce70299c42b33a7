"""The wizard meets limits over ranges and scenarios: a plan that is safe only for the best guesses is no solution."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.model.microdata import Microdata

LIMIT = 3


def patients(change: dict[str, Any]) -> Microdata:
    rng = np.random.default_rng(5)
    size = 120
    frame = pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], size),
            "town": rng.choice(["A", "B", "C", "D", "E"], size),
            "age": rng.integers(20, 60, size),
            "ill": rng.choice(["flu", "cancer"], size, p=[0.8, 0.2]),
        }
    )
    attributes = {
        "sex": {"role": "key", "known": 0.5},
        "town": {"role": "key", "known": 0.2},
        "age": {"role": "key", "known": 0.05},
        "ill": {"role": "confidential", "sensitivity": 1.0, "values": {"cancer": 1.0}},
    }
    for name, known in change.pop("known", {}).items():
        attributes[name]["known"] = known
    policy = {
        "attributes": attributes,
        "risk": {"known_sets": {"threshold": 20, "missing": "wildcard"} | change.pop("reading", {})},
        "limits": {"known_sets.high_risk": LIMIT},
        "select": {"trials": 8, "seed": 1},
    }
    return discreet.read(frame, policy | change)


@pytest.mark.parametrize(
    ("change", "worst"),
    [
        ({"known": {"age": [0.05, 0.9]}}, {"known": {"age": 0.9}}),
        ({"scenarios": {"neighbour": {"age": 0.9}}}, {"known": {"age": 0.9}}),
        (
            {"known_together": [["town", "age"]], "scenarios": {"neighbour": {"age": 0.9}}},
            {"known_together": [["town", "age"]], "known": {"town": 0.9, "age": 0.9}},
        ),
    ],
)
def test_the_chosen_plan_meets_the_limits_in_the_worst_case(change: dict[str, Any], worst: dict[str, Any]) -> None:
    data = patients(dict(change))
    careless = discreet.select(patients({"known": {"age": 0.05}}))
    selection = discreet.select(data)
    assert selection.met
    measured = []
    for chosen in (careless, selection):
        release = discreet.mask(data, plan=chosen.plan)
        at_worst = release.masked.with_policy(patients(dict(worst)).policy)
        measured.append(discreet.risk(at_worst)["known_sets"]["high_risk"])
    assert measured[0] > LIMIT, "the guess alone would have chosen a plan that fails in the worst case"
    assert measured[1] <= LIMIT


def test_limits_on_the_probability_of_being_identified_are_met_without_targeted_steps() -> None:
    """Targeted methods follow the paper's products, so the wizard leaves them out where knowledge is independent."""
    data = patients({"reading": {"knowledge": "independent"}, "limits": {"known_sets.reidentification_max": 0.05}})
    before = discreet.risk(data)["known_sets"]["reidentification_max"]
    selection = discreet.select(data)
    assert before > 0.05
    assert selection.met
    assert not any(step.method.startswith("targeted") for step in selection.plan.steps)
