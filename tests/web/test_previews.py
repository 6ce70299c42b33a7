"""Imports with a preview: on the pages, by REST and by the client; who sees one, what it leaves behind, and what it may cost."""

from __future__ import annotations

import html
import os
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from patience import wait_until
from sqlalchemy import select
from web_forms import log_in_as
from web_jobs import run, run_new_job

import discreet
from discreet.errors import DiscreetError
from discreet.web.auth.accounts import User
from discreet.web.db import staging, tables
from discreet.web.db.store import Store
from discreet.web.db.sweeping import delete_job_leftovers
from discreet.web.errors import DiskFull, InvalidRequest, NotFound, TooManyRequests
from discreet.web.jobs import queue
from discreet.web.pages.forms.reading_form import ReadingForm
from discreet.web.projects import datasets, policies, projects, purging, quotas, staged_imports
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

VISITS = "Visits 2020;;;\nid;dob;income;note\n1;01/03/1970;1,5;NA\n2;02/04/1981;2,5;PLANTED\n"


@pytest.fixture
def database() -> None:
    """One database is enough here: the services are tested on each."""


@pytest.fixture
def staged(settings: Settings, project: Project) -> str:
    """The name of an uploaded file that waits for its import."""
    return datasets.receive_upload(settings, project, iter([VISITS.encode()]), "visits.csv").name


def policy_of(store: Store, user: User, project: Project) -> dict[str, Any]:
    with store.read() as connection:
        return policies.policy_document(connection, projects.get(connection, user, project.id))


def files_holding(home: Path, text: bytes) -> list[str]:
    return sorted(file.parent.name for file in home.rglob("*") if file.is_file() and text in file.read_bytes())


def test_a_preview_stores_nothing_in_the_database_and_the_import_writes_its_options_into_the_policy(
    settings: Settings, store: Store, anna: User, project: Project, staged: str
) -> None:
    job = run_new_job(settings, store, anna, project, "preview", upload=staged, name="visits.csv")
    with store.read() as connection:
        content = staged_imports.read_preview(settings, projects.get(connection, anna, project.id), job)
        assert connection.execute(select(tables.datasets)).all() == []
    assert content["rows"][1] == [2, "02/04/1981", 2.5, "PLANTED"]
    assert files_holding(settings.home, b"PLANTED") == ["previews", "uploads"]
    assert oct(os.stat(settings.folder(project.id) / "previews").st_mode)[-3:] == "700"
    assert policy_of(store, anna, project) == {}
    options = {"dates": {"dob": "%d/%m/%Y"}, "missing": ["NA"]}
    imported = run_new_job(settings, store, anna, project, "import", upload=staged, name="visits.csv", read=options)
    assert policy_of(store, anna, project)["read"] == options
    with store.read() as connection:
        described = datasets.get(connection, projects.get(connection, anna, project.id)).columns
    assert [(column["type"], column["nulls"]) for column in described] == [
        ("Int64", 0), ("Date", 0), ("Float64", 0), ("String", 1),
    ]  # fmt: skip
    file = settings.home / "visits.csv"
    file.write_text(VISITS)
    on_command_line = discreet.read(file, {"read": policy_of(store, anna, project)["read"]}).frame
    assert [str(kind) for kind in on_command_line.dtypes] == [column["type"] for column in described]
    file.unlink()
    delete_job_leftovers(settings, store, imported.id)
    assert list((settings.folder(project.id) / "uploads").iterdir()) == []
    assert list((settings.folder(project.id) / "previews").iterdir()) == []


def test_reading_options_of_one_table_do_not_break_another(
    settings: Settings, store: Store, anna: User, project: Project
) -> None:
    for content, options in ((VISITS, {"dates": {"dob": "%d/%m/%Y"}, "text": ["id"]}), ("a,b\n1,2\n3,4\n", None)):
        upload = datasets.receive_upload(settings, project, iter([content.encode()]), "x.csv").name
        given = {} if options is None else {"read": options}
        if options is None:  # the options of the policy are for the first table
            with pytest.raises(DiscreetError, match=r"read.text names 'id'|read.dates names 'dob'"):
                run(settings, store, anna, project, "import", upload=upload, name="x.csv")
            given = {"read": {}}
        run(settings, store, anna, project, "import", upload=upload, name="x.csv", **given)
    with store.write() as connection:
        ours = projects.get(connection, anna, project.id)
        first = datasets.list_datasets(connection, ours)[-1]
        policies.edit(connection, anna, ours, ours.revision, {"read": {"dates": {"unknown": "%Y"}, "text": ["nobody"]}})
        datasets.choose(connection, anna, projects.get(connection, anna, project.id), first.id)
    assert run(settings, store, anna, project, "analyze")["profile"]["attributes"]["dob"]["type"] == "Date"


def test_the_pages_preview_again_with_changed_options_before_they_import(
    logged_in: TestClient, store: Store, anna: User, project: Project
) -> None:
    address = f"/projects/{project.id}/data"
    csrf = {"csrf": logged_in.headers["x-csrf-token"]}
    sent = logged_in.post(address, data=csrf, files={"file": ("visits.csv", VISITS.encode())})
    first = wait_for_page(logged_in, sent.headers["location"], "First rows")
    assert "day and month cannot be told apart" in first
    assert "the values of 'income' are numbers only with a decimal comma" in html.unescape(first)
    fields = {**csrf, "column.2": "dob", "as.2": "%d/%m/%Y", "missing": "NA\r\n", "action": "import"}
    changed = logged_in.post(sent.headers["location"], data=fields)
    assert changed.headers["location"].endswith("?changed=yes")
    second = wait_for_page(logged_in, changed.headers["location"], "First rows")
    assert "nothing was imported yet" in second
    assert "1970-03-01" in second
    assert logged_in.get(f"/api/v1/projects/{project.id}/datasets").json() == []
    here = changed.headers["location"].partition("?")[0]
    wrong = logged_in.post(here, data={**fields, "as.2": "a date"})
    assert (wrong.status_code, "such as %d/%m/%Y, not 'a date'" in html.unescape(wrong.text)) == (422, True)
    assert 'value="a date"' in wrong.text
    assert logged_in.post(here, data=fields).headers["location"] == address
    wait_for_page(logged_in, address, "2 records of 4 attributes")
    assert policy_of(store, anna, project)["read"] == {"dates": {"dob": "%d/%m/%Y"}, "missing": ["NA"]}
    assert logged_in.get(here).status_code == 404
    viewed = [entry["detail"] for entry in audit(store) if entry["action"] == "original viewed" and "preview" in entry["detail"]]
    assert viewed
    assert all(detail["preview"] == "visits.csv" for detail in viewed)


def wait_for_page(client: TestClient, address: str, text: str) -> str:
    def page_with_text() -> str:
        page = client.get(address).text
        return page if text in page else ""

    return wait_until(
        page_with_text, lambda: f"{text!r} is not on {address}: {re.sub('<[^>]+>', ' ', client.get(address).text)[-1500:]}"
    )


def audit(store: Store) -> list[dict[str, Any]]:
    with store.read() as connection:
        return [dict(row) for row in connection.execute(select(tables.audit)).mappings()]


def test_a_preview_is_open_only_to_the_person_who_asked_for_it(
    client: TestClient, settings: Settings, store: Store, anna: User, project: Project, staged: str, add_user: Callable[..., User]
) -> None:
    job = run_preview_without_server(settings, store, anna, project, staged)
    add_user("otto")
    for name, role in (("eddie", "editor"), ("carla", "approver"), ("rita", "release_reader")):
        add_user(name)
        with store.write() as connection:
            projects.set_role(connection, anna, project, name, role)
    page, api = f"/projects/{project.id}/data/preview/{job}", f"/api/v1/projects/{project.id}/previews/{job}"
    for name, status in (("eddie", 404), ("carla", 403), ("rita", 403), ("otto", 404)):
        log_in_as(client, name)
        assert (name, client.get(page).status_code, client.get(api).status_code) == (name, status, status)
        assert client.post(page, data={"csrf": client.headers["x-csrf-token"], "action": "discard"}).status_code == status
        assert client.delete(api).status_code == status
        assert client.post(page, data={"action": "discard"}, headers={"x-csrf-token": ""}).status_code == 403
    log_in_as(client, "eddie")
    listed = client.get(f"/api/v1/projects/{project.id}/jobs").json()
    assert staged not in str(listed), "the name of an upload opens it"
    assert "PLANTED" not in client.get(f"/projects/{project.id}").text
    log_in_as(client, "anna")
    assert client.get(api).json()["rows"][1][3] == "PLANTED"
    other = client.post("/api/v1/projects", json={"name": "Another"}).json()["id"]
    assert client.get(f"/api/v1/projects/{other}/previews/{job}").status_code == 404
    assert client.delete(api).status_code == 204
    assert client.get(api).status_code == 404
    assert files_holding(settings.home, b"PLANTED") == []


def run_preview_without_server(settings: Settings, store: Store, user: User, project: Project, upload: str) -> str:
    return run_new_job(settings, store, user, project, "preview", upload=upload, name="visits.csv").id


def test_abandoned_uploads_and_previews_are_deleted_and_a_purge_deletes_them_too(
    settings: Settings, store: Store, anna: User, project: Project, staged: str
) -> None:
    run_preview_without_server(settings, store, anna, project, staged)
    folder = settings.folder(project.id)
    part = folder / "uploads" / f".{'0' * 32}.csv.part"
    part.write_bytes(b"PLANTED")
    staging.delete_abandoned(settings, store)
    assert files_holding(settings.home, b"PLANTED") == ["previews", "uploads", "uploads"], "they are in use"
    old = time.time() - (staging.LIFETIME_HOURS + 1) * 3600
    for file in [*(folder / "uploads").iterdir(), *(folder / "previews").iterdir()]:
        os.utime(file, (old, old))
    with store.write() as connection:
        ours = projects.get(connection, anna, project.id)
        waiting = datasets.receive_upload(settings, ours, iter([VISITS.encode()]), "w.csv")
        job = queue.submit(connection, anna, ours, "import", {"upload": waiting.name, "name": "w.csv"})
    os.utime(waiting, (old, old))
    staging.delete_abandoned(settings, store)
    assert [file.name for file in (folder / "uploads").iterdir()] == [waiting.name], "its import is queued"
    assert list((folder / "previews").iterdir()) == []
    with store.write() as connection:
        queue.cancel(connection, anna, projects.get(connection, anna, project.id), job.id)
    run_preview_without_server(settings, store, anna, project, waiting.name)
    purging._delete_content(store, settings, project.id)
    assert files_holding(settings.home, b"PLANTED") == []


def test_previews_do_not_add_up_and_need_room(
    settings: Settings, store: Store, anna: User, project: Project, staged: str
) -> None:
    for _ in range(staging.MAX_PREVIEWS + 2):
        job = run_preview_without_server(settings, store, anna, project, staged)
    kept = list((settings.folder(project.id) / "previews").iterdir())
    assert len(kept) == staging.MAX_PREVIEWS
    assert any(job in file.name for file in kept)
    full = replace(settings, limits=replace(settings.limits, project_bytes=1))
    with pytest.raises(DiskFull, match="the project's quota leaves"):
        run_preview_without_server(full, store, anna, project, staged)


def test_uploads_that_wait_are_bounded_and_count_against_the_quota(
    settings: Settings, store: Store, anna: User, project: Project, staged: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = replace(settings, limits=replace(settings.limits, project_bytes=len(VISITS) + 10))
    with store.read() as connection, pytest.raises(DiskFull, match="the project's quota leaves"):
        quotas.check_room(connection, small, project.id, 100)
    monkeypatch.setattr(staging, "MAX_WAITING", 1)
    with pytest.raises(TooManyRequests, match="1 uploaded files of this project wait"):
        datasets.receive_upload(settings, project, iter([b"x"]), "x.csv")
    assert [file.name for file in (settings.folder(project.id) / "uploads").iterdir()] == [staged]


@pytest.mark.parametrize(
    ("fields", "options"),
    [
        ({"separator": "tab", "thousands": "space"}, {"separator": "\t", "thousands": " "}),
        ({"skip": "2", "header": "1", "pivot": "40"}, {"skip": 2, "header": 1, "pivot": 40}),
        ({"missing": " NA \n\n-9\n"}, {"missing": ["NA", "-9"]}),
        ({"sheet": "Data"}, {}),
        ({"encoding": "", "decimal": ""}, {}),
    ],
)
def test_a_form_becomes_reading_options_and_shows_them_again(fields: dict[str, str], options: dict[str, Any]) -> None:
    from starlette.datastructures import FormData

    applicable = ("separator", "thousands", "skip", "header", "pivot", "missing", "decimal", "encoding")
    assert ReadingForm.from_form(FormData(fields)).to_options(applicable) == options
    assert ReadingForm.from_options(options).to_options(applicable) == options


@pytest.mark.parametrize("fields", [{"skip": "-1"}, {"header": "many"}, {"separator": "ab"}, {"decimal": ";"}])
def test_a_wrong_option_is_named(fields: dict[str, str]) -> None:
    from starlette.datastructures import FormData

    with pytest.raises(InvalidRequest, match=f"read.{next(iter(fields))}"):
        ReadingForm.from_form(FormData(fields)).to_options(tuple(fields))


def test_a_preview_that_is_not_there_is_an_error_for_people(
    settings: Settings, store: Store, anna: User, project: Project
) -> None:
    with pytest.raises(DiscreetError, match="upload it again"):
        run(settings, store, anna, project, "preview", upload=f"{'0' * 32}.csv", name="x.csv")
    with store.read() as connection, pytest.raises(NotFound, match="has no job"):
        staged_imports.get_job(connection, anna, projects.get(connection, anna, project.id), "0" * 32)
