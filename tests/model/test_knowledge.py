"""What is known together, and scenarios, in a policy."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.errors import PolicyError
from discreet.model.guess import Guess
from discreet.model.policy import Policy, parse_policy

ATTRIBUTES: dict[str, Any] = {
    "birth_date": {"known": 0.3}, "zip": {"known": [0.1, 0.5]}, "age": {"known": 0.2}, "name": {"role": "identifier"},
}  # fmt: skip


def test_a_group_has_the_largest_probability_of_its_members() -> None:
    policy = Policy.from_dict({"attributes": ATTRIBUTES, "known_together": [["birth_date", "zip"]]})
    for name in ("birth_date", "zip"):
        assert policy.attributes[name].known == Guess(0.3, 0.5)
    assert policy.attributes["age"].known == 0.2
    again = parse_policy(policy.to_yaml())
    assert again.known_together == policy.known_together
    assert again.attributes == policy.attributes


def test_a_scenario_replaces_what_it_names_and_its_group() -> None:
    content = {
        "attributes": ATTRIBUTES,
        "known_together": [["birth_date", "zip"]],
        "scenarios": {"neighbour": {"age": 0.9}, "insurer": {"zip": 0.05}},
    }
    policy = Policy.from_dict(content)
    named = policy.in_scenarios()
    assert list(named) == ["attributes", "neighbour", "insurer"]
    assert named["attributes"].attributes == policy.attributes
    assert named["neighbour"].attributes["age"].known == 0.9
    assert named["neighbour"].attributes["zip"].known == Guess(0.3, 0.5)
    assert named["insurer"].attributes["birth_date"].known == 0.05
    assert named["insurer"].attributes["age"].known == 0.2
    assert not any(one.scenarios for one in named.values())
    assert parse_policy(policy.to_yaml()).scenarios == policy.scenarios


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"known_together": [["zip"]]}, "two or more"),
        ({"known_together": [["zip", "zip"]]}, "'zip' twice"),
        ({"known_together": [["zip", "age"], ["age", "birth_date"]]}, "'age' twice"),
        ({"known_together": [["zip", "agee"]]}, "'agee'.*age"),
        ({"known_together": [["zip", "name"]]}, "identifier"),
        ({"scenarios": {"neighbour": {"agee": 0.1}}}, "'agee'.*age"),
        ({"scenarios": {"neighbour": {"age": 1.2}}}, "scenarios.neighbour.age"),
        ({"scenarios": {"attributes": {"age": 0.2}}}, "cannot be named 'attributes'"),
        ({"scenarios": {"neighbour": {"name": 0.2}}}, "identifier"),
    ],
)
def test_wrong_groups_and_scenarios_are_refused_by_name(content: Any, words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        Policy.from_dict({"attributes": ATTRIBUTES} | content)
