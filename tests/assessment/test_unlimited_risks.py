"""A risk that is measured and high, and that no limit judges: whoever reads 'met' must be told."""

import numpy as np
import polars as pl
import pytest
from command_line import run_command

import discreet
from discreet import registry
from discreet.assessment.unlimited import describe_unlimited_risks
from discreet.model.score import Score
from discreet.web.pages.forms.catalogue import spell_out

N = 120
HINT = "no limit is set on it; limits: {known_sets.high_risk: 0} would require none"
ROLES = {
    "region": {"role": "key", "known": 0.6}, "age": {"role": "key", "known": 0.3}, "sex": {"role": "key", "known": 0.8},
    "disease": {"role": "confidential", "sensitivity": 1.0, "known": 0.001},
}  # fmt: skip


def people(**sections):
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "region": rng.integers(0, 6, N), "age": rng.integers(20, 80, N), "sex": rng.choice(["f", "m"], N),
            "disease": rng.choice(["flu", "cold", "cancer"], N),
        }
    )  # fmt: skip
    risk = {"known_sets": {"threshold": {"among": 20}}, "k_anonymity": {}}
    return discreet.read(frame, {"attributes": ROLES, "risk": risk, **sections})


def warnings_of(data):
    return [warning for warning in discreet.assess(data, discreet.mask(data)).warnings if "no limit is set on it" in warning]


@pytest.mark.parametrize("limits", [{}, {"k_anonymity.k": 1}, {"ncp.loss": 0.5}, {"known_sets.sets": 10_000}])
def test_an_assessment_says_how_many_records_a_risk_without_a_limit_finds(limits):
    data = people(limits=limits)
    high = discreet.risk(data, "known_sets")["known_sets"]["high_risk"]
    assert high > 20
    (warning,) = warnings_of(data)
    assert warning == f"known_sets finds {high} of {N} records at high risk, and {HINT}"


@pytest.mark.parametrize(
    "limit", ["known_sets.high_risk", "known_sets.high_risk_share", "known_sets.mean", "known_sets.effective_k_min"]
)
def test_a_limit_on_the_risk_says_enough(limit):
    assert warnings_of(people(limits={limit: 1})) == []


def test_nothing_is_said_where_nothing_is_at_risk_or_the_policy_names_no_such_risk():
    assert warnings_of(people(risk={"known_sets": {"threshold": 1e9}}, limits={"k_anonymity.k": 1})) == []
    assert warnings_of(people(risk={"k_anonymity": {}}, limits={"k_anonymity.k": 1})) == []


def test_the_worse_intruder_and_the_whole_interval_are_named():
    policy = people().policy
    alone, informed = (Score("known_sets", {"high_risk": number}, None) for number in (3, 7))
    assert "finds 7 of 100 records" in describe_unlimited_risks(policy, 100, {"known_sets": alone}, {"known_sets": informed})[0]
    wide = Score("known_sets", {"high_risk": 3}, None, bounds={"high_risk": (2.0, 1_234.0)})
    assert "finds 2 to 1,234 of 5,000 records" in describe_unlimited_risks(policy, 5_000, {"known_sets": wide})[0]
    undecided = Score("known_sets", {"high_risk": 0}, None, bounds={"high_risk": (0.0, 1.0)})
    assert describe_unlimited_risks(policy, 5_000, {"known_sets": undecided}) == []


def test_a_risk_without_a_limit_that_there_was_no_time_to_measure_is_named_too():
    data = people(limits={"k_anonymity.k": 1})
    release = discreet.mask(data)
    (warning,) = [one for one in discreet.assess(data, release, deadline=0.0).warnings if "no limit" in one]
    assert warning == f"known_sets was not measured, so that nobody knows what is at risk by it, and {HINT}"
    assert describe_unlimited_risks(data.policy, N, discreet.risk(data, "k_anonymity")) == []


def test_what_a_measure_declares_is_a_field_that_a_limit_may_name():
    declared = {name: registry.load("risk", name).at_risk for name in registry.installed_names("risk")}
    assert {"known_sets", "individual_risk", "special_uniques", "repeated_records"} <= {
        name for name, one in declared.items() if one
    }
    for name, one in declared.items():
        if one is not None:
            field, words = one
            assert registry.load("risk", name).better[field] == "low"
            assert registry.judges_disclosure(f"{name}.{field}")
            assert ("{number}" in words) != ("{percent}" in words)


def test_shares_are_said_in_percent():
    policy = people(risk={"reidentification": {}}).policy
    score = Score("reidentification", {"prosecutor_above": 0.125}, None)
    (sentence,) = describe_unlimited_risks(policy, 80, {"reidentification": score})
    assert sentence.startswith(
        "reidentification finds 12.5 % of the records with a prosecutor risk above its threshold, and no limit"
    )


def test_every_command_that_measures_says_it(tmp_path):
    data = people()
    data.frame.write_csv(tmp_path / "people.csv")
    policy = data.policy.with_(limits={"k_anonymity.k": 2})
    (tmp_path / "policy.yaml").write_text(policy.to_yaml(), encoding="utf-8")
    for arguments in (
        ("risk", "people.csv", "-p", "policy.yaml"),
        ("risk", "people.csv", "-p", "policy.yaml", "--json"),
        ("assess", "people.csv", "people.csv", "-p", "policy.yaml"),
        ("select", "people.csv", "-p", "policy.yaml", "-o", "chosen.yaml", "--trials", "2", "--seed", "1"),
    ):
        run = run_command(*arguments, folder=tmp_path)
        assert HINT in " ".join(run.stderr.split()), arguments
        assert HINT not in run.stdout or "--json" not in arguments


def test_pages_do_not_say_what_to_write_in_a_file():
    said = spell_out(f"known_sets finds 7 of 100 records at high risk, and {HINT}")
    assert said.endswith("and no limit is set on it")
    assert "limits:" not in said
