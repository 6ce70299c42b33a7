"""Scenarios in reports: the numbers of each in the internal one, the worst one's name alone in the public one."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
from command_line import run_command

POLICY = """
attributes:
  age: {role: key, known: 0.1}
  zip: {role: key, known: 0.1}
  ill: {role: confidential, sensitivity: 1.0}
scenarios:
  neighbour: {age: 0.9, zip: 0.9}
risk:
  known_sets: {threshold: 60}
limits: {known_sets.high_risk: 0}
"""


def test_every_scenario_is_in_the_internal_report_and_only_the_worst_name_in_the_public_one(tmp_path: Path) -> None:
    pl.DataFrame({"age": [30, 30, 40, 50], "zip": ["A", "B", "A", "A"], "ill": ["x", "y", "y", "x"]}).write_csv(
        tmp_path / "t.csv"
    )
    (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
    found = {}
    for name, options in (("public", ()), ("internal", ("--internal",))):
        arguments = ("report", "t.csv", "t.csv", "-p", "p.yaml", "--json", f"{name}.json", "-o", f"{name}.html", *options)
        done = run_command(*arguments, folder=tmp_path)
        assert done.returncode == 1, done.stderr
        evidence = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
        found[name] = next(entry for entry in evidence["adversaries"] if entry["measure"] == "known_sets")
    assert not found["public"]["scenarios"]
    assert any("the worst is neighbour" in note for note in found["public"]["notes"])
    rows = {(row["scenario"], row["field"]): row["after"] for row in found["internal"]["scenarios"]}
    assert rows["neighbour", "high_risk"] == 4
    assert rows["attributes", "high_risk"] == 0
    page = (tmp_path / "internal.html").read_text(encoding="utf-8")
    assert "<td>neighbour</td><td>high_risk</td>" in page


def test_assess_prints_the_scenarios_side_by_side(tmp_path: Path) -> None:
    pl.DataFrame({"age": [30, 30, 40, 50], "zip": ["A", "B", "A", "A"], "ill": ["x", "y", "y", "x"]}).write_csv(
        tmp_path / "t.csv"
    )
    (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
    done = run_command("assess", "t.csv", "t.csv", "-p", "p.yaml", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    table = done.stdout.split("Scenarios (limits are judged on the worst)")[1]
    high = [line.split() for line in table.splitlines() if "high_risk" in line][:2]
    assert high == [
        ["attributes", "known_sets", "high_risk", "0", "0", "0"],
        ["neighbour", "known_sets", "high_risk", "4", "4", "4"],
    ]
