"""The package as Python people expect: results pickle, verbs are exported, notebooks show the verdict, errors are sentences."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet
from discreet import registry
from discreet.errors import DataError, DiscreetError, PolicyError
from discreet.model.policy import Policy
from discreet.selection.options import SelectArguments, SelectOptions
from discreet.testing import hospital
from discreet.testing.samples import sample

POLICY = {
    "risk": {"k_anonymity": {}, "known_sets": {"alpha": 1, "epsilon": 0.01, "threshold": 0.5}},
    "limits": {"k_anonymity.k": 3, "ncp.loss": 0.9},
    "plan": {"steps": [{"method": "remove_identifiers"}, {"method": "local_suppression", "k": 3}]},
}


@pytest.fixture(scope="module")
def table() -> Any:
    patients = hospital(120)
    return patients.with_policy(Policy.from_dict(patients.policy.model_dump(exclude_defaults=True) | POLICY))


@pytest.fixture(scope="module")
def release(table: Any) -> Any:
    return discreet.mask(table)


@pytest.fixture(scope="module")
def assessment(table: Any, release: Any) -> Any:
    return discreet.assess(table, release)


def through_pickle(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("name", registry.installed_names("risk"))
def test_the_score_of_every_risk_measure_pickles(name: str) -> None:
    measure: Any = registry.load("risk", name).example()
    data = measure.example_data() or sample(60)
    score = measure.measure(data, original=data if measure.needs_original(data) else None)
    restored = through_pickle(score)
    assert restored.to_dict() == score.to_dict()
    assert (restored.per_record is None) == (score.per_record is None)
    assert restored.per_record is None or restored.per_record.equals(score.per_record)


def test_an_assessment_pickles_with_its_values_per_record(assessment: Any) -> None:
    restored = through_pickle(assessment)
    assert restored.to_dict() == assessment.to_dict()
    assert restored.per_record().equals(assessment.per_record())
    assert through_pickle(restored).per_record().equals(assessment.per_record())
    assert copy.deepcopy(assessment).status == assessment.status


def test_tables_releases_profiles_and_policies_pickle(table: Any, release: Any) -> None:
    assert through_pickle(table).frame.equals(table.frame)
    assert through_pickle(table).policy == table.policy
    restored = through_pickle(release)
    assert restored.masked.frame.equals(release.masked.frame)
    assert (restored.link == release.link).all()
    profile = discreet.analyze(table)
    assert through_pickle(profile).to_dict() == profile.to_dict()
    assert through_pickle(profile.policy) == profile.policy()


def test_a_table_of_which_only_codes_are_read_pickles_whole(tmp_path: Path) -> None:
    pl.DataFrame({"age": [1, 2, 3], "sex": ["a", "b", "a"]}).write_csv(tmp_path / "t.csv")
    scanned = discreet.scan(tmp_path / "t.csv", {"attributes": {"age": {"role": "key"}}})
    restored = through_pickle(scanned)
    (tmp_path / "t.csv").unlink()
    assert restored.frame["sex"].to_list() == ["a", "b", "a"]
    assert discreet.risk(restored)["k_anonymity"]["k"] == 1


def test_a_selection_pickles(table: Any) -> None:
    selection = discreet.select(table, trials=2, seed=1)
    restored = through_pickle(selection)
    assert restored.assessment.to_dict() == selection.assessment.to_dict()
    assert restored.plan == selection.plan


@pytest.mark.parametrize(
    "name", ["read", "scan", "analyze", "risk", "loss", "mask", "assess", "select", "link", "explain", "write", "write_link"]
)
def test_every_verb_is_exported(name: str) -> None:
    assert callable(getattr(discreet, name))
    assert name in dir(discreet)


def test_the_typed_options_of_select_are_those_of_the_policy_file() -> None:
    assert set(SelectArguments.__annotations__) == set(SelectOptions.model_fields)


def test_an_unknown_option_of_select_is_named(table: Any) -> None:
    with pytest.raises(PolicyError, match="secconds"):
        discreet.select(table, secconds=3)  # type: ignore[call-arg]


def test_a_proposed_policy_is_an_attribute_and_can_be_called(table: Any) -> None:
    profile = discreet.analyze(table)
    assert isinstance(profile.policy, Policy)
    assert profile.policy == profile.policy()
    assert profile.policy() == profile.policy
    assert type(profile.policy()) is Policy
    assert all(attribute.reason for attribute in profile.policy(reasons=True).attributes.values())
    assert discreet.read(table.frame, profile.policy).policy.attributes == profile.policy().attributes
    changed = profile.policy.with_(limits={"k_anonymity.k": 7})
    assert changed().limits == {"k_anonymity.k": 7}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda table: discreet.read(table.frame, 5), "a policy is a path, a dict or a discreet.Policy; got an int"),
        (lambda table: discreet.read(table.frame, table.with_policy), "got the function with_policy: call it with ()"),
        (lambda _: discreet.risk("table.csv"), "discreet.risk takes the result of discreet.read or discreet.mask; got a str"),
        (lambda table: discreet.mask(table.frame), "discreet.mask takes the result of discreet.read; got a DataFrame"),
        (lambda table: discreet.assess(table, None), "got a NoneType"),
        (lambda _: discreet.analyze({}), "discreet.analyze takes the result of discreet.read; got a dict"),
        (lambda _: discreet.select("table.csv"), "discreet.select takes"),
        (lambda _: discreet.explain("table.csv", 1), "discreet.explain takes"),
        (lambda table: discreet.write(table.frame, "out.csv"), "discreet.write takes"),
        (lambda table: discreet.link(table, "out.csv"), "discreet.link takes"),
        (lambda table: discreet.loss(table, "out.csv"), "discreet.loss takes"),
        (lambda table: discreet.mask(table, 5), "a plan is a discreet.Plan, a dict or a list of steps; got an int"),
        (lambda table: discreet.mask(table, "plan.yaml"), "a plan is a discreet.Plan, a dict or a list of steps; got a str"),
        (lambda table: discreet.mask(table, [5]), "plan"),
        (lambda table: discreet.explain(table, "first"), "the number of a record, counted from 0; got a str"),
    ],
)  # fmt: skip
def test_a_wrong_argument_gets_a_sentence(table: Any, call: Any, sentence: str) -> None:
    with pytest.raises(DiscreetError, match=re.escape(sentence)):
        call(table)


def test_a_notebook_shows_the_verdict_first_and_the_losses(assessment: Any) -> None:
    page = assessment._repr_html_()
    assert page.index(assessment.sentences[0][:20]) < page.index("<table>")
    assert "k_anonymity.k" in page
    assert "<th>loss</th>" in page
    assert "ncp" in page
    assert "after (attacker knows the original values)" in page


def test_a_list_of_steps_is_a_plan(table: Any) -> None:
    steps = [{"method": "remove_identifiers"}, {"method": "sampling", "fraction": 0.5}]
    plan = {"steps": steps}
    assert [step.method for step in discreet.mask(table, steps).plan.steps] == ["remove_identifiers", "sampling"]
    again = discreet.mask(table, list(discreet.mask(table, plan).plan.steps))
    assert again.plan.steps == discreet.Plan(**plan).steps


def test_a_notebook_shows_plans_and_attributes_without_secrets_or_values() -> None:
    plan = discreet.Plan(seed=7, steps=[{"method": "noise", "columns": ["<age>"], "secret": "hidden"}])
    shown = plan._repr_html_()
    assert "noise" in shown
    assert "&lt;age&gt;" in shown
    assert "hidden" not in shown
    attribute = discreet.Attribute(role="confidential", known=0.3, values={"AIDS": 1.0, "flu": 0.1})
    shown = attribute._repr_html_()
    assert "confidential" in shown
    assert "0.3" in shown
    assert "AIDS" not in shown


def test_a_notebook_shows_a_profile_as_a_table_of_attributes(table: Any) -> None:
    page = discreet.analyze(table)._repr_html_()
    assert all(f"<td>{name}</td>" in page for name in table.columns)
    assert "<th>reason</th>" in page


def test_a_chart_in_a_notebook_needs_no_network(assessment: Any) -> None:
    chart = assessment.after["k_anonymity"].plot()
    bundle = chart._repr_mimebundle_()
    assert set(bundle) == {"image/svg+xml"}
    assert "<svg" in bundle["image/svg+xml"]
    assert "<script" not in bundle["image/svg+xml"]
    assert "vega" in chart.to_dict()["$schema"]
    assert set(assessment.plot()._repr_mimebundle_()) == {"image/svg+xml"}


def test_a_value_in_a_sentence_of_a_notebook_is_escaped() -> None:
    table = discreet.read(pl.DataFrame({"<b>": [1, 2, 3]}), {"attributes": {"<b>": {"role": "key"}}})
    for shown in (table, table.policy, discreet.analyze(table)):
        assert "<b>" not in shown._repr_html_()
    with pytest.raises(DataError):
        discreet.explain(table, 99)
