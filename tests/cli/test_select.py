"""discreet select on files: what it writes runs, and its exit code says whether the limits are kept."""

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


def test_select_then_mask_then_assess_agree(folder: Path) -> None:
    policy(folder)
    (folder / "made").mkdir()
    done = RUN.invoke(app, ["select", "data.csv", "-p", "policy.yaml", "-o", "made/chosen.yaml", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["met"]
    assert found["tried"] >= 8
    masked = RUN.invoke(app, ["mask", "data.csv", "release.csv", "-p", "made/chosen.yaml", "--json"])
    assert masked.exit_code == 0, masked.output
    words = ["assess", "data.csv", "release.csv", "-p", "made/chosen.yaml", "--json", "--records", "records.csv"]
    assessed = RUN.invoke(app, words)
    assert assessed.exit_code == 0, assessed.output
    told = json.loads(assessed.stdout)
    assert {one["limit"]: one["found"] for one in told["limits"]} == {one["limit"]: one["found"] for one in found["limits"]}
    assert told["losses"]["ncp"]["loss"] == pytest.approx(found["loss"]["value"], rel=1e-12)
    assert discreet.read("records.csv").frame["chance"].max() <= 1 / 4
    release = discreet.read("release.csv", "made/chosen.yaml")
    assert discreet.risk(release, "k_anonymity")["k_anonymity"]["k"] >= 4
    assert discreet.risk(release, "known_sets")["known_sets"]["high_risk"] == 0


def test_limits_that_cannot_be_met_end_with_exit_1_and_the_nearest_plan(folder: Path) -> None:
    policy(folder, limits={"k_anonymity.k": 4, "ncp.loss": 0})
    done = RUN.invoke(app, ["select", "data.csv", "-p", "policy.yaml", "-o", "chosen.yaml"])
    assert done.exit_code == 1
    assert "no plan that was tried meets every limit; the nearest is in chosen.yaml; in the way:" in done.stderr
    assert "stands in the way" in done.stdout
    assert discreet.read("data.csv", "chosen.yaml").policy.limits == {"k_anonymity.k": 4, "ncp.loss": 0}


def test_options_go_over_the_policy_and_the_search_can_be_resumed(folder: Path) -> None:
    policy(folder)
    words = [
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
    first = RUN.invoke(app, [*words, "--json"])
    second = RUN.invoke(app, [*words, "--overwrite", "--json"])
    assert (first.exit_code, second.exit_code) == (0, 0), first.output
    one, other = json.loads(first.stdout), json.loads(second.stdout)
    assert one["tried"] >= 3
    assert one["plan"] == other["plan"]
    assert RUN.invoke(app, [*words, "--overwrite", "--seed", "2"]).exception is not None


def test_a_hierarchy_file_is_found_from_where_the_chosen_policy_lies(folder: Path) -> None:
    (folder / "genders.csv").write_text("female;*\nmale;*\n")
    file = policy(folder)
    content = yaml.safe_load(file.read_text())
    content["attributes"]["gender"]["hierarchy"] = "genders.csv"
    file.write_text(yaml.safe_dump(content))
    (folder / "made").mkdir()
    done = RUN.invoke(app, ["select", "data.csv", "-p", "policy.yaml", "-o", "made/chosen.yaml", "--trials", "3"])
    assert done.exit_code == 0, done.output
    assert RUN.invoke(app, ["mask", "data.csv", "release.csv", "-p", "made/chosen.yaml"]).exit_code == 0


def test_what_select_says_is_what_risk_and_loss_find_in_the_written_files(folder: Path) -> None:
    limits = {"k_anonymity.k": 4, "known_sets.high_risk": 0, "integrity.mean": 0.05, "integrity.correlation": 0.05}
    policy(folder, limits=limits)
    done = RUN.invoke(app, ["select", "data.csv", "-p", "policy.yaml", "-o", "chosen.yaml", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert RUN.invoke(app, ["mask", "data.csv", "release.csv", "-p", "chosen.yaml"]).exit_code == 0
    risks = json.loads(RUN.invoke(app, ["risk", "release.csv", "-p", "chosen.yaml", "--json"]).stdout)["measures"]
    words = ["loss", "data.csv", "release.csv", "-p", "chosen.yaml", "--json", "-m", "integrity", "-m", "ncp"]
    losses = json.loads(RUN.invoke(app, words).stdout)["measures"]
    told = {one["limit"]: one["found"] for one in found["limits"]}
    keys = pl.read_csv("release.csv", infer_schema=False).group_by(KEYS).len()["len"]
    assert told["k_anonymity.k"] == keys.min()
    assert told["known_sets.high_risk"] == risks["known_sets"]["high_risk"]
    for kind in ("mean", "correlation"):
        assert told[f"integrity.{kind}"] == pytest.approx(losses["integrity"][kind], rel=1e-9)
    assert found["loss"]["value"] == pytest.approx(losses["ncp"]["loss"], rel=1e-9)


def test_mask_warns_of_a_step_that_undoes_what_an_earlier_one_promised(folder: Path) -> None:
    steps = [
        {"method": "generalization", "columns": ["gender", "age", "grade"], "k": 4, "algorithm": "partition"},
        {"method": "sampling", "fraction": 0.5},
    ]
    policy(folder, limits={}, plan={"steps": steps})
    words = ["mask", "data.csv", "release.csv", "-p", "policy.yaml"]
    done = RUN.invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "warning: step 2 (sampling): takes or adds records, so the classes of step 1 (generalization) may" in done.stderr
    told = json.loads(RUN.invoke(app, [*words, "--overwrite", "--json"]).stdout)["warnings"]
    assert any("may become smaller" in sentence for sentence in told)
