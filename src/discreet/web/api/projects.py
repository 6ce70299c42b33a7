"""Projects, who may see them, and their policy."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Response

from discreet.model.policy import Policy, parse_policy
from discreet.web.api.idempotency import Key, once
from discreet.web.api.models import (
    Change,
    Entry,
    Member,
    PolicyIn,
    PolicyOut,
    ProjectIn,
    ProjectOut,
    ProjectRow,
    RoleIn,
    SectionsIn,
)
from discreet.web.api.people import Name
from discreet.web.api.routing import ProjectId, router
from discreet.web.auth.security import Access, Asking, Here
from discreet.web.core import Core
from discreet.web.db import audit
from discreet.web.errors import Invalid
from discreet.web.projects import policies, projects, removal
from discreet.web.projects.projects import Project

found = router("projects")
At = Annotated[int | None, Query(ge=0, le=2**31 - 1, description="A revision; the newest where absent.")]


def seen(core: Core, access: Access, project_id: int, scope: str = "read", role: str = "reader") -> Project:
    """The project that a request speaks of, where its token and person may do what it asks."""
    access.demand(scope)
    with core.store.read() as connection:
        return projects.get(connection, access.user, project_id, role)


@found.get("/projects", response_model=list[ProjectRow])
def list_projects(core: Here, access: Asking) -> list[ProjectRow]:
    """Your projects with the verdict of their last release, newest change first."""
    access.demand("read")
    with core.store.read() as connection:
        rows = projects.mine(connection, access.user)
    return [ProjectRow(**{**row, "project": ProjectOut.model_validate(row["project"])}) for row in rows]


@found.post("/projects", response_model=ProjectOut, status_code=201)
def create_project(core: Here, access: Asking, asked: ProjectIn, key: Key = None) -> dict[str, Any]:
    """Make a project."""
    access.demand("write")
    return once(
        core, access, key, asked,
        lambda connection: ProjectOut.model_validate(projects.create(connection, access.user, asked.name, asked.table_name)),
    )  # fmt: skip


@found.get("/projects/{project_id}", response_model=ProjectOut)
def get_project(core: Here, access: Asking, project_id: ProjectId) -> ProjectOut:
    """One project."""
    return ProjectOut.model_validate(seen(core, access, project_id))


@found.delete("/projects/{project_id}", status_code=204)
def delete_project(core: Here, access: Asking, project_id: ProjectId) -> None:
    """Delete a project in which nothing was signed off and no job is at work, with its data and its masked table."""
    project = seen(core, access, project_id, "write", "owner")
    removal.remove(core.store, core.settings, access.user, project)


@found.get("/projects/{project_id}/people", response_model=list[Member])
def list_people(core: Here, access: Asking, project_id: ProjectId) -> list[Member]:
    """Who may see the project, and as what."""
    project = seen(core, access, project_id)
    with core.store.read() as connection:
        return [Member.model_validate(one) for one in projects.people(connection, project)]


@found.put("/projects/{project_id}/people/{name}", response_model=list[Member])
def set_role(core: Here, access: Asking, project_id: ProjectId, name: Name, asked: RoleIn) -> list[Member]:
    """Give somebody a role."""
    project = seen(core, access, project_id, "write", "owner")
    with core.store.write() as connection:
        projects.share(connection, access.user, project, name, asked.role)
        return [Member.model_validate(one) for one in projects.people(connection, project)]


@found.delete("/projects/{project_id}/people/{name}", status_code=204)
def take_role(core: Here, access: Asking, project_id: ProjectId, name: Name) -> None:
    """Take somebody out of the project."""
    project = seen(core, access, project_id, "write", "owner")
    with core.store.write() as connection:
        projects.share(connection, access.user, project, name, None)


@found.get("/projects/{project_id}/policy", response_model=PolicyOut)
def get_policy(core: Here, access: Asking, project_id: ProjectId, revision: At = None) -> PolicyOut:
    """The policy, as values and as a policy file."""
    project = seen(core, access, project_id)
    with core.store.read() as connection:
        content = policies.document(connection, project, revision)
    number = project.revision if revision is None else revision
    return PolicyOut(revision=number, policy=content, yaml=policies.parsed(content, project).to_yaml())


@found.get("/projects/{project_id}/policy.yaml", response_class=Response, responses={200: {"content": {"application/yaml": {}}}})
def get_policy_file(core: Here, access: Asking, project_id: ProjectId, revision: At = None) -> Response:
    """The policy file, ready for the command line."""
    project = seen(core, access, project_id)
    with core.store.read() as connection:
        text = policies.parsed(policies.document(connection, project, revision), project).to_yaml()
    return Response(text, media_type="application/yaml", headers={"Content-Disposition": 'attachment; filename="policy.yaml"'})


@found.put("/projects/{project_id}/policy", response_model=PolicyOut)
def put_policy(core: Here, access: Asking, project_id: ProjectId, asked: PolicyIn) -> PolicyOut:
    """Set the whole policy, from values or from a policy file."""
    project = seen(core, access, project_id, "write", "editor")
    if (asked.policy is None) == (asked.yaml is None):
        raise Invalid("send either policy or yaml")
    made = _parsed(asked)
    with core.store.write() as connection:
        policies.replace(connection, access.user, project, asked.base, made, asked.what or "the whole policy was set")
    return get_policy(core, access, project_id)


@found.patch("/projects/{project_id}/policy", response_model=PolicyOut)
def patch_policy(core: Here, access: Asking, project_id: ProjectId, asked: SectionsIn) -> PolicyOut:
    """Set some sections; edits of other sections by others are kept."""
    project = seen(core, access, project_id, "write", "editor")
    with core.store.write() as connection:
        policies.edit(connection, access.user, project, asked.base, asked.sections, asked.what or "")
    return get_policy(core, access, project_id)


@found.get("/projects/{project_id}/policy/history", response_model=list[Change])
def policy_history(core: Here, access: Asking, project_id: ProjectId) -> list[Change]:
    """Who changed what, newest first."""
    project = seen(core, access, project_id)
    with core.store.read() as connection:
        return [Change.model_validate(one) for one in policies.history(connection, project)]


@found.post("/projects/{project_id}/policy/restore", response_model=PolicyOut)
def restore_policy(
    core: Here, access: Asking, project_id: ProjectId, revision: Annotated[int, Query(ge=0, le=2**31 - 1)]
) -> PolicyOut:
    """Go back to an earlier revision, as a new one."""
    project = seen(core, access, project_id, "write", "editor")
    with core.store.write() as connection:
        policies.restore(connection, access.user, project, revision)
    return get_policy(core, access, project_id)


@found.get("/projects/{project_id}/audit", response_model=list[Entry])
def project_audit(core: Here, access: Asking, project_id: ProjectId) -> list[Entry]:
    """Who did what in the project, newest first."""
    project = seen(core, access, project_id)
    with core.store.read() as connection:
        return [Entry.model_validate(one) for one in audit.entries(connection, project.id)]


def _parsed(asked: PolicyIn) -> Policy:
    if asked.yaml is not None:
        return parse_policy(asked.yaml, origin="the policy file")
    return Policy.from_dict(asked.policy, origin="the policy")
