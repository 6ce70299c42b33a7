"""A database of the first schema is migrated with all it holds."""

from __future__ import annotations

import hashlib
import json

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text

from discreet.web.auth import accounts
from discreet.web.db import audit
from discreet.web.db.store import Store
from discreet.web.errors import Conflict
from discreet.web.projects import projects
from discreet.web.settings import Settings

ROWS = (
    "INSERT INTO discreet_users (id, name, admin, disabled, created) VALUES (1, 'anna', true, false, 0)",
    (
        "INSERT INTO discreet_projects (id, name, table_name, owner_id, created, updated, revision) "
        "VALUES (1, 'Patients', 'patients_masked', 1, 0, 0, 0)"
    ),
    "INSERT INTO discreet_members (project_id, user_id, role) VALUES (1, 1, 'owner')",
    "INSERT INTO discreet_revisions (project_id, revision, user_id, at, what, policy) VALUES (1, 0, 1, 0, 'made', '{}')",
    "INSERT INTO discreet_tokens (id, hash, user_id, name, scopes, created, expires) VALUES (1, 'x', 1, 't', 'read', 0, 9)",
)


def test_a_database_of_the_first_schema_keeps_everything(settings: Settings) -> None:
    old = Store(settings.database)
    config = Config()
    config.set_main_option("script_location", "discreet.web.db:migrations")
    entry = {"id": 1, "at": 1.5, "who": "anna", "action": "user added", "project_id": None, "detail": {"user": "anna"}}
    first = "0" * 64
    plain = json.dumps([first, entry], sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    entry_hash = hashlib.sha256(plain.encode()).hexdigest()
    with old.write() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    with old.write() as connection:
        for statement in ROWS:
            connection.execute(text(statement))
        if connection.dialect.name == "sqlite":  # a project with a larger id was deleted
            connection.execute(text("UPDATE sqlite_sequence SET seq = 7 WHERE name = 'discreet_projects'"))
        else:
            connection.execute(text("SELECT setval('discreet_projects_id_seq', 7)"))
        values = {"detail": '{"user": "anna"}', "previous": first, "hash": entry_hash}
        insert = "INSERT INTO discreet_audit (id, at, who, action, detail, previous, hash) "
        connection.execute(text(f"{insert} VALUES (1, 1.5, 'anna', 'user added', :detail, :previous, :hash)"), values)
        connection.execute(text("UPDATE discreet_chain SET number = 1, hash = :hash"), {"hash": entry_hash})
    old.close()

    store = Store.open(settings)
    with store.write() as connection:
        anna = accounts.get_by_name(connection, "anna")
        project = projects.get(connection, anna, 1)
        assert (project.role, project.table_name) == ("owner", "patients_masked"), "rows that refer to the project are kept"
        assert connection.execute(text("SELECT count(*) FROM discreet_tokens")).scalar_one() == 1
        assert connection.execute(text("SELECT count(*) FROM discreet_revisions")).scalar_one() == 1
        with pytest.raises(Conflict):
            projects.create(connection, anna, "Patients")
        assert projects.create(connection, anna, "Others").id == 8, "the id of a deleted project is not used again"
        connection.execute(text("DELETE FROM discreet_projects WHERE id = 1"))
        assert connection.execute(text("SELECT count(*) FROM discreet_members WHERE project_id = 1")).scalar_one() == 0
    with store.read() as connection:
        assert audit.verify_chain(connection) is None, "entries without a key and entries with one"
    store.close()
    again = Store.open(settings)
    with again.read() as connection:
        assert audit.verify_chain(connection) is None
        connection.execute(text("UPDATE discreet_audit SET who = 'bert' WHERE id = 1"))
        assert audit.verify_chain(connection) is not None
        connection.rollback()
    again.close()
