"""A step that lowers a risk measures it as the policy's risk section does, unless it names its own parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet import registry
from discreet.errors import ParameterError
from discreet.model.policy import Policy, Step


def _data(step: dict[str, Any], risk: dict[str, Any] | None = None, limits: dict[str, float] | None = None) -> discreet.Microdata:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 60, 300),
            "town": rng.choice(list("ABCDEFGH"), 300, p=[0.4, 0.2, 0.15, 0.1, 0.06, 0.05, 0.03, 0.01]),
            "ill": rng.choice(["flu", "none"], 300, p=[0.4, 0.6]),
        }
    )
    policy = {
        "attributes": {
            "age": {"role": "key", "known": 0.3},
            "town": {"role": "key", "known": 0.6},
            "ill": {"role": "confidential", "sensitivity": 1.0, "values": {"flu": 1.0, "none": 0.4}},
        },
        "risk": risk or {},
        "limits": limits or {},
        "plan": {"seed": 1, "steps": [step]},
    }
    return discreet.read(frame, Policy.from_dict(policy))


def _blanks(data: discreet.Microdata) -> int:
    return sum(data.frame[name].null_count() for name in data.columns)


def _about_risk(release: discreet.Release) -> list[str]:
    return [one for one in release.warnings if "risk." in one]


RISK = {"known_sets": {"alpha": 1, "threshold": 0.5, "missing": "wildcard"}}


def test_a_plain_step_takes_alpha_and_threshold_of_the_risk_section() -> None:
    plain = discreet.mask(_data({"method": "targeted_suppression"}, RISK))
    named = discreet.mask(_data({"method": "targeted_suppression", "alpha": 1, "threshold": 0.5, "missing": "wildcard"}))
    assert plain.masked.frame.equals(named.masked.frame)
    assert 0 < _blanks(plain.masked) < 100  # of 600: with the step's own alpha 100 and threshold 0.01 nearly all were blanked
    assert discreet.risk(plain.masked)["known_sets"]["high_risk"] == 0


def test_targeted_generalization_takes_the_same_parameters() -> None:
    plain = discreet.mask(_data({"method": "targeted_generalization"}, RISK))
    named = discreet.mask(_data({"method": "targeted_generalization", "alpha": 1, "threshold": 0.5}))
    assert plain.masked.frame.equals(named.masked.frame)


def test_defaults_of_a_measure_in_use_are_taken_too() -> None:
    """The judge reads a null as one more value unless the policy says otherwise, so the step does."""
    data = _data({"method": "targeted_suppression"}, {"known_sets": {"alpha": 1, "threshold": 0.5}})
    _, method = registry.resolve_step(data.policy.plan.steps[0], data.policy)
    assert method.missing == "category"  # type: ignore[attr-defined]


def test_without_the_measure_the_step_has_its_own_defaults() -> None:
    _, method = registry.resolve_step(Step(method="targeted_suppression"), Policy())
    assert (method.missing, method.threshold) == ("wildcard", 0.01)  # type: ignore[attr-defined]


def test_a_limit_alone_puts_the_measure_in_use() -> None:
    policy = Policy.from_dict({"limits": {"known_sets.high_risk": 0}})
    _, method = registry.resolve_step(Step(method="targeted_suppression"), policy)
    assert method.missing == "category"  # type: ignore[attr-defined]


def test_what_the_step_names_wins_and_is_warned_of() -> None:
    release = discreet.mask(_data({"method": "targeted_suppression", "threshold": 0.4}, RISK))
    assert _about_risk(release) == ["step 1 (targeted_suppression): it uses threshold 0.4, but risk.known_sets says 0.5"]


def test_a_step_that_names_the_same_values_is_not_warned_of() -> None:
    step = {"method": "targeted_suppression", "threshold": 0.5, "alpha": 1.0, "epsilon": 0.01, "missing": "wildcard"}
    assert _about_risk(discreet.mask(_data(step, RISK))) == []


def test_a_default_that_the_step_cannot_work_with_gives_way_and_is_warned_of() -> None:
    step = {"method": "targeted_suppression", "choose": "fewest"}
    release = discreet.mask(_data(step, {"known_sets": {"alpha": 1, "threshold": 0.5}}))
    assert [one for one in release.warnings if "missing wildcard" in one and "has the default category" in one]


def test_a_named_value_that_the_step_cannot_work_with_is_an_error() -> None:
    risk = {"known_sets": {"alpha": 1, "threshold": 0.5, "missing": "category"}}
    with pytest.raises(ParameterError, match="fewest needs missing: wildcard"):
        _data({"method": "targeted_suppression", "choose": "fewest"}, risk)


def test_keys_of_a_measure_are_the_columns_of_a_step_that_names_none() -> None:
    step, _ = registry.resolve_step(
        Step(method="local_suppression", k=2),  # type: ignore[call-arg]
        Policy.from_dict({"risk": {"k_anonymity": {"keys": ["town"]}}}),
    )
    assert step.columns == ("town",)


def test_generalization_takes_what_l_diversity_and_t_closeness_name() -> None:
    policy = Policy.from_dict(
        {"risk": {"l_diversity": {"sensitive": ["ill"], "c": 2}, "t_closeness": {"distance": {"ill": "equal"}}}}
    )
    step, _ = registry.resolve_step(Step(method="generalization", k=2), policy)  # type: ignore[call-arg]
    assert step.parameters == {"k": 2, "sensitive": ("ill",), "c": 2.0, "distance": {"ill": "equal"}}


def test_min_risk_disclosure_takes_the_weights_of_decision() -> None:
    policy = Policy.from_dict({"risk": {"decision": {"weights": {"age": 2.0}, "sensitivity": "phi2"}}})
    _, method = registry.resolve_step(Step(method="min_risk_disclosure", k=2), policy)  # type: ignore[call-arg]
    assert (method.weights, method.sensitivity) == ({"age": 2.0}, "phi2")  # type: ignore[attr-defined]


@pytest.mark.parametrize("method", registry.installed_names("masking"))
def test_what_is_inherited_exists_on_both_sides(method: str) -> None:
    found = registry.load("masking", method)
    fields = {info.alias or name for name, info in found.model_fields.items()} | {"columns"}
    for parameter, sources in found.inherits.items():
        assert parameter in fields
        for source in sources:
            measure, field = source.split(".")
            assert field in registry.load("risk", measure).model_fields
