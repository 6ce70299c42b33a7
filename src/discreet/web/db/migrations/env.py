"""Alembic environment: runs the migrations on the connection that the store provides."""

from __future__ import annotations

from alembic import context

from discreet.web.db.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table="discreet_schema",
    transactional_ddl=True,
)
context.run_migrations()
