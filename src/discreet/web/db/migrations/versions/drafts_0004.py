"""Named drafts of a project."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "drafts_0004"
down_revision = "institution_0003"


def upgrade() -> None:
    op.create_table(
        "discreet_drafts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False, comment="raised by every change, so that nobody overwrites another's"),
        sa.Column("content", sa.JSON(), nullable=False, comment="sections of the policy, and the probabilities of being known"),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("updated", sa.Double(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False, comment="who changed it last"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["discreet_projects.id"], name=op.f("fk_discreet_drafts_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["discreet_users.id"], name=op.f("fk_discreet_drafts_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_discreet_drafts")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_discreet_drafts_project_id")),
        sqlite_autoincrement=True,
    )
