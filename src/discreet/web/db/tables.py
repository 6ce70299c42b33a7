"""The database schema. Table names begin with ``discreet_``, so that masked tables can be in the same database.

Times are seconds since 1970 (UTC) as doubles, which all databases store alike; documents are JSON.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.mysql import MEDIUMTEXT

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
LongText = Text().with_variant(MEDIUMTEXT(), "mysql", "mariadb")

users = Table(
    "discreet_users",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(80), nullable=False, unique=True),
    Column("password", String(300), comment="an Argon2 hash; none before the first link was used"),
    Column("admin", Boolean, nullable=False, default=False),
    Column("disabled", Boolean, nullable=False, default=False),
    Column("created", Double, nullable=False),
)

links = Table(
    "discreet_links",
    metadata,
    Column("hash", String(64), primary_key=True, comment="SHA-256 of a link that sets a password, once"),
    Column("user_id", ForeignKey(users.c.id, ondelete="CASCADE"), nullable=False),
    Column("expires", Double, nullable=False),
    Column("purpose", String(20), nullable=False, server_default="password", comment="password, or rescue: logs in once"),
)

identities = Table(
    "discreet_identities",
    metadata,
    Column("issuer", String(300), primary_key=True, comment="the OpenID provider"),
    Column("subject", String(255), primary_key=True, comment="the provider's own, unchanging id of the person"),
    Column("user_id", ForeignKey(users.c.id, ondelete="CASCADE"), nullable=False, unique=True),
    Column("confirmed", Double, comment="the last login through the provider; null before the first"),
)

user_groups = Table(
    "discreet_user_groups",
    metadata,
    Column("user_id", ForeignKey(users.c.id, ondelete="CASCADE"), primary_key=True),
    Column("group_name", String(200), primary_key=True, comment="as the provider said at the last login"),
)

second_factors = Table(
    "discreet_second_factors",
    metadata,
    Column("user_id", ForeignKey(users.c.id, ondelete="CASCADE"), primary_key=True),
    Column("required", Boolean, nullable=False, default=False, comment="by an administrator"),
    Column("secret", String(64), comment="base32; null before enrolment"),
    Column("confirmed", Double, comment="when the first code was entered; until then it is not asked for"),
    Column("last_step", Integer, nullable=False, default=0, comment="the time step of the last code that was used"),
    Column("recovery", JSON, comment="SHA-256 hashes of the unused recovery codes"),
)

pending_logins = Table(
    "discreet_pending_logins",
    metadata,
    Column("hash", String(64), primary_key=True, comment="SHA-256 of a cookie: the password was right, the code is missing"),
    Column("user_id", ForeignKey(users.c.id, ondelete="CASCADE"), nullable=False),
    Column("expires", Double, nullable=False),
)

sessions = Table(
    "discreet_sessions",
    metadata,
    Column("hash", String(64), primary_key=True, comment="SHA-256 of the cookie"),
    Column("user_id", ForeignKey(users.c.id, ondelete="CASCADE"), nullable=False, index=True),
    Column("csrf", String(64), nullable=False),
    Column("created", Double, nullable=False),
    Column("seen", Double, nullable=False),
    Column("expires", Double, nullable=False),
    Column("ends", Double, comment="when a login through a provider has to be repeated, however much the session is used"),
    Column("id_token", Text, comment="of a login through a provider, for the logout there"),
)

tokens = Table(
    "discreet_tokens",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("hash", String(64), nullable=False, unique=True),
    Column("user_id", ForeignKey(users.c.id, ondelete="CASCADE"), nullable=False, index=True),
    Column("name", String(80), nullable=False),
    Column("scopes", String(200), nullable=False, comment="separated by spaces"),
    Column("created", Double, nullable=False),
    Column("expires", Double, nullable=False),
    Column("used", Double),
    Column("parent_id", Integer, comment="the token that created it, and with which it ends"),
)

throttles = Table(
    "discreet_throttles",
    metadata,
    Column("subject", String(200), primary_key=True, comment="a name, an address, or a name at an address"),
    Column("failures", Integer, nullable=False),
    Column("last", Double, nullable=False),
    Column("until", Double, nullable=False, comment="no login is tried before"),
)

known_addresses = Table(
    "discreet_known_addresses",
    metadata,
    Column("user_id", ForeignKey(users.c.id, ondelete="CASCADE"), primary_key=True),
    Column("address", String(60), primary_key=True, comment="where the user has logged in"),
    Column("at", Double, nullable=False),
)

grants = Table(
    "discreet_grants",
    metadata,
    Column("user_id", ForeignKey(users.c.id, ondelete="CASCADE"), primary_key=True),
    Column("source", String(80), primary_key=True, comment="a connected database"),
    Column("table_name", String(300), primary_key=True, comment="one of its tables; * is all of them"),
)

quotas = Table(
    "discreet_quotas",
    metadata,
    Column("kind", String(10), primary_key=True, comment="user or project"),
    Column("subject_id", Integer, primary_key=True, autoincrement=False),
    Column("bytes", Double, comment="null: the server's default"),
    Column("jobs", Integer, comment="queued and running at the same time"),
    Column("hours", Double, comment="running time of jobs within a day"),
)

projects = Table(
    "discreet_projects",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(120), nullable=False),
    Column("table_name", String(60), nullable=False, unique=True, comment="the name of the masked table"),
    Column("owner_id", ForeignKey(users.c.id), nullable=False),
    Column("created", Double, nullable=False),
    Column("updated", Double, nullable=False),
    Column("revision", Integer, nullable=False, default=0),
    Column("dataset_id", Integer, comment="the initial microdata, once there are any"),
    Column("limits", JSON, comment="limits for approval, set by an owner"),
    Column("retention_days", Integer, comment="days after which originals and drafts are purged"),
    Column("grants", JSON, comment="accounts of the database that may read the published table"),
    UniqueConstraint("owner_id", "name"),
    sqlite_autoincrement=True,  # the id of a deleted project is never reused
)

members = Table(
    "discreet_members",
    metadata,
    Column("project_id", ForeignKey(projects.c.id, ondelete="CASCADE"), primary_key=True),
    Column("user_id", ForeignKey(users.c.id, ondelete="CASCADE"), primary_key=True),
    Column("role", String(20), nullable=False, comment="owner, editor, approver or release_reader"),
)

project_groups = Table(
    "discreet_project_groups",
    metadata,
    Column("project_id", ForeignKey(projects.c.id, ondelete="CASCADE"), primary_key=True),
    Column("group_name", String(200), primary_key=True, comment="a group of the provider"),
    Column("role", String(20), nullable=False, comment="as for members"),
)

revisions = Table(
    "discreet_revisions",
    metadata,
    Column("project_id", ForeignKey(projects.c.id, ondelete="CASCADE"), primary_key=True),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("user_id", ForeignKey(users.c.id)),
    Column("at", Double, nullable=False),
    Column("what", String(400), nullable=False, comment="what was changed, for people"),
    Column("policy", JSON, nullable=False, comment="the whole policy from this revision on"),
)

drafts = Table(
    "discreet_drafts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", ForeignKey(projects.c.id, ondelete="CASCADE"), nullable=False),
    Column("name", String(120), nullable=False),
    Column("version", Integer, nullable=False, comment="raised by every change, so that nobody overwrites another's"),
    Column("content", JSON, nullable=False, comment="sections of the policy, and the probabilities of being known"),
    Column("created", Double, nullable=False),
    Column("updated", Double, nullable=False),
    Column("user_id", ForeignKey(users.c.id), nullable=False, comment="who changed it last"),
    UniqueConstraint("project_id", "name"),
    sqlite_autoincrement=True,  # the id of a deleted draft is never reused
)

datasets = Table(
    "discreet_datasets",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", ForeignKey(projects.c.id, ondelete="CASCADE"), nullable=False, index=True),
    Column("name", String(200), nullable=False, comment="the display name of the file or table"),
    Column("file", String(200), nullable=False, comment="the Parquet file in the project's folder"),
    Column("records", Integer, nullable=False),
    Column("bytes", Double, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("columns", JSON, nullable=False, comment="a list of {name, type, nulls, distinct}"),
    Column("profile", JSON, comment="the Analyzer's proposal with its reasons"),
    Column("created", Double, nullable=False),
    Column("user_id", ForeignKey(users.c.id)),
    Column("purged", Double, comment="when its content was deleted"),
)

jobs = Table(
    "discreet_jobs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("project_id", ForeignKey(projects.c.id, ondelete="CASCADE"), nullable=False),
    Column("user_id", ForeignKey(users.c.id), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("parameters", JSON, nullable=False),
    Column("state", String(20), nullable=False, comment="queued, running, done, failed, cancelled or interrupted"),
    Column("cancelling", Boolean, nullable=False, default=False),
    Column("what", String(400), nullable=False, default="", comment="current step or outcome, for people"),
    Column("done", Double, nullable=False, default=0),
    Column("total", Double, nullable=False, default=0),
    Column("partial", JSON, comment="results so far, such as the wizard's points"),
    Column("result", JSON),
    Column("attempts", Integer, nullable=False, default=0),
    Column("ran", Double, nullable=False, default=0, server_default="0", comment="seconds that it ran, without pauses"),
    Column("pid", Integer),
    Column("request_id", String(64), comment="of the request that submitted it, as in the server's log"),
    Column("created", Double, nullable=False),
    Column("started", Double),
    Column("finished", Double),
    Index("ix_discreet_jobs_project", "project_id", "created"),
    Index("ix_discreet_jobs_state", "state"),
)

releases = Table(
    "discreet_releases",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", ForeignKey(projects.c.id, ondelete="CASCADE"), nullable=False),
    Column("number", Integer, nullable=False, comment="1, 2, … in the project"),
    Column("dataset_id", Integer, nullable=False),
    Column("job_id", String(32), nullable=False),
    Column("revision", Integer, nullable=False, comment="revision of the policy that produced it"),
    Column("policy", JSON, nullable=False),
    Column("file", String(200), nullable=False, comment="the Parquet file in the project's folder"),
    Column("sha256", String(64), nullable=False),
    Column("records", Integer, nullable=False),
    Column("table_name", String(80), nullable=False, comment="where other programs find it"),
    Column("assessment", JSON, nullable=False),
    Column("ok", Boolean, comment="whether every limit is met; null without limits"),
    Column("created", Double, nullable=False),
    Column("user_id", ForeignKey(users.c.id), nullable=False),
    Column("superseded_by", Integer),
    Column("state", String(20), nullable=False, default="draft", server_default="draft"),
    Column("history", JSON, comment="its states so far: a list of {state, by, at, note}"),
    Column("approval", JSON, comment="who approved it, when, on what evidence and why"),
    Column("purged", Double, comment="when its link, and of a draft the content, was deleted"),
    UniqueConstraint("project_id", "number"),
)

answers = Table(
    "discreet_answers",
    metadata,
    Column("user_id", ForeignKey(users.c.id, ondelete="CASCADE"), primary_key=True),
    Column("key", String(120), primary_key=True, comment="an Idempotency-Key"),
    Column("request", String(64), nullable=False, comment="SHA-256 of the request"),
    Column("status", Integer, nullable=False),
    Column("body", LongText, nullable=False),
    Column("at", Double, nullable=False),
)

audit = Table(
    "discreet_audit",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
    Column("who", String(80), nullable=False),
    Column("action", String(60), nullable=False),
    Column("project_id", Integer),
    Column("detail", JSON, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
)

chain = Table(
    "discreet_chain",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False, comment="always 1: the end of the audit log, and its lock"),
    Column("number", Integer, nullable=False),
    Column("hash", String(64), nullable=False),
)
