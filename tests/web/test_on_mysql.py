"""The store on a real MariaDB or MySQL: schema, accounts, projects, policies, jobs and the audit log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pymysql
import pytest
from sqlalchemy import Connection, insert, make_url, select

from discreet.convert import write_target
from discreet.engine.runtime.private_files import create_private_folder
from discreet.errors import SourceError
from discreet.model.microdata import Microdata
from discreet.web.auth import accounts, sessions, tokens
from discreet.web.backup.archive import write_backup
from discreet.web.backup.restore import restore_backup
from discreet.web.db import audit
from discreet.web.db.server_lock import ServerLock
from discreet.web.db.store import Store
from discreet.web.db.tables import releases, revisions
from discreet.web.errors import Conflict
from discreet.web.jobs import queue
from discreet.web.projects import policies, projects, published_tables, removal
from discreet.web.settings import Settings

PASSWORD = "a longer password than most"


def _two_of_a_name(connection: Connection, user: accounts.User) -> None:
    projects.create(connection, user, "Half made")
    projects.create(connection, user, "Half made")


def test_the_store_works_on_mysql(mysql: str, tmp_path: Path) -> None:
    settings = Settings.make(tmp_path / "home", mysql)
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
    _lock(settings, tmp_path / "other")
    _move_to_sqlite(store, settings, tmp_path)
    _delete(store, settings, user, project)
    store.close()


def _lock(settings: Settings, other_home: Path) -> None:
    """A second server on the database is refused while the first runs."""
    lock = ServerLock.acquire(settings)
    with pytest.raises(SourceError, match="another server with another data directory is running on this database"):
        ServerLock.acquire(replace(settings, home=create_private_folder(other_home)))
    assert lock.is_held()
    lock.release()
    ServerLock.acquire(settings).release()


def _move_to_sqlite(store: Store, settings: Settings, folder: Path) -> None:
    """A backup of MySQL is restored on SQLite."""
    write_backup(settings, store, folder / "all.backup", PASSWORD)
    restored_settings = Settings.make(folder / "restored")
    assert restore_backup(restored_settings, folder / "all.backup", PASSWORD) == []
    restored = Store.open(restored_settings)
    with restored.read() as connection, store.read() as original:
        assert accounts.list_users(connection) == accounts.list_users(original)
        assert connection.execute(select(revisions)).all() == original.execute(select(revisions)).all()
        assert audit.verify_chain(connection) is None
    restored.close()


def test_grants_on_a_published_table_are_those_the_owner_names_and_end_with_the_table(mysql: str, tmp_path: object) -> None:
    published = Settings.make(str(tmp_path), mysql).published
    published_tables.prepare(published)
    address = published_tables.table_address(published, "visits")
    url = make_url(published)

    def may_read(name: str) -> bool:
        try:
            with pymysql.connect(host=url.host, port=url.port or 3306, user=name, database=url.database) as link:
                link.cursor().execute("SELECT * FROM visits")
        except pymysql.err.OperationalError:
            return False
        return True

    with pymysql.connect(host=url.host, port=url.port or 3306, user="root", autocommit=True) as link, link.cursor() as cursor:
        for name in ("reader", "analyst"):  # tests share the server, and with it its accounts
            cursor.execute(f"DROP USER IF EXISTS '{name}'@'%'")
            cursor.execute(f"CREATE USER '{name}'@'%'")
    published_tables.check_grantees(published, ["reader", "analyst@%"])
    with pytest.raises(SourceError, match="has no account 'nobody'"):
        published_tables.check_grantees(published, ["reader", "nobody"])
    table = Microdata(pl.DataFrame({"age": [30, 40]}))
    write_target(table, address)
    assert (may_read("reader"), may_read("analyst")) == (False, False)
    published_tables.set_grants(published, "visits", ["reader", "analyst"])
    assert (may_read("reader"), may_read("analyst")) == (True, True)
    write_target(table, address, overwrite=True)
    assert may_read("reader"), "a grant survives the next release"
    published_tables.revoke_others(published, "visits", ["analyst"])
    assert (may_read("reader"), may_read("analyst")) == (False, True)
    published_tables.drop_tables(published, ["visits"])
    write_target(table, address)
    assert not may_read("analyst"), "MySQL keeps rights by the table's name"
    published_tables.drop_tables(published, ["visits"])


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
