"""Throttles by name and address, parents of tokens, granted sources, quotas, and project names that are unique per owner."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "strangers_0002"
down_revision = "release_gate"


def upgrade() -> None:
    op.drop_index(op.f("ix_discreet_attempts_subject"), table_name="discreet_attempts")
    op.drop_table("discreet_attempts")
    op.create_table(
        "discreet_throttles",
        sa.Column("subject", sa.String(length=200), nullable=False, comment="a name, an address, or a name at an address"),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last", sa.Double(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False, comment="no login is tried before"),
        sa.PrimaryKeyConstraint("subject", name=op.f("pk_discreet_throttles")),
    )
    op.create_table(
        "discreet_known_addresses",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("address", sa.String(length=60), nullable=False, comment="where the user has logged in"),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["discreet_users.id"], name=op.f("fk_discreet_known_addresses_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "address", name=op.f("pk_discreet_known_addresses")),
    )
    op.create_table(
        "discreet_grants",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(length=80), nullable=False, comment="a connected database"),
        sa.Column("table_name", sa.String(length=300), nullable=False, comment="one of its tables; * is all of them"),
        sa.ForeignKeyConstraint(["user_id"], ["discreet_users.id"], name=op.f("fk_discreet_grants_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "source", "table_name", name=op.f("pk_discreet_grants")),
    )
    op.create_table(
        "discreet_quotas",
        sa.Column("kind", sa.String(length=10), nullable=False, comment="user or project"),
        sa.Column("subject_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("bytes", sa.Double(), nullable=True, comment="null: the server's default"),
        sa.Column("jobs", sa.Integer(), nullable=True, comment="queued and running at the same time"),
        sa.Column("hours", sa.Double(), nullable=True, comment="running time of jobs within a day"),
        sa.PrimaryKeyConstraint("kind", "subject_id", name=op.f("pk_discreet_quotas")),
    )
    op.add_column(
        "discreet_tokens",
        sa.Column("parent_id", sa.Integer(), nullable=True, comment="the token that created it, and with which it ends"),
    )
    op.add_column(
        "discreet_jobs",
        sa.Column("ran", sa.Double(), nullable=False, server_default="0", comment="seconds that it ran, without pauses"),
    )
    _make_names_unique_per_owner()


def _make_names_unique_per_owner() -> None:
    """SQLite copies the table, which would let ids of deleted projects be used again: the last id is put back."""
    connection = op.get_bind()
    is_sqlite = connection.dialect.name == "sqlite"
    last_id = None
    if is_sqlite:
        last_id = connection.execute(sa.text("SELECT seq FROM sqlite_sequence WHERE name = 'discreet_projects'")).scalar()
    with op.batch_alter_table("discreet_projects", table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.drop_constraint("uq_discreet_projects_name", type_="unique")
        batch.create_unique_constraint("uq_discreet_projects_owner_id", ["owner_id", "name"])
    if last_id is not None:
        connection.execute(sa.text("DELETE FROM sqlite_sequence WHERE name = 'discreet_projects'"))
        put_back = sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES ('discreet_projects', :seq)")
        connection.execute(put_back, {"seq": last_id})
