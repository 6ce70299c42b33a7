"""Two drafts side by side: what differs is what the plans, limits and tables say, on one basis for both."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from web_jobs import run

from discreet.model.policy import Plan
from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.projects import datasets, policies, projects
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings
from discreet.web.workspace import drafts
from discreet.web.workspace.differences import compare_numbers, compare_plans

SIZE = 300
COLUMNS = st.sampled_from([["age"], ["pay"]])
rounding = st.fixed_dictionaries({"method": st.just("rounding"), "columns": COLUMNS, "base": st.integers(1, 3)})
steps = st.lists(rounding | st.just({"method": "remove_identifiers"}), max_size=5)


@given(steps, steps)
def test_both_plans_are_read_down_the_rows_and_only_equal_steps_are_the_same(
    first: list[dict[str, Any]], second: list[dict[str, Any]]
) -> None:
    rows = compare_plans(Plan.model_validate({"steps": first}), Plan.model_validate({"steps": second}))
    for side, plan in (("a", first), ("b", second)):
        assert [row[side]["number"] for row in rows if row[side] is not None] == list(range(1, len(plan) + 1))
    for row in rows:
        if row["a"] is not None and row["b"] is not None:
            a, b = first[row["a"]["number"] - 1], second[row["b"]["number"] - 1]
            assert a["method"] == b["method"], "only steps of one method stand beside each other"
            assert row["same"] == (a == b)
            assert {one["name"] for one in row["differences"]} == {name for name in a if a[name] != b[name]}
        else:
            assert not row["same"]
    if first == second:
        assert all(row["same"] for row in rows)


@given(st.integers(0, 9), st.integers(0, 9))
def test_the_better_number_is_the_one_on_the_safer_side(first: int, second: int) -> None:
    (row,) = compare_numbers("risk", {"k_anonymity": {"k": first}}, {"k_anonymity": {"k": second}})
    assert row["better"] == ("same" if first == second else "a" if first > second else "b"), "a larger k is safer"
    (row,) = compare_numbers("loss", {"ncp": {"loss": first}}, {"ncp": {"loss": second}})
    assert row["better"] == ("same" if first == second else "a" if first < second else "b"), "a smaller loss is better"
    assert compare_numbers("risk", {"k_anonymity": {"k": first}}, {}) == [], "what one side did not measure is not compared"
    assert compare_numbers("loss", {"ncp": {"loss": float("nan")}}, {"ncp": {"loss": second}}) == [], "no number, no comparison"


def make_frame() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame({"age": rng.integers(18, 90, SIZE), "town": rng.choice(["A", "B"], SIZE)})


def plan(base: int) -> dict[str, Any]:
    return {"steps": [{"method": "rounding", "columns": ["age"], "base": base}]}


@pytest.fixture
def pair(settings: Settings, store: Store, anna: User, project: Project) -> tuple[Project, int]:
    """A project whose present plan rounds to 10, and the number of a draft that rounds to 30."""
    uploaded = datasets.receive_upload(settings, project, iter([make_frame().write_csv().encode()]), "people.csv")
    run(settings, store, anna, project, "import", upload=uploaded.name, name="people.csv")
    keys = {f"attributes.{name}": {"role": "key"} for name in ("age", "town")}
    with store.write() as connection:
        sections = {**keys, "limits": {"k_anonymity.k": 3}, "plan": plan(30), "risk": {"k_anonymity": {}}}
        policies.edit(connection, anna, project, 0, sections)
        current = projects.get(connection, anna, project.id)
        saved = drafts.save(connection, anna, current, "Coarse <ages>", policies.policy_document(connection, current))
        policies.edit(connection, anna, current, current.revision, {"plan": plan(10)})
        return projects.get(connection, anna, project.id), saved.id


def smallest_class(base: int) -> int:
    """The slow obvious k of the table after rounding, where halves go up."""
    rounded = [(int(age / base + 0.5), town) for age, town in make_frame().rows()]
    return min(rounded.count(row) for row in rounded)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_two_drafts_are_compared_on_the_sample_until_both_were_run_whole(
    settings: Settings, store: Store, anna: User, pair: tuple[Project, int], logged_in: TestClient
) -> None:
    project, draft = pair
    place = f"/api/v1/projects/{project.id}"
    options = {"a": "current", "b": str(draft)}
    compared = logged_in.get(f"{place}/workspace/comparison", params=options)
    assert compared.status_code == 200, compared.text
    content = compared.json()
    assert (content["whole"], [side["draft"] for side in content["sides"]]) == (False, [None, draft])
    assert content["steps"][0]["differences"] == [{"name": "base", "a": "10", "b": "30"}]
    (limit,) = content["limits"]
    assert [limit[side]["required"] for side in "ab"] == [3, 3]
    measured = [smallest_class(10), smallest_class(30)]
    assert [limit[side]["measured"] for side in "ab"] == measured
    assert limit["better"] == "b"
    age = next(one for one in content["attributes"] if one["name"] == "age")
    assert [sum(chart["counts"][side]) for side in "ab" for chart in age["charts"] if side in chart["counts"]] == [SIZE, SIZE]
    assert next(one for one in content["attributes"] if one["name"] == "town")["differs"] is False
    page = logged_in.get(f"/projects/{project.id}/workspace/compare", params={**options, "now": "yes"}).text
    for text in ("preview of all 300 records", "Coarse &lt;ages&gt;", "base: 10 in A, 30 in B", "B is better"):
        assert text in page
    assert "<script>" not in page
    assert " style=" not in page

    run(settings, store, anna, project, "generate")
    assert logged_in.get(f"{place}/workspace/comparison", params=options).json()["whole"] is False, "one side is a preview"
    opened = logged_in.post(f"{place}/drafts/{draft}/open", json={"base": project.revision})
    assert opened.status_code == 200, opened.text
    run(settings, store, anna, project, "generate")
    assert logged_in.post(f"{place}/policy/undo").status_code == 200
    whole = logged_in.get(f"{place}/workspace/comparison", params=options).json()
    assert (whole["whole"], whole["attributes_whole"]) == (True, True)
    assert [side["verdict"]["release"] for side in whole["sides"]] == [1, 2]
    assert [whole["limits"][0][side]["measured"] for side in "ab"] == measured
    assert [point["side"] for point in whole["map"]["points"]] == ["a", "b"]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_drafts_are_saved_opened_renamed_and_deleted_by_forms(
    store: Store, anna: User, pair: tuple[Project, int], logged_in: TestClient
) -> None:
    project, draft = pair
    address, csrf = f"/projects/{project.id}/workspace/drafts", {"csrf": logged_in.headers["x-csrf-token"]}
    sent = logged_in.post(address, data={**csrf, "do": "save", "name": "Fine", "known.age": "0.7"})
    assert (sent.status_code, sent.headers["location"]) == (303, f"/projects/{project.id}/workspace")
    with store.read() as connection:
        saved = drafts.list_drafts(connection, project)[0][0]
    assert (saved.name, saved.content["known"]["age"]) == ("Fine", 0.7), "unsaved guesses are part of the draft"
    again = logged_in.post(address, data={**csrf, "do": "save", "name": "Fine"})
    assert again.status_code == 409
    assert "has a draft &#39;Fine&#39; already" in again.text
    renamed = logged_in.post(address, data={**csrf, "do": "rename", "draft": str(draft), "version": "1", "name": "Wide"})
    assert renamed.status_code == 303
    stale = logged_in.post(address, data={**csrf, "do": "delete", "draft": str(draft), "version": "1"})
    assert stale.status_code == 409
    assert "anna changed the draft &#39;Wide&#39;" in stale.text
    opened = logged_in.post(address, data={**csrf, "do": "open", "draft": str(draft), "base": str(project.revision)})
    assert opened.status_code == 303
    conflict = logged_in.post(address, data={**csrf, "do": "open", "draft": str(saved.id), "base": str(project.revision)})
    assert conflict.status_code == 409, "the plan was changed since that page was shown"
    assert "Wide" in logged_in.get(f"/projects/{project.id}/workspace").text
    assert logged_in.post(address, data={**csrf, "do": "delete", "draft": str(draft), "version": "2"}).status_code == 303
    assert "Wide" not in logged_in.get(address).text
