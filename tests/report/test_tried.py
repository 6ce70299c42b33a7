"""The report shows what the wizard tried: every plan on one map, told the same from the result and from its printed form."""

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
from discreet.report.redaction import Discretion
from discreet.report.search_map import content, read_selection, tried
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
def found() -> Selection:
    frame = students(400, dense=True).frame.select("gender", "age", "homeless")
    return discreet.select(discreet.read(frame, POLICY))


def test_the_result_and_its_printed_form_tell_the_same(found: Selection, tmp_path: Path) -> None:
    path = tmp_path / "search.json"
    path.write_text(json.dumps(content(found)))
    discretion = Discretion(found.release.original)
    assert tried(found, discretion) == tried(read_selection(path), discretion)


def test_every_plan_is_on_the_map_and_one_is_the_chosen(found: Selection) -> None:
    told = tried(found, Discretion(found.release.original))
    assert {row["plan"] for row in told["rows"]} == {one.name for one in found.placed}
    assert {row["plan"] for row in told["rows"] if row["frontier"]} == {one.name for one in found.frontier}
    [chosen] = [row for row in told["rows"] if row["chosen"]]
    assert (chosen["risk"], chosen["loss"]) == (abs(found.risk), found.loss)
    assert all(row["steps"] for row in told["rows"] if row["frontier"])


def test_a_risk_of_which_more_is_safer_is_told_as_its_measure_tells_it() -> None:
    data = Microdata(pl.DataFrame({"a": [1, 1]}))
    search = {
        "met": True, "risk": {"name": "k_anonymity.k", "value": -5.0}, "loss": {"name": "ncp.loss", "value": 0.2},
        "frontier": [{"name": "plan 1", "risk": -5.0, "loss": 0.2, "kept": True, "plan": {}}],
        "tried": 1, "tried_on_sample": 0, "why": [],
    }  # fmt: skip
    told = tried(search, Discretion(data))
    assert told["better"] == "high"
    assert [(row["risk"], row["chosen"]) for row in told["rows"]] == [(5.0, True)]


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
    assert "global_recoding of job" in page


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"risk": 1}', '{"risk": {"name": "no.such"}, "frontier": []}'])
def test_a_file_that_is_no_search_is_told_in_a_sentence(text: str, tmp_path: Path) -> None:
    path = tmp_path / "search.json"
    path.write_text(text)
    with pytest.raises(SourceError, match="is not what 'discreet select"):
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
    words = ["report", "data.csv", "m.csv", "-p", "c.yaml", "--selection", "search.json", "-o", "r.html"]
    assert CliRunner().invoke(app, words).exit_code == 0
    maps = [re.findall(r'<desc id="map-desc">(.*?)</desc>', Path(name).read_text()) for name in ("s.html", "r.html")]
    assert len(maps[0]) == 1
    assert maps[0] == maps[1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_map_is_drawn_and_can_be_read_by_all(
    scheme: str, found: Selection, tmp_path: Path, watched: Callable[..., Any], axe_faults: Callable[..., list[str]]
) -> None:
    path = tmp_path / "report.html"
    path.write_text(render(gather(found.release.original, found.release, found.assessment, selection=found)))
    seen = watched(color_scheme=scheme)
    seen.page.goto(path.as_uri())
    seen.page.wait_for_selector("html.live-page")
    marks = seen.page.locator("#map .live .mark-symbol.role-mark path")
    assert marks.count() == len(found.placed) + 1, "a point a plan, and a ring"
    assert not seen.complaints
    assert not seen.outside()
    assert not axe_faults(seen.page)
