"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "discreet_attempts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False, comment="a name or an address that failed to log in"),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_discreet_attempts")),
    )
    op.create_index(op.f("ix_discreet_attempts_subject"), "discreet_attempts", ["subject"], unique=False)
    op.create_table(
        "discreet_audit",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("who", sa.String(length=80), nullable=False),
        sa.Column("action", sa.String(length=60), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=True),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("previous", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_discreet_audit")),
    )
    op.create_table(
        "discreet_chain",
        sa.Column(
            "id", sa.Integer(), autoincrement=False, nullable=False, comment="always 1: the end of the audit log, and its lock"
        ),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_discreet_chain")),
    )
    op.create_table(
        "discreet_users",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column(
            "password", sa.String(length=300), nullable=True, comment="an Argon2 hash; none before the first link was used"
        ),
        sa.Column("admin", sa.Boolean(), nullable=False),
        sa.Column("disabled", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_discreet_users")),
        sa.UniqueConstraint("name", name=op.f("uq_discreet_users_name")),
    )
    op.create_table(
        "discreet_answers",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=120), nullable=False, comment="an Idempotency-Key"),
        sa.Column("request", sa.String(length=64), nullable=False, comment="SHA-256 of the request"),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column(
            "body",
            sa.Text().with_variant(mysql.MEDIUMTEXT(), "mariadb").with_variant(mysql.MEDIUMTEXT(), "mysql"),
            nullable=False,
        ),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["discreet_users.id"], name=op.f("fk_discreet_answers_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "key", name=op.f("pk_discreet_answers")),
    )
    op.create_table(
        "discreet_links",
        sa.Column("hash", sa.String(length=64), nullable=False, comment="SHA-256 of a link that sets a password, once"),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["discreet_users.id"], name=op.f("fk_discreet_links_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_discreet_links")),
    )
    op.create_table(
        "discreet_projects",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("table_name", sa.String(length=60), nullable=False, comment="the name of the masked table"),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("updated", sa.Double(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=True, comment="the initial microdata, once there are any"),
        sa.ForeignKeyConstraint(["owner_id"], ["discreet_users.id"], name=op.f("fk_discreet_projects_owner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_discreet_projects")),
        sa.UniqueConstraint("name", name=op.f("uq_discreet_projects_name")),
        sa.UniqueConstraint("table_name", name=op.f("uq_discreet_projects_table_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "discreet_sessions",
        sa.Column("hash", sa.String(length=64), nullable=False, comment="SHA-256 of the cookie"),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("csrf", sa.String(length=64), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("seen", sa.Double(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["discreet_users.id"], name=op.f("fk_discreet_sessions_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_discreet_sessions")),
    )
    op.create_index(op.f("ix_discreet_sessions_user_id"), "discreet_sessions", ["user_id"], unique=False)
    op.create_table(
        "discreet_tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("scopes", sa.String(length=200), nullable=False, comment="separated by spaces"),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.Column("used", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["discreet_users.id"], name=op.f("fk_discreet_tokens_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_discreet_tokens")),
        sa.UniqueConstraint("hash", name=op.f("uq_discreet_tokens_hash")),
    )
    op.create_index(op.f("ix_discreet_tokens_user_id"), "discreet_tokens", ["user_id"], unique=False)
    op.create_table(
        "discreet_datasets",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False, comment="the display name of the file or table"),
        sa.Column("file", sa.String(length=200), nullable=False, comment="the Parquet file in the project's folder"),
        sa.Column("records", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.Double(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("columns", sa.JSON(), nullable=False, comment="a list of {name, type, nulls, distinct}"),
        sa.Column("profile", sa.JSON(), nullable=True, comment="the Analyzer's proposal with its reasons"),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["discreet_projects.id"], name=op.f("fk_discreet_datasets_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["discreet_users.id"], name=op.f("fk_discreet_datasets_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_discreet_datasets")),
    )
    op.create_index(op.f("ix_discreet_datasets_project_id"), "discreet_datasets", ["project_id"], unique=False)
    op.create_table(
        "discreet_jobs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column(
            "state", sa.String(length=20), nullable=False, comment="queued, running, done, failed, cancelled or interrupted"
        ),
        sa.Column("cancelling", sa.Boolean(), nullable=False),
        sa.Column("what", sa.String(length=400), nullable=False, comment="current step or outcome, for people"),
        sa.Column("done", sa.Double(), nullable=False),
        sa.Column("total", sa.Double(), nullable=False),
        sa.Column("partial", sa.JSON(), nullable=True, comment="results so far, such as the wizard's points"),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=True),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("started", sa.Double(), nullable=True),
        sa.Column("finished", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["discreet_projects.id"], name=op.f("fk_discreet_jobs_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["discreet_users.id"], name=op.f("fk_discreet_jobs_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_discreet_jobs")),
    )
    op.create_index("ix_discreet_jobs_project", "discreet_jobs", ["project_id", "created"], unique=False)
    op.create_index("ix_discreet_jobs_state", "discreet_jobs", ["state"], unique=False)
    op.create_table(
        "discreet_members",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False, comment="owner, editor or reader"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["discreet_projects.id"], name=op.f("fk_discreet_members_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["discreet_users.id"], name=op.f("fk_discreet_members_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("project_id", "user_id", name=op.f("pk_discreet_members")),
    )
    op.create_table(
        "discreet_releases",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False, comment="1, 2, … in the project"),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(length=32), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False, comment="revision of the policy that produced it"),
        sa.Column("policy", sa.JSON(), nullable=False),
        sa.Column("file", sa.String(length=200), nullable=False, comment="the Parquet file in the project's folder"),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("records", sa.Integer(), nullable=False),
        sa.Column("table_name", sa.String(length=80), nullable=False, comment="where other programs find it"),
        sa.Column("assessment", sa.JSON(), nullable=False),
        sa.Column("ok", sa.Boolean(), nullable=True, comment="whether every limit is met; null without limits"),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("signed_by", sa.String(length=200), nullable=True),
        sa.Column("signed_at", sa.Double(), nullable=True),
        sa.Column("signed_note", sa.Text(), nullable=True),
        sa.Column("superseded_by", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["discreet_projects.id"], name=op.f("fk_discreet_releases_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["discreet_users.id"], name=op.f("fk_discreet_releases_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_discreet_releases")),
        sa.UniqueConstraint("project_id", "number", name=op.f("uq_discreet_releases_project_id")),
    )
    op.create_table(
        "discreet_revisions",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("what", sa.String(length=400), nullable=False, comment="what was changed, for people"),
        sa.Column("policy", sa.JSON(), nullable=False, comment="the whole policy from this revision on"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["discreet_projects.id"], name=op.f("fk_discreet_revisions_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["discreet_users.id"], name=op.f("fk_discreet_revisions_user_id")),
        sa.PrimaryKeyConstraint("project_id", "revision", name=op.f("pk_discreet_revisions")),
    )
    op.execute(f"INSERT INTO discreet_chain (id, number, hash) VALUES (1, 0, '{'0' * 64}')")
