"""discreet select on files: the policy it writes can be run, and its exit status says whether the limits are met."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from typer.testing import CliRunner

import discreet
from discreet.cli.app import app
from discreet.testing import students

RUN = CliRunner()
KEYS = ["gender", "age", "grade"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    students(600, dense=True).frame.select(*KEYS, "homeless", "felony").write_csv("data.csv")
    return tmp_path


def policy(folder: Path, **changes: Any) -> Path:
    content = {
        "attributes": {
            "gender": {"role": "key", "known": 0.8}, "age": {"role": "key", "known": 0.3}, "grade": {"role": "key", "known": 0.2},
            "homeless": {"role": "confidential", "sensitivity": 1.0, "values": {"yes": 1.0}},
            "felony": {"role": "confidential", "sensitivity": 1.0, "values": {"yes": 1.0}},
        },
        "risk": {"known_sets": {"threshold": 1.0}},
        "limits": {"k_anonymity.k": 4, "known_sets.high_risk": 0},
        "select": {"trials": 8, "seed": 7},
    } | changes  # fmt: skip
    file = folder / "policy.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


def measured_limits(result: dict[str, Any]) -> dict[str, float]:
    return {limit["limit"]: limit["found"] for limit in result["limits"]}


def objective(losses: dict[str, dict[str, float]]) -> float:
    """The formula of the documentation, from the numbers that the commands print."""
    information = (losses["ncp"]["loss"] + losses["ncp"]["worst"]) / 2
    falsehood = (losses["falsehood"]["loss"] + losses["falsehood"]["worst"]) / 2
    return (information + falsehood + losses["associations"]["loss"]) / 3


def test_select_then_mask_then_assess_agree(folder: Path) -> None:
    policy(folder)
    (folder / "made").mkdir()
    done = RUN.invoke(app, ["select", "data.csv", "-p", "policy.yaml", "-o", "made/chosen.yaml", "--json"])
    assert done.exit_code == 0, done.output
    selected = json.loads(done.stdout)
    assert selected["met"]
    assert selected["tried"] >= 8
    masked = RUN.invoke(app, ["mask", "data.csv", "release.csv", "-p", "made/chosen.yaml", "--json"])
    assert masked.exit_code == 0, masked.output
    arguments = ["assess", "data.csv", "release.csv", "-p", "made/chosen.yaml", "--json", "--records", "records.csv"]
    assessed = RUN.invoke(app, arguments)
    assert assessed.exit_code == 0, assessed.output
    assessment = json.loads(assessed.stdout)
    assert measured_limits(assessment) == measured_limits(selected)
    assert objective(assessment["losses"]) == pytest.approx(selected["loss"]["value"], rel=1e-12)
    assert discreet.read("records.csv").frame["chance"].max() <= 1 / 4
    release = discreet.read("release.csv", "made/chosen.yaml")
    assert discreet.risk(release, "k_anonymity")["k_anonymity"]["k"] >= 4
    assert discreet.risk(release, "known_sets")["known_sets"]["high_risk"] == 0


def test_limits_that_cannot_be_met_end_with_exit_1_and_the_closest_plan(folder: Path) -> None:
    policy(folder, limits={"k_anonymity.k": 4, "ncp.loss": 0})
    done = RUN.invoke(app, ["select", "data.csv", "-p", "policy.yaml", "-o", "chosen.yaml"])
    assert done.exit_code == 1
    assert "no plan that was tried meets every limit; closest plan written to chosen.yaml; " in done.stderr
    assert "ncp.loss" in done.stderr.partition("written to chosen.yaml; ")[2]
    assert "ncp.loss" in done.stdout
    assert discreet.read("data.csv", "chosen.yaml").policy.limits == {"k_anonymity.k": 4, "ncp.loss": 0}


def test_options_go_over_the_policy_and_the_search_can_be_resumed(folder: Path) -> None:
    policy(folder)
    arguments = [
        "select",
        "data.csv",
        "-p",
        "policy.yaml",
        "-o",
        "chosen.yaml",
        "--trials",
        "3",
        "--seed",
        "1",
        "--resume",
        "journal",
    ]
    first = RUN.invoke(app, [*arguments, "--json"])
    second = RUN.invoke(app, [*arguments, "--overwrite", "--json"])
    assert (first.exit_code, second.exit_code) == (0, 0), first.output
    first_result, second_result = json.loads(first.stdout), json.loads(second.stdout)
    assert first_result["tried"] >= 3
    assert first_result["plan"] == second_result["plan"]
    assert RUN.invoke(app, [*arguments, "--overwrite", "--seed", "2"]).exception is not None


def test_the_chosen_policy_refers_to_hierarchy_files_relative_to_its_own_folder(folder: Path) -> None:
    (folder / "genders.csv").write_text("female;*\nmale;*\n")
    file = policy(folder)
    content = yaml.safe_load(file.read_text())
    content["attributes"]["gender"]["hierarchy"] = "genders.csv"
    file.write_text(yaml.safe_dump(content))
    (folder / "made").mkdir()
    done = RUN.invoke(app, ["select", "data.csv", "-p", "policy.yaml", "-o", "made/chosen.yaml", "--trials", "3"])
    assert done.exit_code == 0, done.output
    assert RUN.invoke(app, ["mask", "data.csv", "release.csv", "-p", "made/chosen.yaml"]).exit_code == 0


def test_the_numbers_of_select_are_those_that_risk_and_loss_measure_on_the_written_files(folder: Path) -> None:
    limits = {"k_anonymity.k": 4, "known_sets.high_risk": 0, "integrity.mean": 0.05, "integrity.correlation": 0.05}
    policy(folder, limits=limits)
    done = RUN.invoke(app, ["select", "data.csv", "-p", "policy.yaml", "-o", "chosen.yaml", "--json"])
    assert done.exit_code == 0, done.output
    selected = json.loads(done.stdout)
    assert RUN.invoke(app, ["mask", "data.csv", "release.csv", "-p", "chosen.yaml"]).exit_code == 0
    risks = json.loads(RUN.invoke(app, ["risk", "release.csv", "-p", "chosen.yaml", "--json"]).stdout)["measures"]
    names = ("integrity", "ncp", "falsehood", "associations")
    arguments = ["loss", "data.csv", "release.csv", "-p", "chosen.yaml", "--json", *(f"-m{name}" for name in names)]
    losses = json.loads(RUN.invoke(app, arguments).stdout)["measures"]
    measured = measured_limits(selected)
    keys = pl.read_csv("release.csv", infer_schema=False).group_by(KEYS).len()["len"]
    assert measured["k_anonymity.k"] == keys.min()
    assert measured["known_sets.high_risk"] == risks["known_sets"]["high_risk"]
    for statistic in ("mean", "correlation"):
        assert measured[f"integrity.{statistic}"] == pytest.approx(losses["integrity"][statistic], rel=1e-9)
    assert selected["loss"]["value"] == pytest.approx(objective(losses), rel=1e-9)


def test_mask_warns_of_a_step_that_undoes_the_guarantee_of_an_earlier_one(folder: Path) -> None:
    steps = [
        {"method": "generalization", "columns": ["gender", "age", "grade"], "k": 4, "algorithm": "partition"},
        {"method": "sampling", "fraction": 0.5},
    ]
    policy(folder, limits={}, plan={"steps": steps})
    arguments = ["mask", "data.csv", "release.csv", "-p", "policy.yaml"]
    done = RUN.invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert (
        "warning: step 2 (sampling): removes or adds records, so the equivalence classes of step 1 (generalization) may"
        in done.stderr
    )
    warnings = json.loads(RUN.invoke(app, [*arguments, "--overwrite", "--json"]).stdout)["warnings"]
    assert any("may become smaller" in sentence for sentence in warnings)
