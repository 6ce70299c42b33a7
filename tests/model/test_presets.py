"""Presets: their limits exist, a policy expands them, the owner's numbers win, and a report can say what was changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run_command

import discreet
from discreet import registry
from discreet.errors import PolicyError
from discreet.model.policy import Policy, parse_policy
from discreet.model.presets.catalogue import NO_COMPLIANCE, PRESETS, Preset, describe_preset, describe_use
from discreet.testing import table


@pytest.mark.parametrize("preset", PRESETS.values(), ids=list(PRESETS))
def test_every_preset_has_limits_that_can_fail_and_a_source(preset: Preset) -> None:
    for limit, required in preset.limits.items():
        assert registry.judges_disclosure(limit)
        slack = registry.slack_of_limit(limit, required)
        assert slack is None or slack < 0, f"every table meets {limit} {required}"
    assert preset.limits
    assert preset.checks
    assert preset.conditions
    assert preset.citation
    assert "complian" not in preset.checks


def test_a_preset_becomes_limits_that_are_written_with_its_name() -> None:
    policy = parse_policy("limits: {preset: max_risk_0.09, ncp.loss: 0.1}")
    assert policy.limits == {"reidentification.prosecutor_max": 0.09, "ncp.loss": 0.1}
    assert policy.presets == ("max_risk_0.09",)
    again = parse_policy(policy.to_yaml())
    assert (again.limits, again.presets) == (policy.limits, policy.presets)


def test_a_limit_beside_a_preset_wins_and_the_use_says_so() -> None:
    policy = Policy.from_dict({"limits": {"preset": "public_use_file", "k_anonymity.k": 4}})
    assert policy.limits["k_anonymity.k"] == 4
    removed = policy.with_(limits={"k_anonymity.k": 4.0, "rare_combinations.records": 0.0})
    use = describe_use(removed.presets, removed.limits)[0]
    assert use["changed"] == {"k_anonymity.k": 4.0, "reidentification.marketer": None}
    sentence = describe_preset(use)
    assert "k_anonymity.k is 4 in place of 5" in sentence
    assert "reidentification.marketer was removed" in sentence


def test_several_presets_are_joined_and_different_numbers_need_a_decision() -> None:
    both = Policy.from_dict({"limits": {"preset": ["k_5", "hipaa_safe_harbor"]}})
    assert both.limits == {"k_anonymity.k": 5, "safe_harbor.failing": 0}
    with pytest.raises(PolicyError, match=r"different numbers for k_anonymity\.k: 5 and 10"):
        Policy.from_dict({"limits": {"preset": ["k_5", "k_10"]}})
    decided = Policy.from_dict({"limits": {"preset": ["k_5", "k_10"], "k_anonymity.k": 10}})
    assert decided.limits == {"k_anonymity.k": 10}


@pytest.mark.parametrize("limits", [{"preset": "k_55"}, {"preset": 5}, {"preset": None}, {"preset": ["k_5", "x"]}])
def test_an_unknown_preset_is_an_error_that_names_the_nearest(limits: dict[str, object]) -> None:
    with pytest.raises(PolicyError, match=r"the policy: there is no preset '.*'; "):
        Policy.from_dict({"limits": limits})
    with pytest.raises(PolicyError, match="there is no preset 'nothing'"):
        Policy.from_dict({"presets": ["nothing"]})


def test_the_verdict_names_the_preset_and_what_it_checked_and_claims_no_compliance() -> None:
    data = table({"age": [1, 1, 2, 2], "sick": ["a", "b", "a", "b"]}, key=["age"])
    chosen = Policy.from_dict({"limits": {"preset": "k_3"}})
    data = data.with_policy(data.policy.with_(limits=chosen.limits, presets=chosen.presets))
    assessment = discreet.assess(data, data)
    assert assessment.status == "not met"
    assert assessment.to_dict()["presets"][0]["name"] == "k_3"
    assert assessment.preset_sentences[0].startswith("Preset k_3 (k-anonymity, k = 3): it checks that every combination")
    assert assessment.preset_sentences[-1] == NO_COMPLIANCE


@pytest.mark.parametrize("size", [3, 5, 10])
@pytest.mark.parametrize("classes", [1, 3, 7, 1000])
def test_classes_of_k_meet_the_average_risk_of_k_however_many_there_are(size: int, classes: int) -> None:
    data = table({"age": [number // size for number in range(size * classes)]}, key=["age"])
    mean = discreet.risk(data, "reidentification")["reidentification"]["prosecutor_mean"]
    assert mean <= PRESETS[f"k_{size}_average"].limits["reidentification.prosecutor_mean"]


def test_the_command_line_lists_describes_and_prints_yaml(tmp_path: Path) -> None:
    assert list(json.loads(run_command("presets", "--json", folder=tmp_path).stdout)) == list(PRESETS)
    described = run_command("presets", "cell_size_11", folder=tmp_path).stdout
    assert "k_anonymity.k" in described
    assert "Medicare" in described
    assert NO_COMPLIANCE in described
    printed = run_command("presets", "k_5_average", "--yaml", folder=tmp_path).stdout
    assert parse_policy(printed).limits == dict(PRESETS["k_5_average"].limits)
    wrong = run_command("presets", "k_7", folder=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert run_command("presets", "--yaml", folder=tmp_path).returncode == 2


def test_assess_and_the_report_name_the_preset(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,sick\n" + "44,flu\n45,cold\n" * 6)
    (tmp_path / "p.yaml").write_text(
        "attributes: {age: {role: key}, sick: {role: confidential}}\nlimits: {preset: cell_size_11}\n"
    )
    judged = run_command("assess", "t.csv", "t.csv", "-p", "p.yaml", folder=tmp_path)
    assert judged.returncode == 1
    assert "Preset cell_size_11" in judged.stdout
    assert run_command("report", "t.csv", "t.csv", "-p", "p.yaml", "-o", "r.html", folder=tmp_path).returncode == 1
    page = (tmp_path / "r.html").read_text()
    assert "Presets behind the limits" in page
    assert NO_COMPLIANCE in page
