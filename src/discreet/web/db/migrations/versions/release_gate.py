"""A release is a draft until it is approved; roles separate originals from releases.

Existing rows are mapped to the safe side. A ``reader`` saw originals, and becomes a release reader, who does not; an owner can
give another role. A sign-off by a name that anybody could type is no approval: such a release waits for one (``submitted``), and
every other one is a draft. Their tables are dropped from the database of the server, or at the next start from the file of
published tables; the content is kept in the projects' private folders.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "release_gate"
down_revision = "0001"


def upgrade() -> None:
    project_columns: list[sa.Column[Any]] = [
        sa.Column("limits", sa.JSON(), nullable=True, comment="limits for approval, set by an owner"),
        sa.Column("retention_days", sa.Integer(), nullable=True, comment="days after which originals and drafts are purged"),
        sa.Column("grants", sa.JSON(), nullable=True, comment="accounts of the database that may read the published table"),
    ]
    for column in project_columns:
        op.add_column("discreet_projects", column)
    op.add_column("discreet_datasets", sa.Column("purged", sa.Double(), nullable=True, comment="when its content was deleted"))
    release_columns: list[sa.Column[Any]] = [
        sa.Column("state", sa.String(length=20), nullable=False, server_default="draft"),
        sa.Column("history", sa.JSON(), nullable=True, comment="its states so far: a list of {state, by, at, note}"),
        sa.Column("approval", sa.JSON(), nullable=True, comment="who approved it, when, on what evidence and why"),
        sa.Column("purged", sa.Double(), nullable=True, comment="when its link, and of a draft the content, was deleted"),
    ]
    for column in release_columns:
        op.add_column("discreet_releases", column)
    _map_rows(op.get_bind())
    for name in ("signed_by", "signed_at", "signed_note"):
        op.drop_column("discreet_releases", name)


def _map_rows(connection: sa.Connection) -> None:
    members = sa.table("discreet_members", sa.column("role"))
    connection.execute(sa.update(members).where(members.c.role == "reader").values(role="release_reader"))
    releases = sa.table(
        "discreet_releases",
        *(sa.column(name) for name in ("id", "table_name", "created", "signed_by", "signed_at", "signed_note", "state")),
        sa.column("history", sa.JSON),
    )
    rows = connection.execute(sa.select(releases)).all()
    for row in rows:
        if row.signed_at is not None:
            note = f"signed off in an earlier version. {row.signed_note or ''}".strip()
            history = [{"state": "submitted", "by": row.signed_by, "at": row.signed_at, "note": note}]
            connection.execute(sa.update(releases).where(releases.c.id == row.id).values(state="submitted", history=history))
    if connection.dialect.name != "sqlite":  # there the tables are in another file, where the next start drops them
        for name in sorted({row.table_name for row in rows if row.table_name}):
            sa.Table(name, sa.MetaData()).drop(connection, checkfirst=True)
