"""Projects, their members and their policies."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Response

from discreet.model.policy import Policy, parse_policy
from discreet.web.api.idempotency import IdempotencyKey, run_once
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
from discreet.web.api.people import UserName
from discreet.web.api.routing import PAGED, PageOf, ProjectId, create_router
from discreet.web.auth.security import Access, Caller, ServerCore
from discreet.web.core import Core
from discreet.web.db import audit
from discreet.web.errors import InvalidRequest
from discreet.web.projects import policies, projects, removal
from discreet.web.projects.projects import Project

projects_router = create_router("projects")
RevisionQuery = Annotated[int | None, Query(ge=0, le=2**31 - 1, description="A revision; default: the latest.")]


def authorize_project(core: Core, access: Access, project_id: int, scope: str = "read", role: str = "member") -> Project:
    """The project of a request; raises if the token lacks the scope or the user lacks the role."""
    access.require_scope(scope)
    with core.store.read() as connection:
        return projects.get(connection, access.user, project_id, role)


@projects_router.get("/projects", response_model=list[ProjectRow], responses=PAGED)
def list_projects(core: ServerCore, access: Caller, paging: PageOf, response: Response) -> list[ProjectRow]:
    """Your projects with the verdict of their latest release, most recently changed first."""
    access.require_scope("read")
    with core.store.read() as connection:
        rows = projects.list_projects(connection, access.user)[paging.offset : paging.stop]
    page = paging.send(response, rows)
    return [ProjectRow(**{**row, "project": ProjectOut.model_validate(row["project"])}) for row in page]


@projects_router.post("/projects", response_model=ProjectOut, status_code=201)
def create_project(core: ServerCore, access: Caller, body: ProjectIn, key: IdempotencyKey = None) -> dict[str, Any]:
    """Create a project."""
    access.require_scope("write")
    return run_once(
        core, access, key, body,
        lambda connection: ProjectOut.model_validate(projects.create(connection, access.user, body.name, body.table_name)),
    )  # fmt: skip


@projects_router.get("/projects/{project_id}", response_model=ProjectOut)
def get_project(core: ServerCore, access: Caller, project_id: ProjectId) -> ProjectOut:
    """One project."""
    return ProjectOut.model_validate(authorize_project(core, access, project_id, role="release_reader"))


@projects_router.delete("/projects/{project_id}", status_code=204)
def delete_project(core: ServerCore, access: Caller, project_id: ProjectId) -> None:
    """Delete a project with its data; refused if a release is approved or published, or a job is active."""
    project = authorize_project(core, access, project_id, "write", "owner")
    removal.delete_project(core.store, core.settings, access.user, project)


@projects_router.get("/projects/{project_id}/people", response_model=list[Member])
def list_people(core: ServerCore, access: Caller, project_id: ProjectId) -> list[Member]:
    """The members of the project and their roles."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        return [Member.model_validate(member) for member in projects.list_members(connection, project)]


@projects_router.put("/projects/{project_id}/people/{name}", response_model=list[Member])
def set_role(core: ServerCore, access: Caller, project_id: ProjectId, name: UserName, body: RoleIn) -> list[Member]:
    """Assign a role to a user."""
    project = authorize_project(core, access, project_id, "write", "owner")
    with core.store.write() as connection:
        projects.set_role(connection, access.user, project, name, body.role)
        return [Member.model_validate(member) for member in projects.list_members(connection, project)]


@projects_router.delete("/projects/{project_id}/people/{name}", status_code=204)
def take_role(core: ServerCore, access: Caller, project_id: ProjectId, name: UserName) -> None:
    """Remove a user from the project."""
    project = authorize_project(core, access, project_id, "write", "owner")
    with core.store.write() as connection:
        projects.set_role(connection, access.user, project, name, None)


@projects_router.get("/projects/{project_id}/policy", response_model=PolicyOut)
def get_policy(core: ServerCore, access: Caller, project_id: ProjectId, revision: RevisionQuery = None) -> PolicyOut:
    """The policy, as JSON and as a policy file."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        content = policies.policy_document(connection, project, revision)
    number = project.revision if revision is None else revision
    return PolicyOut(revision=number, policy=content, yaml=policies.parse_document(content, project).to_yaml())


@projects_router.get(
    "/projects/{project_id}/policy.yaml", response_class=Response, responses={200: {"content": {"application/yaml": {}}}}
)
def get_policy_file(core: ServerCore, access: Caller, project_id: ProjectId, revision: RevisionQuery = None) -> Response:
    """The policy file, for use on the command line."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        text = policies.parse_document(policies.policy_document(connection, project, revision), project).to_yaml()
    return Response(text, media_type="application/yaml", headers={"Content-Disposition": 'attachment; filename="policy.yaml"'})


@projects_router.put("/projects/{project_id}/policy", response_model=PolicyOut)
def put_policy(core: ServerCore, access: Caller, project_id: ProjectId, body: PolicyIn) -> PolicyOut:
    """Replace the whole policy, by JSON or by a policy file."""
    project = authorize_project(core, access, project_id, "write", "editor")
    if (body.policy is None) == (body.yaml is None):
        raise InvalidRequest("send either policy or yaml")
    policy = _parse_policy(body)
    with core.store.write() as connection:
        policies.replace(connection, access.user, project, body.base, policy, body.what or "the whole policy was replaced")
    return get_policy(core, access, project_id)


@projects_router.patch("/projects/{project_id}/policy", response_model=PolicyOut)
def patch_policy(core: ServerCore, access: Caller, project_id: ProjectId, body: SectionsIn) -> PolicyOut:
    """Set sections of the policy; edits of other sections by other users are kept."""
    project = authorize_project(core, access, project_id, "write", "editor")
    with core.store.write() as connection:
        policies.edit(connection, access.user, project, body.base, body.sections, body.what or "")
    return get_policy(core, access, project_id)


@projects_router.get("/projects/{project_id}/policy/history", response_model=list[Change], responses=PAGED)
def policy_history(core: ServerCore, access: Caller, project_id: ProjectId, paging: PageOf, response: Response) -> list[Change]:
    """The revisions of the policy, newest first."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        revisions = policies.history(connection, project, paging.limit + 1, paging.offset)
    return [Change.model_validate(change) for change in paging.send(response, revisions)]


@projects_router.post("/projects/{project_id}/policy/restore", response_model=PolicyOut)
def restore_policy(
    core: ServerCore, access: Caller, project_id: ProjectId, revision: Annotated[int, Query(ge=0, le=2**31 - 1)]
) -> PolicyOut:
    """Restore an earlier revision as a new revision."""
    project = authorize_project(core, access, project_id, "write", "editor")
    with core.store.write() as connection:
        policies.restore(connection, access.user, project, revision)
    return get_policy(core, access, project_id)


@projects_router.get("/projects/{project_id}/audit", response_model=list[Entry], responses=PAGED)
def project_audit(core: ServerCore, access: Caller, project_id: ProjectId, paging: PageOf, response: Response) -> list[Entry]:
    """The audit log of the project, newest entry first."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        entries = audit.list_entries(connection, project.id, paging.limit + 1, offset=paging.offset)
    return [Entry.model_validate(entry) for entry in paging.send(response, entries)]


def _parse_policy(body: PolicyIn) -> Policy:
    if body.yaml is not None:
        return parse_policy(body.yaml, origin="the policy file", seconds=policies.READING_SECONDS)
    return Policy.from_dict(body.policy, origin="the policy")
