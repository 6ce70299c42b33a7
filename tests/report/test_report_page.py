"""The report begins with the verdict, draws its charts, and does not disclose planted values."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.masking.release import release_table
from discreet.model.microdata import Microdata
from discreet.model.results import Release
from discreet.report.evidence import gather
from discreet.report.interactive import page_script, safe_json
from discreet.report.page import as_json, render


def without_script(page: str) -> str:
    """The page without the one script that it allows, which must be there unchanged."""
    assert page.count(f"<script>{page_script()}</script>") == 1
    return page.replace(f"<script>{page_script()}</script>", "")


def test_a_planted_value_is_nowhere_in_the_public_report(
    release: Release, page: str, secrets: dict[str, Any], readings: Callable[[str], list[str]]
) -> None:
    machine = as_json(gather(release.original, release))
    for text in (*readings(page), machine):
        for name, value in secrets.items():
            assert str(value) not in text, f"the planted {name} is disclosed"
            assert str(value).split()[-1].rstrip(")</script>") not in text
        assert f"{secrets['income']:,}" not in text
        assert "Person Number" not in text
        assert "100-00-" not in text


def test_a_planted_value_is_in_the_internal_report_which_says_so(release: Release, secrets: dict[str, Any]) -> None:
    page = render(gather(release.original, release, internal=True))
    assert secrets["job"] in page
    assert "as confidential as the original data" in page
    rest = without_script(page)
    assert re.findall(r"<script[^>]*>", rest) == ['<script type="application/json" id="specs">'], "a value became markup"
    specs = re.search(r'id="specs">(.*?)</script>', rest, flags=re.DOTALL)
    assert specs is not None
    assert secrets["job"] in specs[1]
    assert "<" not in specs[1]
    towns = json.loads(specs[1])["dist2"]
    assert secrets["town"] in str(towns), "an escaped value is not read back unchanged"


def test_no_planted_value_is_disclosed_after_local_suppression(
    people: Microdata, secrets: dict[str, Any], readings: Callable[[str], list[str]]
) -> None:
    release = discreet.mask(people, {"steps": [{"method": "remove_identifiers"}, {"method": "local_suppression", "k": 3}]})
    page = render(gather(people, release))
    for value in secrets.values():
        assert not any(str(value) in text for text in readings(page))


def test_the_verdict_comes_first(page: str) -> None:
    assert page.index("The release does not meet its limits") < page.index("<table>") < page.index("<svg")


def test_the_page_has_no_links_and_loads_nothing(page: str) -> None:
    rest = without_script(page).replace('<script type="application/json" id="specs">', "")
    assert not re.findall(r"https?://", rest)
    assert not re.findall(r"<(?:script|link|iframe|img|object|embed)\b", rest)
    assert not re.findall(r"\b(?:src|href|xlink:href|action)=", rest)


def test_the_page_allows_its_own_script_by_its_hash_and_nothing_else(page: str) -> None:
    allowed = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert allowed is not None
    rules = dict(rule.strip().split(" ", 1) for rule in html.unescape(allowed[1]).split(";"))
    digest = base64.b64encode(hashlib.sha256(page_script().encode()).digest()).decode()
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert "connect-src" not in rules


@given(st.text())
def test_no_text_in_the_embedded_json_can_end_its_html_element(text: str) -> None:
    embedded = safe_json({text: text})
    assert not set(embedded) & set("<>&\u2028\u2029")
    assert json.loads(embedded) == {text: text}


def test_every_chart_is_in_the_page_as_svg_and_as_specification(page: str) -> None:
    specs = re.search(r'id="specs">(.*?)</script>', page, flags=re.DOTALL)
    assert specs is not None
    assert sorted(json.loads(specs[1])) == sorted(re.findall(r'<div class="chart" id="([^"]+)"><svg class="still"', page))


def test_values_of_the_data_are_escaped(page: str) -> None:
    assert "Bergen & Co <b>" not in page
    assert "Bergen &amp; Co &lt;b&gt;" in page


def test_every_chart_has_a_title_and_a_description_and_ids_are_unique(page: str) -> None:
    page = without_script(page)
    drawings = re.findall(r"<svg .*?</svg>", page, flags=re.DOTALL)
    assert len(drawings) >= 2 + 1 + 5
    for drawing in drawings:
        assert re.search(r"<title id=\"[^\"]+\">[^<]+</title><desc id=\"[^\"]+\">[^<]+</desc>", drawing)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_the_internal_json_contains_the_exact_numbers(release: Release) -> None:
    report = json.loads(as_json(gather(release.original, release, by="the owner", internal=True)))
    assert report["format"] == "discreet report 2"
    assert report["confidential"] is True
    assert report["marking"] == "CONFIDENTIAL: for the data controller only"
    assert report["made"]["by"] == "the owner"
    assert [limit["limit"] for limit in report["verdict"]["limits"]] == ["k_anonymity.k", "known_sets.high_risk"]
    assert report["verdict"]["ok"] is False
    assessed = discreet.assess(release.original, release)
    fields = {field["field"]: field for field in report["adversaries"][0]["fields"]}
    assert fields["high_risk"]["after"] == assessed.after["known_sets"]["high_risk"]
    assert fields["high_risk"]["before"] == assessed.before["known_sets"]["high_risk"]
    assert sum(row["before"] for row in report["histograms"][0]["rows"]) == 61
    riskiest = report["riskiest"][0]["rows"]
    risks = assessed.after["known_sets"].per_record["risk"]
    assert riskiest[0]["source_row"] == int(release.link[int(risks.arg_max())]) + 1
    written = [int(record) for record in release_table(release).records]
    assert [written[row["release_row"] - 1] + 1 for row in riskiest] == [row["source_row"] for row in riskiest]
    assert [row["risk"] for row in riskiest] == pytest.approx(risks.sort(descending=True).head(10).to_list())


def test_every_printed_page_of_the_internal_report_is_marked_and_none_of_the_public_one(release: Release, page: str) -> None:
    mark = r'@page \{[^@]*@top-center \{ content: "CONFIDENTIAL: for the data controller only"'
    assert re.search(mark, render(gather(release.original, release, internal=True)))
    assert "CONFIDENTIAL" not in page


def test_without_limits_there_is_no_verdict(people: Microdata) -> None:
    data = people.with_policy(people.policy.with_(limits={}))
    page = render(gather(data, discreet.mask(data)))
    assert "no limits are set, so the release was not judged" in page


def test_a_table_without_records_has_a_report(people: Microdata) -> None:
    empty = people.replace(people.frame.clear(), people.records[:0])
    page = render(gather(empty, discreet.mask(empty, {"steps": [{"method": "remove_identifiers"}]})))
    assert "Release report" in page


def test_a_chart_of_which_every_count_is_hidden_is_replaced_by_a_sentence() -> None:
    """The page showed the word None above the caption."""
    policy = {"attributes": {"age": {"role": "key"}}, "risk": {"k_anonymity": {}}, "limits": {"k_anonymity.k": 2}}
    data = discreet.read(pl.DataFrame({"age": [30, 30, 40, 41]}), policy)
    few = discreet.mask(data, {"steps": []})
    page = without_script(render(gather(few.original, few)))
    assert "No count can be shown." in page
    assert not re.search(r"<figure>(<h3>[^<]*</h3>)?None", page)
