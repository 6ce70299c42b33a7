"""The report by criterion: the fields exist, numbers are those of the measures, and what was not examined is said."""

from __future__ import annotations

from pathlib import Path

from command_line import run_command

from discreet import registry
from discreet.report.criteria import CRITERIA, describe_gauges, rows_by_criterion


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


def _row(field: str, after: object, informed: object = None) -> dict[str, object]:
    return {"field": field, "before": None, "after": after, "informed": informed, "meaning": "", "better": "low"}


def test_a_gauge_shows_the_stronger_intruder_with_interval_and_limit() -> None:
    fields = [_row("risk", None, 0.06), _row("lower", None, 0.02), _row("upper", None, 0.14)]
    limits = [{"limit": "inference.risk", "wanted": 0.09, "status": "incomplete"}]
    gauges = {gauge["name"]: gauge for gauge in describe_gauges([{"measure": "inference", "fields": fields}], limits)}
    assert list(gauges) == ["Singling out", "Linkability", "Inference"]
    inference = gauges["Inference"]
    assert (inference["value"], inference["interval"], inference["limit"]) == (0.06, [0.02, 0.14], 0.09)
    assert (inference["top"], inference["status"]) == (0.2, "incomplete")
    assert inference["at"] == {"value": 30.0, "limit": 45.0, "low": 10.0, "high": 70.0}
    assert gauges["Linkability"]["value"] is None


def test_a_gauge_falls_back_to_the_exact_number_without_an_interval() -> None:
    entry = {"measure": "exhaustive_attack", "fields": [_row("singled_out", 0.4), _row("risk", 1.0)]}
    singling, linkability, inference = describe_gauges([entry], [])
    assert (singling["field"], singling["value"], singling["interval"]) == ("exhaustive_attack.singled_out", 0.4, [])
    assert (inference["value"], inference["top"], inference["limit"]) == (1.0, 1.0, None)
    assert linkability["field"] == ""


def test_a_number_that_a_report_hides_is_not_drawn() -> None:
    (singling, *_) = describe_gauges([{"measure": "singling_out", "fields": [_row("risk", "<0.05")]}], [])
    assert singling["value"] is None
