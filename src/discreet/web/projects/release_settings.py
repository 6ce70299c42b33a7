"""What the owner of a project decides about its releases: limits for approval, who may read the table, how long data are kept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from discreet import registry
from discreet.model.policy import Policy
from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.errors import InvalidRequest
from discreet.web.projects import policies, projects
from discreet.web.projects.projects import Project

MAX_RETENTION_DAYS = 36_500
MAX_GRANTS = 50
_ACCOUNT = re.compile(r"[^\s'\"`\\\x00-\x1f\x7f]{1,63}")


@dataclass(frozen=True)
class ReleaseSettings:
    """The settings of a project's releases."""

    limits: dict[str, float]
    """Limits that every release is judged on: MEASURE.FIELD and a number."""
    retention_days: int | None
    """Days after which originals and drafts are purged; None: they are kept until somebody purges them."""
    grants: list[str]
    """Accounts of the database that may read the published table."""


def get(project: Project) -> ReleaseSettings:
    """The settings of a project's releases."""
    return ReleaseSettings(dict(project.limits or {}), project.retention_days, list(project.grants or []))


def change(connection: Connection, user: User, project: Project, settings: ReleaseSettings) -> ReleaseSettings:
    """Set the settings of a project's releases; only an owner may."""
    project.require_role("owner")
    checked = ReleaseSettings(
        check_limits(settings.limits), _check_days(settings.retention_days), _check_accounts(settings.grants)
    )
    if checked == get(project):
        return checked
    projects.mark_updated(
        connection, project.id, limits=checked.limits or None, retention_days=checked.retention_days,
        grants=checked.grants or None,
    )  # fmt: skip
    audit.record(
        connection, user.name, "release settings changed", project.id, limits=checked.limits,
        retention_days=checked.retention_days, grants=checked.grants,
    )  # fmt: skip
    return checked


def adopt_policy_limits(connection: Connection, user: User, project: Project) -> ReleaseSettings:
    """Make the limits of the current policy, whoever wrote them, those of the owner."""
    limits = dict(policies.current_policy(connection, project).limits)
    current = get(project)
    return change(connection, user, project, ReleaseSettings(limits, current.retention_days, current.grants))


def check_limits(limits: Mapping[str, float]) -> dict[str, float]:
    """Limits that can be judged; raises for unknown measures and fields, and for what is no limit in a policy either."""
    checked = Policy.from_dict({"limits": dict(limits)}, origin="the limits of the project").limits
    for name in checked:
        registry.resolve_limit(name, origin="the limits of the project")
    return dict(checked)


def _check_days(days: int | None) -> int | None:
    if days is not None and not 1 <= days <= MAX_RETENTION_DAYS:
        raise InvalidRequest(f"data are kept for 1 to {MAX_RETENTION_DAYS:,} days, or without an end; got {days}")
    return days


def _check_accounts(accounts: Sequence[str]) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in accounts if name.strip()))
    if len(names) > MAX_GRANTS:
        raise InvalidRequest(f"at most {MAX_GRANTS} accounts can be named; got {len(names)}")
    for name in names:
        if not _ACCOUNT.fullmatch(name):
            raise InvalidRequest(
                f"'{name[:63]}' is not the name of a database account: use 1 to 63 characters without blanks, "
                "quotes and backslashes"
            )
    return names
