"""The policy file: what it says, and what it refuses in a sentence."""

from __future__ import annotations

import contextlib

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import registry
from discreet.errors import DiscreetError, PolicyError
from discreet.model.policy import Policy, parse_policy
from discreet.registry import check_policy

WHOLE = """
attributes:
  name:    {role: identifier}
  patient: {role: person}
  age:     {role: key, known: 0.3}
  income:  {role: confidential, known: 0.005, sensitivity: 0.9,
            values: {"<40000": 1.0, "40000..70000": 0.7}, default: 0.0}
  disease: {role: confidential, known: 0.001, sensitivity: 1.0, values: {Flu: 0.2, Cancer: 1.0}}
risk:
  known_sets: {alpha: 100, epsilon: 0.01, threshold: 0.01}
limits: {known_sets.high_risk: 0, k_anonymity.k: 5, ncp.loss: 0.05}
plan:
  seed: 7
  steps:
    - {method: remove_identifiers}
    - {method: microaggregation, columns: [age], size: 2}
    - {method: sampling, fraction: 0.8}
"""


def test_the_pinned_example_is_read_whole() -> None:
    policy = parse_policy(WHOLE)
    check_policy(policy)
    assert policy.plan.seed == 7
    assert [step.method for step in policy.plan.steps] == ["remove_identifiers", "microaggregation", "sampling"]
    assert policy.plan.steps[1].parameters == {"size": 2}
    income = policy.attributes["income"]
    assert [income.value_weight(value) for value in (39_999, 40_000, 69_999.5, 70_000, None)] == [1.0, 0.7, 0.7, 0.0, 0.0]
    assert policy.attributes["disease"].value_weight("Cold") == 0.0
    assert policy.attributes["age"].value_weight(44) == 1.0


def test_a_coarse_cell_has_the_largest_weight_of_its_values() -> None:
    attributes = parse_policy(WHOLE).attributes
    disease, income = attributes["disease"], attributes["income"]
    assert [disease.value_weight(cell) for cell in ("{Cancer|Flu}", "{Cold|Flu}", "{Cold|Mumps}", "*")] == [1.0, 0.2, 0.0, 0.0]
    assert [income.value_weight(cell) for cell in ("30000..50000", "[50000, 60000]", ">=70000", "[70000, 80000]")] == [
        1.0,
        0.7,
        0.0,
        0.0,
    ]


def test_what_was_read_can_be_written_and_read_again() -> None:
    policy = parse_policy(WHOLE)
    assert parse_policy(policy.to_yaml()) == policy


def test_yes_and_no_stay_text_and_numeric_keys_become_text() -> None:
    policy = parse_policy("attributes: {flag: {sensitivity: 1, values: {yes: 1, no: 0, 0: 0.5, 1.50: 0.2}}}")
    assert policy.attributes["flag"].values == {"yes": 1.0, "no": 0.0, "0": 0.5, "1.50": 0.2}
    assert policy.attributes["flag"].value_weight(0) == 0.5


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("attributes: {age: {role: kye}}", "'attributes.age.role'.*'key'.*got 'kye'"),
        ("attributes: {age: {known: 1.2}}", "'attributes.age.known'.*less than or equal to 1; got 1.2"),
        ("attributes: {age: {sensitivity: -1}}", "'attributes.age.sensitivity'.*greater than or equal to 0; got -1"),
        ("attributes: {age: {values: {a: -0.5}}}", "attributes.age.values.a.*got -0.5"),
        ("attributes: {age: {knwon: 0.5}}", "'knwon' is not a field of attributes.age; did you mean 'known'"),
        ("atributes: {}", "'atributes' is not a field of a policy; did you mean 'attributes'"),
        ("attributes: {age: {}, age: {}}", "line 1: 'age' is named twice"),
        ("attributes: [", "line 1: not YAML"),
        ("- 1", "a policy is a mapping"),
        ("limits: {k: 5}", "MEASURE.FIELD"),
        ("limits: {known_sets.high_risk: .inf}", "the limit 'known_sets.high_risk' is not a finite number"),
        ("limits: {known_sets.high_risk: true}", "the limit 'known_sets.high_risk' is a number; got true"),
        ("attributes: {age: {accepted: '  '}}", "'attributes.age.accepted'.*at least 1 character"),
        ("limits: {k_anonymity.kk: 5}", "names no field of 'k_anonymity'.*did you mean 'k'"),
        ("risk: {known_set: {}}", "no risk measure 'known_set'; did you mean 'known_sets'"),
        ("risk: {known_sets: {epsilonn: 1}}", "'epsilonn' is not a field of known_sets; did you mean 'epsilon'"),
        ("plan: {steps: [{method: sampling, fraction: 2}]}", "step 1: 'sampling.fraction'.*less than or equal to 1; got 2"),
        ("plan: {steps: [{metod: sampling}]}", "'plan.steps.0.method': field required"),
        (
            "plan: {steps: [{method: swapping, columns: [a, b, a]}]}",
            "'plan.steps.0.columns'.*a named more than once.*each column once",
        ),
        ("attributes: {a: {order: [x, x]}}", "order names 'x' twice"),
        ("attributes: {a: {hierarchy: {}}}", "exactly one of file, widths"),
    ],
)
def test_an_invalid_policy_is_reported_in_one_sentence(text: str, told: str) -> None:
    with pytest.raises(PolicyError, match=told) as raised:
        check_policy(parse_policy(text, origin="policy.yaml"))
    assert "\n" not in str(raised.value)
    assert "policy.yaml" in str(raised.value)


@settings(max_examples=300)
@given(st.text(max_size=60))
def test_any_text_is_a_policy_or_a_sentence(text: str) -> None:
    with contextlib.suppress(DiscreetError):  # anything else is a fault
        parse_policy(text)


WORDS = st.sampled_from(["attributes", "role", "key", "known", "values", "plan", "steps", "method", "limits", "risk", "a", ""])
TREES = st.recursive(
    st.one_of(WORDS, st.floats(), st.integers(), st.none(), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=12,
)


@settings(max_examples=120)
@given(TREES)
def test_any_tree_is_a_policy_or_a_sentence(tree: object) -> None:
    for make in (lambda: Policy.from_dict(tree), lambda: parse_policy(yaml.safe_dump(tree))):
        with contextlib.suppress(DiscreetError):
            check_policy(make())


def test_the_environment_keeps_the_owners_words_and_refuses_other_fields() -> None:
    policy = parse_policy("environment: {recipients: two universities, residual_risk: small}")
    stated = {name: text for name, _, text in policy.environment.statements() if text is not None}
    assert stated == {"recipients": "two universities", "residual risk": "small"}
    assert parse_policy(policy.to_yaml()).environment == policy.environment
    with pytest.raises(PolicyError, match="recipients"):
        parse_policy("environment: {recipient: two universities}")


@pytest.mark.parametrize(
    ("design", "message"),
    [
        ({"fraction": 0.0}, "'sampling.fraction': input should be greater than 0; got 0.0"),
        ({"fraction": 1.5}, "'sampling.fraction': input should be less than or equal to 1; got 1.5"),
        ({"population": 0}, "'sampling.population': input should be greater than or equal to 1; got 0"),
        (
            {"strata": ["r"], "fraction": {"north": 2.0}},
            "'sampling.fraction.north': input should be less than or equal to 1; got 2.0",
        ),
    ],
)
def test_a_wrong_sampling_design_is_named_as_the_policy_file_names_it(design: dict[str, object], message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_dict({"attributes": {}, "sampling": design})
    assert message in str(caught.value)


def test_a_single_name_where_a_list_is_needed_is_told_how_to_write_it():
    with pytest.raises(DiscreetError, match=r"a list is needed, such as \[icd\]; got 'icd'"):
        registry.create("risk", "l_diversity", {"sensitive": "icd"}, origin="policy.yaml")
