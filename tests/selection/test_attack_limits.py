"""Limits may name attacks: the search measures them on every plan, and the chosen plan meets them on the upper end."""

from __future__ import annotations

import numpy as np
import pytest

import discreet
from discreet.model.policy import Policy
from discreet.testing import table


@pytest.mark.parametrize("limit", ["inference.risk", "exhaustive_attack.risk"])
def test_a_plan_is_found_for_a_limit_on_an_attack(limit: str) -> None:
    random = np.random.default_rng(4)
    columns = {
        "age": random.integers(20, 25, 120),
        "sex": random.choice(["f", "m"], 120),
        "sick": random.choice(list("abc"), 120),
    }
    data = table({name: values.tolist() for name, values in columns.items()}, key=["age", "sex"], confidential=["sick"])
    policy = Policy.from_dict({**data.policy.model_dump(exclude_defaults=True), "limits": {limit: 0.7}})
    chosen = discreet.select(data.with_policy(policy), trials=4)
    assert chosen.met
    measure, field = limit.split(".")
    found = chosen.assessment.informed.get(measure, chosen.assessment.after[measure])
    assert found[field] <= 0.7
