"""Which measures are taken where a policy names some, none, or only limits."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.assessment.measures import default_measures, make_measures, measures_for_limits
from discreet.errors import PolicyError
from discreet.model.policy import Policy


def policy(attributes: dict[str, Any] | None = None, **sections: Any) -> Policy:
    return Policy.from_dict({"attributes": attributes or {"age": {"role": "key"}}, **sections})


@pytest.mark.parametrize(
    ("attributes", "measure"),
    [
        ({"age": {"role": "key"}}, "k_anonymity"),
        ({"age": {"role": "key", "known": 0.0}}, "k_anonymity"),
        ({"age": {"role": "key", "known": 0.1}}, "known_sets"),
        ({"age": {"role": "key", "known": [0.0, 0.1]}}, "known_sets"),
        ({"name": {"role": "identifier", "known": 0.9}, "age": {"role": "key"}}, "k_anonymity"),
    ],
    ids=["key", "never known", "known", "perhaps known", "only an identifier is known"],
)
def test_a_policy_without_measures_is_measured_by_the_plainest_one(attributes: dict[str, Any], measure: str) -> None:
    assert default_measures("risk", policy(attributes)) == [measure]
    assert measures_for_limits("risk", policy(attributes)) == [measure]
    assert [made.name for made in make_measures("risk", None, policy(attributes))] == [measure]


def test_a_policy_with_nothing_to_measure_is_an_error() -> None:
    with pytest.raises(PolicyError, match="nothing to measure"):
        default_measures("risk", policy({"age": {"role": "confidential"}}))


def test_loss_is_ncp_by_default() -> None:
    assert measures_for_limits("loss", policy()) == ["ncp"]


def test_limits_name_measures_of_their_kind_after_those_of_the_policy_and_each_once() -> None:
    limits = {"k_anonymity.k": 3, "ncp.loss": 0.1, "l_diversity.entropy_l": 2, "k_anonymity.unique": 0}
    asked = policy(risk={"t_closeness": {}, "k_anonymity": {}}, limits=limits)
    assert measures_for_limits("risk", asked) == ["t_closeness", "k_anonymity", "l_diversity"]
    assert measures_for_limits("loss", asked) == ["ncp"]
    assert default_measures("risk", asked) == ["k_anonymity", "l_diversity"]


def test_measures_have_the_parameters_of_the_policy_unless_the_call_has_its_own() -> None:
    asked = policy(risk={"k_anonymity": {"missing": "wildcard"}})
    [own] = make_measures("risk", "k_anonymity", asked)
    [given] = make_measures("risk", {"k_anonymity": {"missing": "category"}}, asked)
    assert (own.missing, given.missing) == ("wildcard", "category")
    assert make_measures("risk", [given], asked) == [given]
