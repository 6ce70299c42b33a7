"""A form that changes the policy: it says which revision it was made from, and conflicts are told."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection
from starlette.datastructures import FormData

from discreet.model.policy import Plan, Policy
from discreet.web.auth.accounts import User
from discreet.web.errors import Invalid
from discreet.web.pages.forms import conflicts
from discreet.web.projects import policies
from discreet.web.projects.projects import Project


def whole(form: FormData, name: str) -> int:
    """A whole number that a form's own hidden field or button holds."""
    said = str(form.get(name, ""))
    if not said.isdecimal() or len(said) > 15:
        raise Invalid(f"'{name}' is a whole number; got '{said[:40]}'")
    return int(said)


def start(connection: Connection, project: Project, form: FormData) -> tuple[int, Policy]:
    """The revision to compare with, and the policy as the page showed it: what was clicked was meant for that."""
    shown = policies.document(connection, project, conflicts.base_of(form))
    return conflicts.over_of(form), policies.parsed(shown, project)


def save_plan(connection: Connection, user: User, project: Project, base: int, plan: Plan, what: str) -> int:
    """Set the plan."""
    content = plan.model_dump(mode="json", exclude_defaults=True)
    return policies.edit(connection, user, project, base, {"plan": content or None}, what)


def save(connection: Connection, user: User, project: Project, base: int, section: str, content: Any, what: str) -> int:
    """Set another section; an empty one is taken away."""
    return policies.edit(connection, user, project, base, {section: content or None}, what)
