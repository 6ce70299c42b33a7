"""The store on a real MariaDB or MySQL: schema, accounts, projects, policies, jobs and the audit log."""

from __future__ import annotations

import polars as pl
import pytest
from sqlalchemy import Connection, insert

from discreet.convert import write_target
from discreet.model.microdata import Microdata
from discreet.web.auth import accounts, sessions, tokens
from discreet.web.db import audit
from discreet.web.db.store import Store
from discreet.web.db.tables import releases
from discreet.web.errors import Conflict
from discreet.web.jobs import queue
from discreet.web.projects import policies, projects, published_tables, removal
from discreet.web.settings import Settings

PASSWORD = "a longer password than most"


def _two_of_a_name(connection: Connection, user: accounts.User) -> None:
    projects.create(connection, user, "Half made")
    projects.create(connection, user, "Half made")


def test_the_store_works_on_mysql(mysql: str, tmp_path: object) -> None:
    settings = Settings.make(str(tmp_path), mysql)
    store = Store.open(settings)
    store.migrate()
    store.migrate()
    with store.write() as connection:
        _, link = accounts.add(connection, "Zoë", admin=True)
        user = accounts.set_password_with_link(connection, link, PASSWORD)
        project = projects.create(connection, user, "Patients – été 🏥")
        assert projects.TABLE_NAME.fullmatch(project.table_name)
    assert accounts.log_in(store, "zoë", PASSWORD, "127.0.0.1") == user
    with store.write() as connection:
        cookie = sessions.start(connection, user, settings)
        _, secret = tokens.create(connection, user, "script", ["read"])
        policies.edit(connection, user, project, 0, {"attributes.âge": {"role": "key"}, "limits": {"k_anonymity.k": 5}})
    assert sessions.find(store, cookie, settings) is not None
    assert tokens.find(store, secret)[0] == user
    with store.write() as connection:
        seen = projects.get(connection, user, project.id)
        with pytest.raises(Conflict):
            policies.edit(connection, user, seen, 0, {"limits": {"k_anonymity.k": 7}})
        assert policies.current_policy(connection, seen).limits == {"k_anonymity.k": 5}
        job = queue.submit(connection, user, seen, "import", {"upload": "0" * 32 + ".csv", "name": "x.csv"})
        assert queue.get(connection, seen, job.id).state == "queued"
        assert queue.cancel(connection, user, seen, job.id).state == "cancelled"
    with pytest.raises(Conflict), store.write() as connection:
        _two_of_a_name(connection, user)
    with store.read() as connection:
        assert [row["project"].name for row in projects.list_projects(connection, user)] == ["Patients – été 🏥"]
        assert audit.verify_chain(connection) is None
    _delete(store, settings, user, project)
    store.close()


def _delete(store: Store, settings: Settings, user: accounts.User, project: projects.Project) -> None:
    """The published table is in a database of its own, and goes with its project."""
    row = {
        "project_id": project.id, "number": 1, "dataset_id": 1, "job_id": "", "revision": 1, "policy": {}, "file": "",
        "sha256": "", "records": 1, "table_name": project.table_name, "assessment": {}, "created": 0.0, "user_id": user.id,
    }  # fmt: skip
    published_tables.prepare(settings.published)
    assert settings.published.endswith("/test_data_releases")
    address = published_tables.table_address(settings.published, project.table_name)
    write_target(Microdata(pl.DataFrame({"age": [30, 40]})), address)
    published_tables.set_grants(settings.published, project.table_name, [])
    assert published_tables.list_tables(settings.published) == [project.table_name]
    with store.write() as connection:
        connection.execute(insert(releases).values(**row))
    removal.delete_project(store, settings, user, project)
    with store.read() as connection:
        assert projects.list_projects(connection, user) == []
        assert audit.verify_chain(connection) is None
    assert published_tables.list_tables(settings.published) == []
