"""The report shows every plan that a search tried on one map, the same from the result and from its JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import discreet
from discreet.cli.app import app
from discreet.errors import SourceError
from discreet.model.microdata import Microdata
from discreet.report.evidence import gather
from discreet.report.page import render
from discreet.report.redaction import Redactor
from discreet.report.search_map import describe_search, read_selection, selection_content
from discreet.selection.results import Selection
from discreet.testing import students

POLICY: dict[str, Any] = {
    "attributes": {
        "gender": {"role": "key", "known": 0.8}, "age": {"role": "key", "known": 0.3},
        "homeless": {"role": "confidential", "sensitivity": 1.0, "values": {"yes": 1.0}},
    },
    "limits": {"k_anonymity.k": 3},
    "select": {"trials": 6, "seed": 7},
}  # fmt: skip


@pytest.fixture(scope="module")
def selection() -> Selection:
    frame = students(400, dense=True).frame.select("gender", "age", "homeless")
    return discreet.select(discreet.read(frame, POLICY))


def test_the_result_and_its_json_give_the_same_map(selection: Selection, tmp_path: Path) -> None:
    path = tmp_path / "search.json"
    path.write_text(json.dumps(selection_content(selection)))
    redactor = Redactor(selection.release.original)
    assert describe_search(selection, redactor) == describe_search(read_selection(path), redactor)


def test_every_plan_is_on_the_map_and_one_is_chosen(selection: Selection) -> None:
    search_content = describe_search(selection, Redactor(selection.release.original))
    assert {row["plan"] for row in search_content["rows"]} == {plan.name for plan in selection.placed}
    assert {row["plan"] for row in search_content["rows"] if row["frontier"]} == {plan.name for plan in selection.frontier}
    [chosen] = [row for row in search_content["rows"] if row["chosen"]]
    assert (chosen["risk"], chosen["loss"]) == (abs(selection.risk), selection.loss)
    assert all(row["steps"] for row in search_content["rows"] if row["frontier"])


def test_a_risk_of_which_more_is_safer_keeps_the_direction_of_its_measure() -> None:
    data = Microdata(pl.DataFrame({"a": [1, 1]}))
    search = {
        "met": True, "risk": {"name": "k_anonymity.k", "value": -5.0}, "loss": {"name": "ncp.loss", "value": 0.2},
        "frontier": [{"name": "plan 1", "risk": -5.0, "loss": 0.2, "kept": True, "plan": {}}],
        "tried": 1, "tried_on_sample": 0, "why": [],
    }  # fmt: skip
    search_content = describe_search(search, Redactor(data))
    assert search_content["better"] == "high"
    assert [(row["risk"], row["chosen"]) for row in search_content["rows"]] == [(5.0, True)]


def test_a_rare_value_in_a_plan_that_was_tried_is_withheld(people: Microdata, secrets: dict[str, Any]) -> None:
    step = {"method": "global_recoding", "columns": ["job"], "groups": {"away": [secrets["job"], "nurse"]}}
    search = {
        "met": True, "risk": {"name": "known_sets.mean", "value": 1.0}, "loss": {"name": "ncp.loss", "value": 0.2},
        "frontier": [{"name": "plan 1", "risk": 1.0, "loss": 0.2, "kept": True, "plan": {"steps": [step]}}],
        "tried": 1, "tried_on_sample": 0, "why": [f"It groups {secrets['job']} with others."],
    }  # fmt: skip
    page = render(gather(people, discreet.mask(people), selection=search))
    assert secrets["job"] not in page
    assert "(withheld)" in page
    assert "recode values of job into 1 group" in page


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"risk": 1}', '{"risk": {"name": "no.such"}, "frontier": []}'])
def test_a_file_that_is_no_search_is_refused_with_one_sentence(text: str, tmp_path: Path) -> None:
    path = tmp_path / "search.json"
    path.write_text(text)
    with pytest.raises(SourceError, match="is not the output of 'discreet select"):
        read_selection(path)
    with pytest.raises(SourceError, match="no such file"):
        read_selection(tmp_path / "nowhere.json")


def test_select_and_report_write_the_map(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    students(300, dense=True).frame.select("gender", "age", "homeless").write_csv("data.csv")
    Path("policy.yaml").write_text(json.dumps(POLICY))
    done = CliRunner().invoke(app, ["select", "data.csv", "-p", "policy.yaml", "-o", "c.yaml", "--report", "s.html", "--json"])
    assert done.exit_code == 0, done.output
    Path("search.json").write_text(done.stdout)
    assert CliRunner().invoke(app, ["mask", "data.csv", "m.csv", "-p", "c.yaml"]).exit_code == 0
    arguments = ["report", "data.csv", "m.csv", "-p", "c.yaml", "--selection", "search.json", "-o", "r.html"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    maps = [re.findall(r'<desc id="map-desc">(.*?)</desc>', Path(name).read_text()) for name in ("s.html", "r.html")]
    assert len(maps[0]) == 1
    assert maps[0] == maps[1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_map_is_drawn_and_accessible(
    scheme: str, selection: Selection, tmp_path: Path, watched: Callable[..., Any], axe_faults: Callable[..., list[str]]
) -> None:
    path = tmp_path / "report.html"
    path.write_text(render(gather(selection.release.original, selection.release, selection.assessment, selection=selection)))
    seen = watched(color_scheme=scheme)
    seen.page.goto(path.as_uri())
    seen.page.wait_for_selector("html.live-page")
    marks = seen.page.locator("#map .live .mark-symbol.role-mark path")
    assert marks.count() == len(selection.placed) + 1, "one point per plan, and the ring around the chosen one"
    assert not seen.complaints
    assert not seen.outside()
    assert not axe_faults(seen.page)
