"""The hierarchy of an attribute in the form of ARX's files: one row per value, coarser labels to the right."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from discreet.errors import DiscreetError
from discreet.model.attribute import Attribute
from discreet.web.api.models import RequestModel, Revision
from discreet.web.api.projects import authorize_project
from discreet.web.api.routing import ProjectId, create_router
from discreet.web.auth.security import Caller, ServerCore
from discreet.web.core import Core
from discreet.web.errors import InvalidRequest
from discreet.web.projects import access_log, attributes, datasets, hierarchies, policies
from discreet.web.projects.projects import Project

hierarchies_router = create_router("data")
Name = Annotated[str, Query(min_length=1, max_length=1000, description="The attribute.")]


class LevelEffect(BaseModel):
    """The equivalence classes of the keys with the attribute at a level, and the other keys as they are."""

    level: int
    k: int = Field(description="Records in the smallest class.")
    unique: int = Field(description="Records alone in their class.")
    violating_5: int = Field(description="Records in classes of fewer than 5.")


class Effect(BaseModel):
    """What the levels of a hierarchy do to the equivalence classes, on a sample."""

    records: int = Field(description="Records that were measured.")
    of: int = Field(description="Records of the table.")
    levels: list[LevelEffect]


class HierarchyOut(BaseModel):
    """A hierarchy of an attribute."""

    name: str
    csv: str = Field(description="One row per value: value;level 1;level 2;…;*")
    missing: list[str] = Field(description="Values of the data that a sent file missed; they stay ungrouped.")
    left_out: int = Field(description="Values of a sent file that the data do not have.")
    effect: Effect | None = Field(description="Null for an attribute that is not a key, or has no hierarchy.")


class HierarchyIn(RequestModel):
    """A hierarchy file, to be saved as the groups of an attribute."""

    base: Revision
    csv: Annotated[str, Field(min_length=1, max_length=5_000_000, description="One row per value: value;level 1;…;*")]


@hierarchies_router.get("/projects/{project_id}/hierarchy", response_model=HierarchyOut)
def get_hierarchy(core: ServerCore, access: Caller, project_id: ProjectId, name: Name) -> dict[str, Any]:
    """The hierarchy of an attribute with its effect on the risk; without a hierarchy, its values alone."""
    return _describe(core, access, authorize_project(core, access, project_id), name)


@hierarchies_router.put("/projects/{project_id}/hierarchy", response_model=HierarchyOut)
def put_hierarchy(core: ServerCore, access: Caller, project_id: ProjectId, name: Name, body: HierarchyIn) -> dict[str, Any]:
    """Save a hierarchy file as the groups of an attribute; values of the data that it misses are named in the answer."""
    project = authorize_project(core, access, project_id, "write", "editor")
    with core.store.read() as connection:
        dataset = datasets.get(connection, project)
        document = policies.policy_document(connection, project)
    current = attributes.get_attribute(dataset, document, name).attribute.model_dump(mode="json", exclude_defaults=True)
    values = hierarchies.count_values(datasets.path(core.settings, dataset), name)
    try:
        rows, missing, left_out = hierarchies.fit_rows(hierarchies.parse_text(body.csv), values)
        groups = hierarchies.groups_from_rows(rows)
        if not groups:
            raise InvalidRequest(f"the hierarchy groups no value of '{name[:80]}'")
        content = attributes.to_policy_values({**current, "hierarchy": {"groups": groups}}, name)
        hierarchies.build_hierarchy(values, Attribute.model_validate(content))  # fail now rather than in a job
    except DiscreetError as error:
        raise InvalidRequest(str(error)) from None
    with core.store.write() as connection:
        policies.edit(connection, access.user, project, body.base, {f"attributes.{name}": content}, f"{name[:80]}: hierarchy")
    return _describe(core, access, authorize_project(core, access, project_id), name) | {"missing": missing, "left_out": left_out}


def _describe(core: Core, access: Any, project: Project, name: str) -> dict[str, Any]:
    with core.store.read() as connection:
        dataset = datasets.get(connection, project)
        document = policies.policy_document(connection, project)
    row = attributes.get_attribute(dataset, document, name)
    file = datasets.path(core.settings, dataset)
    values = hierarchies.count_values(file, name)
    access_log.record_original(core.store, access.user, project, dataset.id, attribute=name[:200])
    effect = None
    try:
        hierarchy = hierarchies.build_hierarchy(values, row.attribute)
        if hierarchy is not None:
            effect = hierarchies.measure_effect(file, policies.parse_document(document, project), name, hierarchy)
    except DiscreetError as error:
        raise InvalidRequest(str(error)) from None
    rows = hierarchies.editor_rows(values, hierarchy)
    return {"name": name, "csv": hierarchies.format_text(rows), "missing": [], "left_out": 0, "effect": effect}
