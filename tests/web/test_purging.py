"""The life of the data: originals and drafts are deleted from every file on disk and in the database, approved releases stay."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest
from exports import exported_file
from patience import wait_until
from sqlalchemy import make_url, select, update
from web_jobs import STEPS, pass_gate, project_of, published_rows, run

from discreet.keys.ring import KeyRing
from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import Store
from discreet.web.db.tables import datasets as dataset_table
from discreet.web.db.tables import jobs, metadata
from discreet.web.db.tables import releases as release_table
from discreet.web.errors import Conflict, Forbidden, NotFound
from discreet.web.jobs import queue
from discreet.web.jobs.supervisor import Supervisor
from discreet.web.projects import (
    datasets,
    policies,
    projects,
    purging,
    release_files,
    release_settings,
    releases,
    removal,
)
from discreet.web.projects.projects import Project
from discreet.web.projects.release_settings import ReleaseSettings
from discreet.web.settings import Settings

PLANTED = "Xanthippa-Quillfeather"
"""A name that is in the originals and in nothing that may stay."""


CONFIDENTIAL_FILES = {
    "link.parquet", "risks-confidential.parquet", "views-confidential.json", "changes-confidential.parquet",
    "report-confidential.html",
}  # fmt: skip
"""What a release has beside its masked table that only members of the project may see."""


def plant(settings: Settings, store: Store, user: User, project: Project) -> Project:
    """A project with originals, results about records, a link, a confidential report, and one draft of two releases."""
    content = "name,age,town\n" + "".join(f"{PLANTED}{at},{20 + at},{'AB'[at % 2]}\n" for at in range(12))
    for _ in range(2):
        uploaded = datasets.receive_upload(settings, project, iter([content.encode()]), "people.csv")
    run(settings, store, user, project, "import", upload=uploaded.name, name="people.csv")
    attributes = {f"attributes.{name}": {"role": "key", "known": 0.3} for name in ("age", "town")}
    with store.write() as connection:
        start = projects.get(connection, user, project.id)
        sections = {
            **attributes, "attributes.name": {"role": "identifier"}, "risk": {"k_anonymity": {}}, "plan": {"steps": STEPS},
            "limits": {"k_anonymity.k": 2},
        }  # fmt: skip
        policies.edit(connection, user, start, start.revision, sections)
    run(settings, store, user, project, "analyze")
    run(settings, store, user, project, "risk")
    run(settings, store, user, project, "generate")
    run(settings, store, user, project, "report", release=1, internal=True)
    with store.write() as connection:
        current = projects.get(connection, user, project.id)
        policies.edit(connection, user, current, current.revision, {"plan": {"steps": [], "identifiers": "kept"}})
    run(settings, store, user, project, "generate")
    return project_of(store, user, project)


def files_with(settings: Settings, folder: Path | None = None) -> Iterator[Path]:
    """The files that contain the planted value: of the data directory, or of a database server."""
    for inside, _, names in os.walk(folder or settings.home):
        for name in names:
            file = Path(inside) / name
            try:
                content = file.read_bytes()
            except FileNotFoundError:  # of a running server
                continue
            if PLANTED.encode() in content:
                yield file


def confidential_files(settings: Settings, project: Project) -> set[str]:
    """The names of the files of a project from which originals or their risks could be read: none may outlive a purge."""
    folder = settings.home / "projects" / str(project.id)
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {
        file.name for file in files if "confidential" in file.name or file.name == "link.parquet" or file.parent.name == "data"
    }


def server_folder(settings: Settings) -> Path | None:
    """The folder in which the database server keeps the tables, after it has written them."""
    if settings.database.startswith("sqlite"):
        return None
    if settings.database.startswith("mysql"):
        url = make_url(settings.database)
        with pymysql.connect(host=url.host, port=url.port or 3306, user=url.username) as link, link.cursor() as cursor:
            cursor.execute("FLUSH TABLES")
            cursor.execute("SELECT @@datadir")
            return Path(cursor.fetchone()[0]) / str(url.database)
    with psycopg.connect(settings.database, autocommit=True) as link:
        link.execute("CHECKPOINT")
        place = link.execute("SHOW data_directory").fetchone()
        number = link.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
    assert place is not None
    assert number is not None
    return Path(place[0]) / "base" / str(number[0])


def rows_with(store: Store) -> list[str]:
    """The tables of the server that name the planted value."""
    with store.read() as connection:
        content = {
            table.name: [tuple(row) for row in connection.execute(select(table)).all()] for table in metadata.sorted_tables
        }
    return [name for name, rows in content.items() if PLANTED in repr(rows)]  # a row's own repr is cut off


@pytest.mark.trust(
    "The gate", "A purge deletes originals, drafts and links from every file; the approved release, report and log stay"
)
@pytest.mark.parametrize("database", ["sqlite", "postgresql", "mysql"], indirect=True)
def test_a_purge_leaves_no_trace_of_the_originals(
    settings: Settings, store: Store, anna: User, carl: User, project: Project
) -> None:
    ours = plant(settings, store, anna, project)
    with pytest.raises(Conflict, match="no release is approved yet"):
        purging.purge(store, settings, anna, ours)
    pass_gate(settings, store, anna, carl, ours, 1)
    before = published_rows(settings, ours.table_name)
    assert len(list(files_with(settings))) > 3
    assert confidential_files(settings, ours) >= CONFIDENTIAL_FILES, "each of them is there to be deleted"
    assert rows_with(store)
    with store.write() as connection:
        waiting = queue.submit(connection, anna, project_of(store, anna, project), "risk")
    with pytest.raises(Conflict, match="still active"):
        purging.purge(store, settings, anna, ours)
    with store.write() as connection:
        queue.cancel(connection, anna, ours, waiting.id)
    with pytest.raises(Forbidden):
        purging.purge(store, settings, carl, project_of(store, carl, project))
    assert purging.purge(store, settings, anna, ours) == purging.Purge(originals=1, drafts=1, links=1)
    assert rows_with(store) == []
    assert list(files_with(settings)) == []
    assert confidential_files(settings, ours) == set()
    if (folder := server_folder(settings)) is not None:
        assert next(folder.iterdir(), None) is not None
        assert list(files_with(settings, folder)) == []
    assert KeyRing(settings.home, project=f"project-{ours.id}").ids() == []
    with store.read() as connection:
        after = projects.get(connection, anna, ours.id)
        draft, release = releases.list_releases(connection, after)
        (dataset,) = datasets.list_datasets(connection, after)
        assert audit.verify_chain(connection) is None
        actions = {entry["action"] for entry in audit.list_entries(connection, ours.id)}
    assert (after.dataset_id, dataset.columns, dataset.profile) == (None, [], None)
    assert (draft.state, release.state, release.status) == ("purged", "published", "met")
    assert published_rows(settings, ours.table_name) == before
    assert exported_file(settings, release, "csv").read_text().count("\n") == 13
    assert "was approved by carl" in release_files.report_html(settings, release)
    assert {"data purged", "release approved", "release published"} <= actions
    for gone in (
        lambda: release_files.path(settings, draft),
        lambda: datasets.path(settings, dataset),
        lambda: release_files.report_html(settings, release, internal=True),
    ):
        with pytest.raises(NotFound):
            gone()


@pytest.mark.trust("The gate", "Deleting a project leaves no trace of it on disk or in the database")
@pytest.mark.parametrize("database", ["sqlite", "postgresql", "mysql"], indirect=True)
def test_deleting_a_project_leaves_no_trace_of_it(
    settings: Settings, store: Store, anna: User, carl: User, project: Project
) -> None:
    ours = plant(settings, store, anna, project)
    assert rows_with(store)
    assert confidential_files(settings, ours) >= CONFIDENTIAL_FILES
    removal.delete_project(store, settings, anna, ours)
    assert confidential_files(settings, ours) == set()
    assert rows_with(store) == []
    assert list(files_with(settings)) == []
    if (folder := server_folder(settings)) is not None:
        assert list(files_with(settings, folder)) == []


@pytest.mark.trust(
    "The gate", "Originals and drafts that are older than the project's retention period are deleted by the server"
)
def test_the_retention_period_is_applied_by_the_server(
    settings: Settings, store: Store, anna: User, carl: User, project: Project
) -> None:
    ours = plant(settings, store, anna, project)
    pass_gate(settings, store, anna, carl, ours, 1)
    with store.write() as connection:
        release_settings.change(connection, anna, ours, ReleaseSettings({"k_anonymity.k": 2}, 30, []))
    assert purging.apply_retention(store, settings) == []
    assert rows_with(store), "not old enough"
    with store.write() as connection:
        for table in (dataset_table, release_table, jobs):
            connection.execute(update(table).values(created=time.time() - 31 * 86_400))
    supervisor = Supervisor(settings, store)
    supervisor.start()
    try:
        wait_until(lambda: not rows_with(store), "what is old was not purged")
    finally:
        supervisor.stop()
    assert rows_with(store) == []
    assert list(files_with(settings)) == []
    with store.read() as connection:
        entry = next(entry for entry in audit.list_entries(connection) if entry["action"] == "data purged")
        states = [release.state for release in releases.list_releases(connection, ours)]
    assert (entry["who"], entry["detail"]["days"], states) == ("the server", 30, ["purged", "published"])
    assert purging.apply_retention(store, settings) == []


def test_a_purge_that_was_interrupted_is_finished_at_the_next_start(
    settings: Settings, store: Store, anna: User, carl: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = plant(settings, store, anna, project)
    pass_gate(settings, store, anna, carl, ours, 1)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(purging, "_delete_content", stop)
    with pytest.raises(KeyboardInterrupt):
        purging.purge(store, settings, anna, ours)
    monkeypatch.undo()
    supervisor = Supervisor(settings, store)
    supervisor.start()
    supervisor.stop()
    left = [file for file in files_with(settings) if "uploads" not in str(file) and not file.name.startswith("discreet.db")]
    assert left == []
    assert confidential_files(settings, ours) == set()
    with store.read() as connection:
        _, release = releases.list_releases(connection, ours)
    assert release_files.path(settings, release).is_file()
