"""Single sign-on, groups, second factors, and the request that submitted a job."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "institution_0003"
down_revision = "strangers_0002"


def upgrade() -> None:
    _create_tables_of_identities()
    op.create_table(
        "discreet_second_factors",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("required", sa.Boolean(), nullable=False, comment="by an administrator"),
        sa.Column("secret", sa.String(length=64), nullable=True, comment="base32; null before enrolment"),
        sa.Column(
            "confirmed", sa.Double(), nullable=True, comment="when the first code was entered; until then it is not asked for"
        ),
        sa.Column("last_step", sa.Integer(), nullable=False, comment="the time step of the last code that was used"),
        sa.Column("recovery", sa.JSON(), nullable=True, comment="SHA-256 hashes of the unused recovery codes"),
        _refer_to("second_factors", "user_id", "users"),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_discreet_second_factors")),
    )
    op.create_table(
        "discreet_pending_logins",
        sa.Column(
            "hash",
            sa.String(length=64),
            nullable=False,
            comment="SHA-256 of a cookie: the password was right, the code is missing",
        ),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        _refer_to("pending_logins", "user_id", "users"),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_discreet_pending_logins")),
    )
    op.add_column(
        "discreet_links",
        sa.Column(
            "purpose",
            sa.String(length=20),
            nullable=False,
            server_default="password",
            comment="password, or rescue: logs in once",
        ),
    )
    op.add_column(
        "discreet_sessions",
        sa.Column(
            "ends",
            sa.Double(),
            nullable=True,
            comment="when a login through a provider has to be repeated, however much the session is used",
        ),
    )
    op.add_column(
        "discreet_sessions",
        sa.Column("id_token", sa.Text(), nullable=True, comment="of a login through a provider, for the logout there"),
    )
    op.add_column(
        "discreet_jobs",
        sa.Column(
            "request_id",
            sa.String(length=64),
            nullable=True,
            comment="of the request that submitted it, as in the server's log",
        ),
    )


def _create_tables_of_identities() -> None:
    op.create_table(
        "discreet_identities",
        sa.Column("issuer", sa.String(length=300), nullable=False, comment="the OpenID provider"),
        sa.Column("subject", sa.String(length=255), nullable=False, comment="the provider's own, unchanging id of the person"),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("confirmed", sa.Double(), nullable=True, comment="the last login through the provider; null before the first"),
        _refer_to("identities", "user_id", "users"),
        sa.PrimaryKeyConstraint("issuer", "subject", name=op.f("pk_discreet_identities")),
        sa.UniqueConstraint("user_id", name=op.f("uq_discreet_identities_user_id")),
    )
    op.create_table(
        "discreet_user_groups",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("group_name", sa.String(length=200), nullable=False, comment="as the provider said at the last login"),
        _refer_to("user_groups", "user_id", "users"),
        sa.PrimaryKeyConstraint("user_id", "group_name", name=op.f("pk_discreet_user_groups")),
    )
    op.create_table(
        "discreet_project_groups",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("group_name", sa.String(length=200), nullable=False, comment="a group of the provider"),
        sa.Column("role", sa.String(length=20), nullable=False, comment="as for members"),
        _refer_to("project_groups", "project_id", "projects"),
        sa.PrimaryKeyConstraint("project_id", "group_name", name=op.f("pk_discreet_project_groups")),
    )


def _refer_to(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_discreet_{table}_{column}")
    return sa.ForeignKeyConstraint([column], [f"discreet_{target}.id"], name=name, ondelete="CASCADE")
