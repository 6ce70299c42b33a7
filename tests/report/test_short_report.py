"""The short report: two pages whatever the evidence contains, the numbers of the full report, and what is missing is said."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import run_command

import discreet
from discreet import registry
from discreet.assessment.limit_sentences import limit_sentence
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.presets.catalogue import PRESETS, describe_use
from discreet.model.results import Release
from discreet.report.evidence import gather
from discreet.report.formats import write_form
from discreet.report.page import render
from discreet.report.short.page import render_short
from discreet.report.short.summary import summarize
from discreet.testing import hospital

HOSTILE = "<script>alert(1)</script> #panic() $x$ *b* \\ \u202e \x07 漢字 عربى 🙂 "


def count_pages(pdf: bytes) -> int:
    """Pages of a PDF whose page tree is not compressed."""
    return max(int(count) for count in re.findall(rb"/Count (\d+)", pdf))


@pytest.fixture(scope="module")
def attacked() -> Release:
    frame = hospital(300).frame.select("name", "sex", "marital", "diagnosis")
    content = {
        "attributes": {
            "name": {"role": "identifier"}, "sex": {"role": "key"}, "marital": {"role": "key"},
            "diagnosis": {"role": "confidential"},
        },
        "risk": {"exhaustive_attack": {"size": 2}, "reidentification": {}},
        "environment": {"purpose": "Research on stays", "approval": "The board, yearly"},
        "limits": {"preset": ["wp216", "max_risk_0.09"]},
        "plan": {"seed": 3, "holdout": 0.2, "steps": [{"method": "remove_identifiers"}, {"method": "local_suppression", "k": 5}]},
    }  # fmt: skip
    return discreet.mask(Microdata(frame, Policy.from_dict(content), "stays.csv"))


@pytest.fixture(scope="module")
def evidence(attacked: Release) -> dict[str, Any]:
    return gather(attacked.original, attacked)


def inflate(evidence: dict[str, Any]) -> dict[str, Any]:
    """Evidence as long as the owner and the data can make it: every measure, every preset, hundreds of columns and steps."""
    long_name = "a_column_with_a_name_that_goes_on_and_on_" + "x" * 80
    columns = [f"{long_name}{number}" for number in range(200)]
    limits = [
        {**evidence["verdict"]["limits"][0], "limit": f"{measure}.{field}", "status": ("met", "not met", "incomplete")[at % 3]}
        for at, (measure, field) in enumerate(
            (measure, field) for measure in registry.installed_names("risk") for field in registry.load("risk", measure).better
        )
    ]
    fields = {measure: registry.load("risk", measure) for measure in registry.installed_names("risk")}
    adversaries = [
        {
            "measure": measure,
            "parameters": {},
            "fields": [
                {"field": field, "meaning": plugin.meaning[field], "before": 0.123456, "after": 0.0123456, "informed": 0.0123,
                 "better": "low"}
                for field in plugin.meaning
            ],
        }
        for measure, plugin in fields.items()
    ]  # fmt: skip
    presets = [use | {"changed": dict.fromkeys(columns[:9], 1)} for use in describe_use(list(PRESETS), {})]
    return {
        **evidence,
        "tables": {
            "original": {**evidence["tables"]["original"], "source": HOSTILE * 20},
            "masked": {**evidence["tables"]["masked"], "source": HOSTILE * 20, "sha256": "f" * 64},
        },
        "verdict": {
            **evidence["verdict"], "limits": limits, "presets": presets, "sentence": HOSTILE * 40, "gaps": [HOSTILE * 40] * 30,
            "warnings": [HOSTILE * 40] * 30,
        },
        "steps": [
            {"method": "targeted_generalization", "columns": columns, "changed": 10**9, "removed": 10**9, "added": 10**9}
        ] * 40,
        "adversaries": adversaries,
        "environment": [{"name": "other data", "meaning": s["meaning"], "text": HOSTILE * 40} for s in evidence["environment"]],
        "coverage": [
            {"column": name, "concern": "c" * 300, "accepted": None if at % 2 else HOSTILE * 9} for at, name in enumerate(columns)
        ],
        "assumptions": [
            {"attribute": name, "role": ("key", "confidential", "other")[at % 3]} for at, name in enumerate(columns)
        ],
        "how_far": [{"sentences": [HOSTILE * 40] * 9, "rows": []}],
        "not_measured": columns,
    }  # fmt: skip


@pytest.mark.parametrize("inflated", [False, True])
def test_the_short_report_as_pdf_has_at_most_two_pages(evidence: dict[str, Any], inflated: bool) -> None:
    pdf = write_form(inflate(evidence) if inflated else evidence, "pdf", short=True)
    assert pdf.startswith(b"%PDF-")
    assert count_pages(pdf) <= 2


@pytest.mark.parametrize("inflated", [False, True])
def test_the_short_report_printed_by_a_browser_has_at_most_two_pages(
    evidence: dict[str, Any], inflated: bool, watched: Callable[..., Any]
) -> None:
    page = watched().page
    page.set_content(render_short(inflate(evidence) if inflated else evidence))
    assert count_pages(page.pdf(prefer_css_page_size=True)) <= 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_short_report_opens_without_requests_errors_or_accessibility_faults(
    evidence: dict[str, Any], scheme: str, tmp_path: Path, watched: Callable[..., Any], axe_faults: Callable[..., list[str]]
) -> None:
    file = tmp_path / "short.html"
    file.write_text(render_short(inflate(evidence)), encoding="utf-8")
    seen = watched(color_scheme=scheme)
    seen.page.goto(file.as_uri())
    assert seen.requests == [file.as_uri()]
    assert not seen.complaints
    assert not axe_faults(seen.page)


def test_values_are_text_on_the_short_page_and_never_markup(evidence: dict[str, Any]) -> None:
    page = render_short(inflate(evidence))
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_the_numbers_of_the_short_report_are_those_of_the_full_one(evidence: dict[str, Any]) -> None:
    content = summarize(evidence)
    full = {f"{entry['measure']}.{row['field']}": row for entry in evidence["adversaries"] for row in entry["fields"]}
    rows = [row for entry in (*content["criteria"], *content["attackers"]) for row in entry["rows"]]
    assert {row["limit"] for row in rows} >= {"singling_out.risk", "linkability.risk", "inference.risk"}
    for row in rows:
        number = full[row["limit"]]
        assert row["after"] == (number["after"] if number["informed"] is None else number["informed"])
    attacked = next(row for row in rows if row["limit"] == "inference.risk")
    assert re.fullmatch(r"[\d.]+ to [\d.]+ \(95 %\)", attacked["uncertainty"])
    counted = next(row for row in rows if row["limit"] == "exhaustive_attack.risk")
    assert counted["uncertainty"] == "exact"


def test_limits_are_sentences_in_the_full_and_in_the_short_report(evidence: dict[str, Any]) -> None:
    pages = [html.unescape(page(evidence)) for page in (render, render_short)]
    limits = summarize(evidence)["verdict"]["limits"]
    assert len(limits) >= 4
    for limit in limits:
        words = limit_sentence(limit["limit"], limit["wanted"])
        assert all(words[:100] in page for page in pages)
    assert "Nobody is easier to find than one in 12" in pages[1]


def test_what_was_not_examined_or_not_stated_is_said(evidence: dict[str, Any]) -> None:
    sentences = " ".join(summarize(evidence)["not_examined"])
    assert "nothing is known about: membership" in sentences
    assert "Not stated about the data environment: recipients" in sentences
    assert "Nothing that is stated was checked" in sentences


def test_a_number_that_is_only_a_starting_value_is_called_so(evidence: dict[str, Any]) -> None:
    assert "0.09 is the level of EMA Policy 0070, a starting value to edit" in render_short(evidence)


def test_limits_that_are_not_met_come_first_and_those_left_out_are_counted(evidence: dict[str, Any]) -> None:
    verdict = summarize(inflate(evidence))["verdict"]
    assert {limit["status"] for limit in verdict["limits"]} == {"not met"}
    limits = len(inflate(evidence)["verdict"]["limits"])
    assert len(verdict["limits"]) + sum(verdict["limits_left_out"].values()) == limits


def test_a_report_is_written_full_and_short_as_html_pdf_and_json_by_the_ending(tmp_path: Path) -> None:
    rows = "\n".join(f"{20 + n % 30},{'mf'[n % 2]},{'abcd'[n % 4]}" for n in range(120))
    (tmp_path / "t.csv").write_text(f"age,sex,sick\n{rows}\n")
    (tmp_path / "p.yaml").write_text(
        "attributes: {age: {role: key}, sex: {role: key}, sick: {role: confidential}}\n"
        "risk: {k_anonymity: {}}\nlimits: {k_anonymity.k: 1}\n"
        "plan: {steps: [{method: microaggregation, columns: [age], size: 4}]}\n"
    )
    made = run_command(
        "mask", "t.csv", "m.csv", "-p", "p.yaml", "--report", "r.pdf", "--short-report", "s.html", folder=tmp_path
    )  # fmt: skip
    assert made.returncode in (0, 1), made.stderr
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF-")
    assert "microaggregation" in (tmp_path / "s.html").read_text()
    again = ("report", "t.csv", "m.csv", "-p", "p.yaml", "--short")
    done = run_command(*again, "-o", "s.pdf", "--json", "s.json", folder=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    assert count_pages((tmp_path / "s.pdf").read_bytes()) <= 2
    content = json.loads((tmp_path / "s.json").read_text())
    assert content["steps"] == {"logged": False, "rows": [{"method": "microaggregation", "columns": "age"}], "left_out": 0}
    done = run_command(*again, "--internal", "-o", "i.pdf", folder=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    assert (tmp_path / "i.pdf").stat().st_mode & 0o777 == 0o600


def test_the_public_short_report_contains_no_planted_value(release: Release, secrets: dict[str, Any]) -> None:
    page = html.unescape(render_short(gather(release.original, release)))
    for value in secrets.values():
        assert str(value) not in page
