"""Forms that change the policy: each names the revision it was made from, so that conflicts are detected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection
from starlette.datastructures import FormData

from discreet.model.policy import Plan, Policy
from discreet.web.auth.accounts import User
from discreet.web.errors import InvalidRequest
from discreet.web.pages.forms import conflicts
from discreet.web.projects import policies
from discreet.web.projects.projects import Project


def read_whole_number(form: FormData, name: str) -> int:
    """The whole number in a hidden field or button of a form."""
    text = str(form.get(name, ""))
    if not text.isdecimal() or len(text) > 15:
        raise InvalidRequest(f"'{name}' must be a whole number; got '{text[:40]}'")
    return int(text)


def begin_edit(connection: Connection, project: Project, form: FormData) -> tuple[int, Policy]:
    """The revision to compare with, and the policy of the revision that the page showed, to which the click applies."""
    document = policies.policy_document(connection, project, conflicts.base_revision(form))
    return conflicts.compared_revision(form), policies.parse_document(document, project)


def save_plan(
    connection: Connection,
    user: User,
    project: Project,
    base: int,
    plan: Plan,
    what: str,
    *,
    hierarchies: Mapping[str, Any] | None = None,
) -> int:
    """Save the plan, with the hierarchies that it refers to of attributes that have none."""
    sections: dict[str, Any] = {"plan": plan.model_dump(mode="json", exclude_defaults=True) or None}
    attributes = policies.policy_document(connection, project).get("attributes", {})
    for name, hierarchy in (hierarchies or {}).items():
        attribute = attributes.get(name) or {}
        if "hierarchy" not in attribute:
            sections[f"attributes.{name}"] = {**attribute, "hierarchy": hierarchy}
    return policies.edit(connection, user, project, base, sections, what)


def save_section(connection: Connection, user: User, project: Project, base: int, section: str, content: Any, what: str) -> int:
    """Save a section of the policy; an empty one is removed."""
    return policies.edit(connection, user, project, base, {section: content or None}, what)
