"""discreet sensitivity as a user sees it: sentences and tables, one JSON object, exit status 0, 1 or 2."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from command_line import run_command

TABLE = "age,zip,disease\n30,1,Flu\n30,1,HIV\n41,2,Flu\n41,2,Flu\n52,3,HIV\n30,2,Flu\n"
POLICY = """
attributes:
  age: {{role: key, known: 0.2}}
  zip: {{role: key, known: 0.1}}
  disease: {{role: confidential, sensitivity: 1.0}}
risk:
  known_sets: {{alpha: 1, epsilon: 0, threshold: 0.6}}
limits: {limits}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "met.yaml").write_text(POLICY.format(limits="{known_sets.high_risk: 0, k_anonymity.k: 1}"))
    (tmp_path / "missed.yaml").write_text(POLICY.format(limits="{known_sets.mean: 0.01}"))
    (tmp_path / "none.yaml").write_text(POLICY.format(limits="{}"))
    return tmp_path


def test_verdict_influence_and_curve_are_printed_and_what_rests_on_no_guess_is_named(folder: Path) -> None:
    done = run_command("sensitivity", "t.csv", "-p", "met.yaml", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "The verdict rests most on your guess for age." in done.stdout
    assert "the verdict holds while every guess is off by at most" in done.stdout.lower()
    assert "does not flip down to every probability 0" in done.stdout
    assert "k_anonymity.k rests on no guess" in done.stdout
    assert "High-risk records by threshold" in done.stdout


def test_json_has_where_every_verdict_flips(folder: Path) -> None:
    done = run_command("sensitivity", "t.csv", "-p", "met.yaml", "--json", folder=folder)
    content = json.loads(done.stdout)
    assert content["records"] == 6
    assert content["unaffected"] == ["k_anonymity.k"]
    found = content["measures"]["known_sets"]
    assert {(reach["kind"], reach["attribute"]) for reach in found["reaches"]} == {
        ("factor", None), ("known", "age"), ("known", "zip"), ("known", "disease"), ("sensitivity", "disease"),
    }  # fmt: skip
    # the person of 52 is alone by age or zip: 1/6 + p + q + p q is greater than 0.6 from p = 1/3.3 on, where q = 0.1
    age = next(reach for reach in found["reaches"] if reach["attribute"] == "age")
    assert age["holds_to"] == pytest.approx(1 / 3.3, rel=2e-3)
    assert age["holds_to"] <= 1 / 3.3 <= age["flipped_above"]
    assert found["strongest"] == "age"
    assert {"threshold", "share", "low", "high"} == set(found["curve"][0])
    assert found["box"]["half_width"] > 0


@pytest.mark.parametrize(("policy", "message"), [("missed.yaml", "not met: known_sets.mean"), ("none.yaml", "no limits are set")])
def test_limits_that_are_missed_or_absent_exit_with_1(folder: Path, policy: str, message: str) -> None:
    done = run_command("sensitivity", "t.csv", "-p", policy, folder=folder)
    assert done.returncode == 1
    assert message in done.stderr


def test_a_masked_table_elasticities_per_record_and_charts(folder: Path) -> None:
    frame = pl.read_csv(folder / "t.csv").with_columns(pl.lit(None, dtype=pl.Int64).alias("zip"))
    frame.write_csv(folder / "m.csv")
    done = run_command("sensitivity", "t.csv", "m.csv", "-p", "met.yaml", "--records", "e.csv", "--chart", "c.svg", folder=folder)
    assert done.returncode in (0, 1), done.stderr
    elasticities = pl.read_csv(folder / "e.csv")
    assert len(elasticities) == 6
    assert "known_sets.known.age" in elasticities.columns
    assert (folder / "c.svg").read_text().startswith("<svg")
    again = run_command("sensitivity", "t.csv", "-p", "met.yaml", "--chart", "c.svg", folder=folder)
    assert again.returncode == 2
    assert "exists" in again.stderr


def test_wrong_calls_say_what_is_wrong_in_one_sentence(folder: Path) -> None:
    done = run_command("sensitivity", "t.csv", "-p", "met.yaml", "--link", "x.csv", folder=folder)
    assert done.returncode == 2
    assert "MASKED" in done.stderr
    chart = run_command("sensitivity", "t.csv", "-p", "met.yaml", "--chart", "c.gif", folder=folder)
    assert chart.returncode == 2
    assert ".svg" in chart.stderr
