"""Groups of the provider of single sign-on that a project is shared with."""

from __future__ import annotations

from pydantic import BaseModel, Field

from discreet.web.api.models import RequestModel, Role
from discreet.web.api.projects import authorize_project
from discreet.web.api.routing import ProjectId, create_router
from discreet.web.auth.security import Caller, ServerCore
from discreet.web.projects import membership

groups_router = create_router("projects")


class GroupOut(BaseModel):
    """A group that a project is shared with."""

    group: str
    role: Role
    people: int = Field(description="How many people of the group have logged in so far.")


class GroupIn(RequestModel):
    """A group, and the role of its people in the project."""

    group: str = Field(min_length=1, max_length=200, description="The group's name as the provider spells it.")
    role: Role | None = Field(description="Null: the project is no longer shared with the group.")


@groups_router.get("/projects/{project_id}/groups", response_model=list[GroupOut])
def list_groups(core: ServerCore, access: Caller, project_id: ProjectId) -> list[GroupOut]:
    """The groups that the project is shared with."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        return [GroupOut.model_validate(shared) for shared in membership.list_groups(connection, project)]


@groups_router.put("/projects/{project_id}/groups", response_model=list[GroupOut])
def set_group_role(core: ServerCore, access: Caller, project_id: ProjectId, body: GroupIn) -> list[GroupOut]:
    """Share the project with a group in a role, or no longer."""
    project = authorize_project(core, access, project_id, "write", "owner")
    with core.store.write() as connection:
        membership.set_group_role(connection, access.user, project, body.group, body.role)
        return [GroupOut.model_validate(shared) for shared in membership.list_groups(connection, project)]
