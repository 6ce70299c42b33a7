"""The migration to the gate maps what an earlier version stored to the safe side."""

from __future__ import annotations

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import insert, select, text

from discreet.web.db.store import Store
from discreet.web.db.tables import members, projects, releases, users
from discreet.web.projects import publication, published_tables
from discreet.web.settings import Settings


def migrate_to(store: Store, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", "discreet.web.db:migrations")
    with store.write() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


@pytest.mark.trust("The gate", "After an upgrade, former readers see no originals, and nothing that nobody approved is readable")
def test_readers_lose_originals_and_unapproved_tables_are_dropped(settings: Settings) -> None:
    store = Store(settings.database)
    migrate_to(store, "0001")
    columns = "project_id, number, dataset_id, job_id, revision, policy, file, sha256, records, table_name, assessment, created"
    with store.write() as connection:
        for number, name in ((1, "anna"), (2, "rita")):
            connection.execute(insert(users).values(id=number, name=name, admin=False, disabled=False, created=0.0))
        connection.execute(
            text(
                "INSERT INTO discreet_projects (id, name, table_name, owner_id, created, updated, revision) "
                "VALUES (1, 'P', 'p_masked', 1, 0, 0, 0)"
            )
        )
        connection.execute(insert(members).values(project_id=1, user_id=1, role="owner"))
        connection.execute(insert(members).values(project_id=1, user_id=2, role="reader"))
        signatures = ((1, "p_masked_1", "'Dr. A'", "5.0"), (2, "p_masked", "NULL", "NULL"))
        for number, table, by, at in signatures:
            values = f"1, {number}, 1, '', 1, '{{}}', '', '', 1, '{table}', '{{}}', 0, 1, {by}, {at}"
            connection.execute(
                text(f"INSERT INTO discreet_releases ({columns}, user_id, signed_by, signed_at) VALUES ({values})")
            )
            if not settings.database.startswith("sqlite"):
                connection.execute(text(f"CREATE TABLE {table} (age INTEGER)"))
    if settings.published.startswith("sqlite"):
        published_tables.prepare(settings.published)
        with published_tables._open(settings.published) as connection:
            for _, table, _, _ in signatures:
                connection.execute(text(f"CREATE TABLE {table} (age INTEGER)"))
    store.migrate()
    publication.drop_unpublished(store, settings)
    with store.read() as connection:
        assert dict(connection.execute(select(members.c.user_id, members.c.role)).all()) == {1: "owner", 2: "release_reader"}
        rows = connection.execute(select(releases.c.number, releases.c.state, releases.c.table_name).order_by("number")).all()
        assert [tuple(row) for row in rows] == [(1, "submitted", ""), (2, "draft", "")]
        assert connection.execute(select(projects.c.limits)).scalar() is None
        if not settings.database.startswith("sqlite"):
            assert connection.execute(text("SELECT to_regclass('p_masked'), to_regclass('p_masked_1')")).one() == (None, None)
    assert published_tables.list_tables(settings.published) == []
    store.close()
