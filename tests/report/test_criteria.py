"""The report by criterion: the fields exist, numbers are those of the measures, and what was not examined is said."""

from __future__ import annotations

from pathlib import Path

from command_line import run_command

from discreet import registry
from discreet.report.criteria import CRITERIA, rows_by_criterion


def test_every_criterion_names_fields_that_measures_have() -> None:
    for criterion in CRITERIA:
        for name in criterion.fields:
            measure, field = name.split(".")
            assert field in registry.load("risk", measure).meaning, name


def test_measured_fields_are_listed_and_the_rest_is_not_examined() -> None:
    field = {"field": "unique", "before": 5, "after": 0, "informed": None, "meaning": "sample uniques", "better": "low"}
    rows = {row["name"]: row["rows"] for row in rows_by_criterion([{"measure": "k_anonymity", "fields": [field]}])}
    assert rows["Singling out"] == [{"limit": "k_anonymity.unique", **field}]
    assert rows["Inference"] == []
    assert list(rows) == ["Singling out", "Linkability", "Inference", "Membership", "Prosecutor", "Journalist", "Marketer"]


def test_a_report_of_attacks_on_some_people_is_written_internal_and_public(tmp_path: Path) -> None:
    rows = "\n".join(f"{20 + n % 30},{'mf'[n % 2]},{'abcd'[n % 4]}" for n in range(120))
    (tmp_path / "t.csv").write_text(f"age,sex,sick\n{rows}\n")
    (tmp_path / "p.yaml").write_text(
        "attributes: {age: {role: key}, sex: {role: key}, sick: {role: confidential}}\n"
        "risk: {inference: {attacks: 9}, linkability: {attacks: 9}, singling_out: {attacks: 9}, membership: {attacks: 9}, "
        "exhaustive_attack: {}, safe_harbor: {}}\n"
        "limits: {preset: wp216}\n"
        "plan: {holdout: 0.2, steps: [{method: microaggregation, columns: [age, sex], size: 4}]}\n"
    )
    for name, options in (("public.html", ()), ("internal.html", ("--internal",))):
        done = run_command("mask", "t.csv", "m.csv", "-p", "p.yaml", "--report", name, "--overwrite", *options, folder=tmp_path)
        assert done.returncode == 1, done.stderr
        page = (tmp_path / name).read_text()
        assert "By criterion and by intruder" in page
        assert "exhaustive_attack" in page
