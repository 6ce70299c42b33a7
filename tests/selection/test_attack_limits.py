"""Limits may name attacks: the search measures them on every plan, and the chosen plan meets them on the upper end."""

from __future__ import annotations

import pytest

import discreet
from discreet.model.policy import Policy
from discreet.testing import table


@pytest.mark.parametrize("limit", ["inference.risk", "exhaustive_attack.risk"])
def test_a_plan_is_found_for_a_limit_on_an_attack(limit: str) -> None:
    rows = range(90)
    data = table(
        {
            "age": [20 + row % 30 for row in rows],
            "sex": ["mf"[row % 2] for row in rows],
            "sick": ["abc"[row % 3] for row in rows],
        },
        key=["age", "sex"],
        confidential=["sick"],
    )
    policy = Policy.from_dict({**data.policy.model_dump(exclude_defaults=True), "limits": {limit: 0.7}})
    chosen = discreet.select(data.with_policy(policy), trials=6)
    assert chosen.met
    measure, field = limit.split(".")
    found = chosen.assessment.informed.get(measure, chosen.assessment.after[measure])
    assert found[field] <= 0.7
