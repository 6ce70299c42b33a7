"""Tables of a connected database are listed for users who may import them; its URL is never shown."""

from __future__ import annotations

import html
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from fastapi.testclient import TestClient

from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.errors import Forbidden
from discreet.web.projects import projects, sources
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

STATEMENTS = (
    "CREATE TABLE people (age INTEGER)",
    "CREATE VIEW adults AS SELECT * FROM people",
    "CREATE TABLE discreet_users (x TEXT)",
)


@pytest.fixture
def settings(settings: Settings, database: str | None, tmp_path: Path) -> Settings:
    """A server with two databases connected: one of its own kind that answers, and one that does not."""
    if database is None:
        source_url = f"sqlite:///{tmp_path}/source.db"
        with closing(sqlite3.connect(tmp_path / "source.db")) as link:
            for statement in STATEMENTS:
                link.execute(statement)
            link.commit()
    else:
        source_url = database
        with psycopg.connect(database) as other:
            for statement in STATEMENTS[:2]:  # the server has tables of its own there
                other.execute(statement.encode())
    return replace(settings, sources={"clinic": source_url, "gone": "postgresql://bob:hunter2@127.0.0.1:1/d"})


@pytest.fixture(autouse=True)
def granted(settings: Settings, store: Store, anna: User) -> None:
    """Anna may import everything."""
    with store.write() as connection:
        for source in settings.sources:
            sources.grant(connection, settings, anna, "anna", source)


def test_the_tables_are_listed_once_a_database_is_chosen(logged_in: TestClient, project: Project) -> None:
    address = f"/projects/{project.id}/data"
    first = logged_in.get(address).text
    assert "List tables" in first
    assert "<option>people</option>" not in first, "a database is not queried before it is chosen"
    listed = logged_in.get(f"{address}?source=clinic").text
    assert "<option>people</option>" in listed
    assert "<option>adults</option>" in listed
    assert "discreet_" not in listed
    unreachable = html.unescape(logged_in.get(f"{address}?source=gone").text)
    assert "The database 'gone': cannot be read" in unreachable
    assert 'name="table" required' in unreachable, "its name can still be typed"
    assert "hunter2" not in unreachable
    assert logged_in.get(f"{address}?source=nothing").status_code == 200


def test_a_listed_table_and_one_that_is_typed_are_previewed(logged_in: TestClient, project: Project) -> None:
    address = f"/projects/{project.id}/data"
    word = logged_in.headers["x-csrf-token"]
    for sent in ({"table": "people"}, {"table": "people", "other": "adults"}):
        answer = logged_in.post(address, data={"csrf": word, "source": "clinic", **sent})
        assert answer.status_code == 303
        assert answer.headers["location"].startswith(f"{address}/preview/")
    jobs = logged_in.get(f"/api/v1/projects/{project.id}/jobs").json()
    assert sorted(job["parameters"]["table"] for job in jobs if job["kind"] == "preview") == ["adults", "people"]


def test_the_api_lists_tables_for_editors_but_not_approvers(
    logged_in: TestClient, store: Store, anna: User, project: Project, add_user: Callable[..., User]
) -> None:
    api = f"/api/v1/projects/{project.id}/sources"
    assert logged_in.get(api).json() == ["clinic", "gone"]
    assert [name for name in logged_in.get(f"{api}/clinic/tables").json() if "alembic" not in name] == ["adults", "people"]
    assert logged_in.get(f"{api}/nothing/tables").status_code == 404
    gone: Any = logged_in.get(f"{api}/gone/tables")
    assert gone.status_code == 422
    assert "hunter2" not in gone.text
    add_user("rita")
    with store.write() as connection:
        projects.set_role(connection, anna, project, "rita", "approver")
    logged_in.cookies.clear()
    assert logged_in.post("/login", data={"name": "rita", "password": "a longer password than most"}).status_code == 303
    assert logged_in.get(api).status_code == 403
    assert logged_in.get(f"{api}/clinic/tables").status_code == 403
    assert "people" not in logged_in.get(f"/projects/{project.id}/data?source=clinic").text


@pytest.mark.trust("Nobody in", "A table of a connected database is imported only by people to whom it was granted")
def test_a_table_that_was_not_granted_cannot_be_imported(
    client: TestClient, settings: Settings, store: Store, anna: User, add_user: Callable[..., User]
) -> None:
    bert = add_user("bert")
    assert client.post("/login", data={"name": "bert", "password": "a longer password than most"}).status_code == 303
    client.headers["x-csrf-token"] = client.get("/").text.split('name="csrf" content="')[1].split('"')[0]
    own = client.post("/api/v1/projects", json={"name": "Own"}).json()["id"]
    api = f"/api/v1/projects/{own}"
    assert client.get(f"{api}/sources").json() == []
    assert client.get(f"{api}/sources/clinic/tables").status_code == 404
    body = {"kind": "import", "parameters": {"source": "clinic", "table": "people"}}
    refused = client.post(f"{api}/jobs", json=body)
    assert (refused.status_code, "was not granted to you" in refused.json()["message"]) == (403, True)
    form = {"csrf": client.headers["x-csrf-token"], "source": "clinic", "table": "people"}
    assert client.post(f"/projects/{own}/data", data=form).status_code == 403
    with store.write() as connection:
        sources.grant(connection, settings, anna, "bert", "clinic", "people")
        for table in ('"people"', "PEOPLE"):
            sources.check_granted(connection, settings, bert.id, "clinic", table)
        for table in ("adults", "other.people", "people, adults"):
            with pytest.raises(Forbidden):
                sources.check_granted(connection, settings, bert.id, "clinic", table)
    assert client.get(f"{api}/sources/clinic/tables").json() == ["people"]
    assert client.post(f"{api}/jobs", json=body).status_code == 202
    with store.write() as connection:
        sources.revoke(connection, anna, "bert", "clinic", "people")
    assert client.post(f"{api}/jobs", json=body).status_code == 403
