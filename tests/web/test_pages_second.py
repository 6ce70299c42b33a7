"""The pages of plan, wizard and release without a browser: what they show, reject and save."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from fastapi.testclient import TestClient
from patience import wait_until
from sqlalchemy import insert
from starlette.datastructures import FormData

from discreet import registry
from discreet.model.policy import Plan
from discreet.web.db.store import now
from discreet.web.db.tables import datasets
from discreet.web.jobs.queue import Job
from discreet.web.pages.forms import fields
from discreet.web.pages.frontier import read_search
from discreet.web.pages.rendering import environment
from discreet.web.projects import policies, projects

NASTY = '"><script>alert(1)</script>'
PLAN = {"steps": [{"method": "microaggregation", "columns": ["age"], "size": 2}, {"method": "sampling", "fraction": 0.5}]}
PLUGINS = [(kind, name) for kind in ("masking", "risk", "loss") for name in registry.installed_names(kind)]


@pytest.fixture
def database() -> None:
    """These pages do not depend on the database; the browser tests run on both."""


@pytest.fixture
def filled(store, settings, anna, project):
    """A project with a table, roles and a plan; one attribute has a name that would be a script."""
    frame = pl.DataFrame({"age": [30, 31, 40, 41, 50, 51], NASTY: ["a", "a", "b", "b", NASTY, NASTY], "pay": [1, 2, 3, 4, 5, 6]})
    folder = settings.folder(project.id)
    frame.write_parquet(folder / "data.parquet")
    columns = [{"name": name, "type": str(kind), "nulls": 0, "distinct": 3} for name, kind in frame.schema.items()]
    row = {
        "project_id": project.id,
        "name": f"{NASTY}.csv",
        "file": "data.parquet",
        "records": 6,
        "bytes": 1.0,
        "columns": columns,
    }
    with store.write() as connection:
        added = connection.execute(insert(datasets).values(**row, sha256="0" * 64, created=now(), user_id=anna.id))
        projects.mark_updated(connection, project.id, dataset_id=added.inserted_primary_key[0])
        sections = {"attributes.age": {"role": "key"}, f"attributes.{NASTY}": {"role": "key"}, "plan": PLAN}
        policies.edit(connection, anna, projects.get(connection, anna, project.id), 0, sections)
        return projects.get(connection, anna, project.id)


@pytest.fixture
def send(logged_in, filled):
    """Send a form as a page does: (address, **fields); default base: the newest revision."""

    def send_form(address: str, **values: Any) -> Any:
        page = logged_in.get(f"/projects/{filled.id}/methods").text
        base = re.search(r'name="base" value="(\d+)"', page)
        csrf = logged_in.headers["x-csrf-token"]
        return logged_in.post(f"/projects/{filled.id}{address}", data={"csrf": csrf, "base": base[1] if base else 0} | values)

    return send_form


def current_plan(store, user, project) -> Plan:
    with store.read() as connection:
        return policies.current_policy(connection, projects.get(connection, user, project.id)).plan


@pytest.mark.parametrize(("kind", "name"), PLUGINS)
def test_the_form_of_every_plugin_returns_the_parameters_that_it_shows(kind, name):
    model = registry.load(kind, name)
    outside = set(fields.file_parameters(model))
    shown = model.example().model_dump(mode="json", by_alias=True, exclude_defaults=True)
    parameters = {key: value for key, value in shown.items() if key not in outside}
    form: list[tuple[str, str]] = []
    for field in fields.form_fields(model, parameters):
        if field.widget == "check":
            form += [(field.key, "yes")] if field.value else []
        elif isinstance(field.value, list):
            form += [(field.key, value) for value in field.value]
        else:
            form.append((field.key, field.value))
    assert fields.read_parameters(model, FormData(form)) == parameters
    macro = environment().get_template("fields.html").module.field  # type: ignore[attr-defined]
    drawn = "".join(macro(field, ["age", NASTY]) for field in fields.form_fields(model, parameters))
    assert "<script" not in drawn
    assert all(f'name="{field.key}"' in drawn for field in fields.form_fields(model, parameters) if field.widget != "columns")


def test_form_fields_take_type_range_and_default_from_the_plugin():
    shown = {
        field.name: field for field in fields.form_fields(registry.load("masking", "swapping"), {"window": 2.5, "keys": ["a"]})
    }
    assert (shown["how"].widget, shown["how"].options) == ("choice", ("rank", "random", "targeted"))
    assert (shown["window"].widget, shown["window"].minimum, shown["window"].maximum, shown["window"].value) == (
        "number", "0", "100", "2.5",
    )  # fmt: skip
    assert (shown["keys"].widget, shown["keys"].value) == ("columns", ["a"])
    assert shown["smaller_than"].step == "1"
    assert fields.file_parameters(registry.load("masking", "pseudonymization")) == ["key_file", "key"]


def test_steps_are_moved_disabled_deleted_and_changed(send, store, anna, filled):
    assert send("/methods", do="down", step=1).status_code == 303
    assert [step.method for step in current_plan(store, anna, filled).steps] == ["sampling", "microaggregation"]
    assert send("/methods", do="move", step=2, to=1).status_code == 303
    assert send("/methods", do="disable", step=2).status_code == 303
    assert [step.enabled for step in current_plan(store, anna, filled).steps] == [True, False]
    assert send("/methods", do="enable", step=2).status_code == 303
    answer = send("/methods/steps/1", columns=["age", "pay"], p_size=3)
    assert answer.headers["location"].endswith("/methods#step-1")
    assert current_plan(store, anna, filled).steps[0].model_dump() == {
        "method": "microaggregation", "columns": ("age", "pay"), "enabled": True, "size": 3,
    }  # fmt: skip
    assert send("/methods", do="delete", step=2).status_code == 303
    assert send("/methods/steps/new", method="noise", columns=["pay"], p_level=0.1).status_code == 303
    assert send("/methods", do="settings", p_release=2, p_order="kept").status_code == 303
    plan = current_plan(store, anna, filled)
    assert ([step.method for step in plan.steps], plan.release, plan.order) == (["microaggregation", "noise"], 2, "kept")


def test_invalid_input_is_reported_on_the_page_and_nothing_is_saved(send, store, anna, filled):
    before = current_plan(store, anna, filled)
    for address, values, sentence in (
        ("/methods/steps/1", {"p_size": "1"}, "size"),
        ("/methods/steps/1", {"p_size": "many"}, "many"),
        ("/methods/steps/new", {"method": "global_recoding", "p_groups": "{a: ["}, "groups cannot be read"),
        ("/methods", {"do": "move", "step": 1, "to": 7}, "there is no step 7"),
        ("/methods", {"do": "limit", "limit": "k_anonymity.k", "wanted": "nan"}, "is a number"),
        ("/methods", {"do": "limit", "limit": "k_anonymity.kk", "wanted": "2"}, "k_anonymity.kk"),
        ("/methods", {"do": "measure", "measure": "risk.nothing"}, "nothing"),
        ("/methods", {"do": "dance"}, "dance"),
        ("/methods/wizard", {"amount": "soon"}, "soon"),
        ("/methods/wizard", {"amount": "5"}, "needs limits"),
    ):
        answer = send(address, **values)
        assert answer.status_code == 422, (address, values)
        alert = html.unescape(answer.text.split('role="alert">')[1].split("</p>")[0])
        assert sentence in alert, (address, alert)
    assert current_plan(store, anna, filled) == before


def test_limits_and_measures_are_set_shown_with_their_meaning_and_removed(send, logged_in, store, anna, filled):
    send("/methods", do="limit", limit="k_anonymity.k", wanted="2")
    send("/methods", do="limit", limit="ncp.loss", wanted="0.3", back="wizard")
    send("/methods", do="measure", measure="risk.known_sets")
    send("/methods/measures/risk/known_sets", p_alpha=50)
    page = logged_in.get(f"/projects/{filled.id}/methods").text
    assert "records in the smallest equivalence class" in page
    assert "alpha 50" in page
    with store.read() as connection:
        policy = policies.current_policy(connection, projects.get(connection, anna, filled.id))
    assert (policy.limits, policy.risk) == ({"k_anonymity.k": 2.0, "ncp.loss": 0.3}, {"known_sets": {"alpha": 50.0}})
    send("/methods", do="no-limit", limit="ncp.loss")
    send("/methods", do="no-measure", measure="risk.known_sets")
    with store.read() as connection:
        policy = policies.current_policy(connection, projects.get(connection, anna, filled.id))
    assert (policy.limits, policy.risk) == ({"k_anonymity.k": 2.0}, {})


def test_a_preset_adds_its_limits_and_is_remembered_by_the_policy(send, logged_in, store, anna, filled):
    page = logged_in.get(f"/projects/{filled.id}/methods").text
    assert "max_risk_0.09: maximum risk 0.09" in html.unescape(page)
    assert send("/methods", do="preset", preset="max_risk_0.09", back="wizard").status_code == 303
    assert send("/methods", do="preset", preset="k_5").status_code == 303
    with store.read() as connection:
        project = projects.get(connection, anna, filled.id)
        policy = policies.current_policy(connection, project)
    assert policy.limits == {"reidentification.prosecutor_max": 0.09, "k_anonymity.k": 5.0}
    assert policy.presets == ("max_risk_0.09", "k_5")
    assert send("/methods", do="preset", preset="k_55").status_code == 422


def test_a_preset_in_a_saved_section_becomes_numbers_for_approval(store, anna, filled):
    with store.write() as connection:
        project = projects.get(connection, anna, filled.id)
        policies.edit(connection, anna, project, project.revision, {"limits": {"preset": "k_5"}})
    with store.read() as connection:
        project = projects.get(connection, anna, filled.id)
        assert project.limits == {"k_anonymity.k": 5.0}
        assert policies.policy_document(connection, project)["presets"] == ["k_5"]


def test_a_conflicting_edit_of_the_plan_shows_both_versions(send, add_user, store, anna, filled):
    bert = add_user("bert")
    with store.write() as connection:
        projects.set_role(connection, anna, filled, "bert", "editor")
        theirs = projects.get(connection, bert, filled.id)
        policies.edit(connection, bert, theirs, theirs.revision, {"plan": {"steps": [{"method": "sampling", "fraction": 0.9}]}})
    answer = send("/methods", do="delete", step=2, base=filled.revision)
    assert answer.status_code == 409
    assert "bert" in answer.text
    assert "0.9" in answer.text
    assert len(current_plan(store, anna, filled).steps) == 1, "bert's plan is kept"
    over = re.search(r'name="over" value="(\d+)"', answer.text)
    assert over
    assert send("/methods", do="delete", step=2, base=filled.revision, over=over[1]).status_code == 303
    assert [step.method for step in current_plan(store, anna, filled).steps] == ["microaggregation"]


def test_an_approver_can_view_but_not_change_and_a_non_member_sees_nothing(client, add_user, store, anna, filled):
    add_user("rita"), add_user("sven")
    with store.write() as connection:
        projects.set_role(connection, anna, filled, "rita", "approver")
    for name, expected in (("rita", (200, 403)), ("sven", (404, 404))):
        client.cookies.clear()
        client.post("/login", data={"name": name, "password": "a longer password than most"})
        csrf = client.get("/").text.split('name="csrf" content="')[1].split('"')[0]
        for address in ("methods", "methods/steps/1", "methods/wizard", "generate", "assess", "release"):
            page = client.get(f"/projects/{filled.id}/{address}")
            assert page.status_code == expected[0], (name, address)
            assert 'class="primary"' not in page.text, (name, address)
        for address, values in (
            ("methods", {"do": "delete", "step": 1}), ("methods/steps/1", {"p_size": 5}), ("methods/wizard", {"amount": 5}),
            ("generate", {}), ("release", {"release": 1, "action": "publish"}),
        ):  # fmt: skip
            answer = client.post(f"/projects/{filled.id}/{address}", data={"csrf": csrf, "base": filled.revision, **values})
            assert answer.status_code == expected[1], (name, address)


def test_unknown_numbers_give_404_however_large_they_are(logged_in, filled):
    most = 10**30
    for address in (f"{most}/methods", f"{filled.id}/releases/{most}/table", f"{filled.id}/methods/steps/{most}", "0/assess"):
        assert logged_in.get(f"/projects/{address}").status_code == 404, address
    assert logged_in.get(f"/projects/{filled.id}/methods/wizard/{'0' * 32}").status_code == 404


def test_a_search_marks_dominated_plans_and_chooses_none_measured_on_a_sample(store):
    def trial(number: int, risk: float, loss: float, kept: bool, whole: bool, error: str | None = None) -> dict[str, Any]:
        plan = {"steps": [{"method": "sampling", "fraction": number / 10}]}
        return {
            "number": number, "risk": risk, "loss": loss, "kept": kept, "whole": whole, "error": error, "plan": plan,
            "risks": {"known_sets.mean": risk}, "losses": {"ncp.loss": loss},
        }  # fmt: skip

    points = [
        trial(1, 0.1, 0.1, True, False), trial(2, 0.5, 0.2, False, True), trial(3, 0.3, 0.4, True, True),
        trial(4, 0.4, 0.5, True, True), trial(5, 0.0, 0.0, False, True, "cannot run"),
    ]  # fmt: skip
    job = Job("x", 1, "select", {}, "running", False, "", 0, 1, points, None, 1, 0.0, 0.0, None, "anna")
    search = read_search(job)
    assert [(plan.number, plan.dominated) for plan in search.plans] == [(2, False), (3, False), (4, True), (1, False)]
    assert (search.failed_count, search.met) == (1, None)
    assert search.best is not None
    assert search.best.number == 3
    assert search.table_rows[0].number == 2
    done = read_search(replace(job, result={"plan": points[3]["plan"], "met": True, "why": ["x"], "risk": {"name": "r.x"}}))
    assert (done.best.number if done.best else None, done.risk_name, done.met) == (4, "r.x", True)
    assert read_search(replace(job, partial=None)).plans == []


def test_two_releases_are_generated_compared_mapped_downloaded_and_submitted_once(send, logged_in, store, anna, filled):
    home = f"/projects/{filled.id}"
    send("/methods", do="limit", limit="k_anonymity.k", wanted="1")
    for fraction in ("0.5", "0.9"):
        send("/methods/steps/2", p_fraction=fraction)
        assert send("/generate").status_code == 303
        wait(logged_in, filled.id)
    pages = {name: logged_in.get(f"{home}/{name}") for name in ("methods", "methods/steps/1", "generate", "assess", "release")}
    pages["table"] = logged_in.get(f"{home}/releases/2/table")
    pages["assess 1"] = logged_in.get(f"{home}/assess?release=1&risk=k_anonymity.classes&loss=ncp.loss")
    for name, page in pages.items():
        assert page.status_code == 200, name
        assert "<script>alert" not in page.text, name
        assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=", page.text), name
    assert "release 2" in pages["assess"].text
    beside = html.unescape(logged_in.get(f"{home}/assess?release=2&against=1").text)
    assert "Release 2 against release 1" in beside
    assert "Records in the smallest equivalence class" in beside
    shown = re.sub(
        r"<details>.*?</details>|<code>.*?</code>|<option.*?</option>|<input[^>]*>|<img[^>]*>|<[^>]*>",
        "",
        beside,
        flags=re.DOTALL,
    )
    assert not re.search(r"violating_|k_anonymity|changed_values", shown), "code names are one click away"
    assert "Download the draft" in pages["generate"].text
    assert 'class="changed' in pages["table"].text
    drawn = logged_in.get(f"{home}/charts/map.svg?risk=k_anonymity.classes&loss=ncp.loss")
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert "prefers-color-scheme:dark" in drawn.text
    for suffix in ("parquet", "xlsx"):
        assert logged_in.get(f"{home}/releases/2/download?format={suffix}").status_code == 200, suffix
    assert logged_in.get(f"{home}/releases/2/download?format=exe").status_code == 422
    assert "sandbox" in logged_in.get(f"{home}/releases/2/report").headers["content-security-policy"]
    assert "microaggregation" in logged_in.get(f"{home}/releases/2/policy.yaml").text
    assert send("/release", release=2, action="sign").status_code == 422
    assert send("/release", release=2, action="publish").status_code == 409
    assert send("/release", release=2, action="submit", note="for the course").status_code == 303
    assert send("/release", release=2, action="submit").status_code == 409
    refused = send("/release", release=2, action="approve", note="I am <b>sure</b>")
    assert refused.status_code == 403
    assert "another approver or owner" in refused.text
    page = logged_in.get(f"{home}/release").text
    assert "for the course" in page
    assert "an owner has to add an approver" in page


def wait(client: TestClient, project: int) -> None:
    """Wait until all jobs of the project have ended."""

    def ended_jobs() -> list[dict[str, Any]]:
        jobs = client.get(f"/api/v1/projects/{project}/jobs").json()
        return [] if any(job["state"] in ("queued", "running") for job in jobs) else list(jobs)

    jobs = wait_until(ended_jobs, "the jobs did not end")
    assert jobs[0]["state"] == "done", jobs[0]["what"]


def test_a_sentence_with_a_number_becomes_a_limit_and_its_audience_a_preset(send, logged_in, store, anna, filled):
    page = html.unescape(logged_in.get(f"/projects/{filled.id}/methods").text)
    for words in ("Who gets the release?", "Research contract", "No record is easier to find than one in 5", "public_use_file"):
        assert words in page
    assert send("/methods", do="example", limit="reidentification.prosecutor_max", wanted="11").status_code == 303
    assert send("/methods", do="example", limit="falsehood.loss", wanted="5").status_code == 303
    refused = send("/methods", do="example", limit="reidentification.prosecutor_max", wanted="0.5")
    assert refused.status_code == 422
    assert "needs a number of at least 1" in html.unescape(refused.text)
    with store.read() as connection:
        policy = policies.current_policy(connection, projects.get(connection, anna, filled.id))
    assert policy.limits == {"reidentification.prosecutor_max": 1 / 11, "falsehood.loss": 0.05}
    assert "Nobody is easier to find than one in 11" in html.unescape(logged_in.get(f"/projects/{filled.id}/methods").text)
