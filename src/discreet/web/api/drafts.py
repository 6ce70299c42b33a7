"""Named drafts of a project: saved, listed, renamed, replaced, opened and deleted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Path, Query

from discreet.web.api.draft_models import ComparisonOut, DraftContentIn, DraftIn, DraftNameIn, DraftOpenIn, DraftOut, DraftsOut
from discreet.web.api.models import PolicyOut
from discreet.web.api.projects import authorize_project, get_policy
from discreet.web.api.routing import ProjectId, create_router
from discreet.web.auth.security import Caller, ServerCore
from discreet.web.core import Core
from discreet.web.projects import access_log
from discreet.web.projects.projects import Project
from discreet.web.workspace import drafts
from discreet.web.workspace.comparison import compare_policies, compare_sides, describe_side, on_one_basis, open_side
from discreet.web.workspace.desk import open_desk
from discreet.web.workspace.view import View

drafts_router = create_router("workspace")
DraftId = Annotated[int, Path(ge=1, le=2**31 - 1, description="The draft's number.")]


@drafts_router.get("/projects/{project_id}/drafts", response_model=DraftsOut)
def list_drafts(
    core: ServerCore,
    access: Caller,
    project_id: ProjectId,
    page: Annotated[int, Query(ge=1, le=10**6)] = 1,
    size: Annotated[int, Query(ge=1, le=500)] = 50,
) -> dict[str, Any]:
    """The named drafts, last changed first, page by page."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        listed, total = drafts.list_drafts(connection, project, page, size)
    pages = max(math.ceil(total / size), 1)
    return {"drafts": listed, "total": total, "page": min(page, pages), "pages": pages}


@drafts_router.post("/projects/{project_id}/drafts", response_model=DraftOut, status_code=201)
def save_draft(core: ServerCore, access: Caller, project_id: ProjectId, body: DraftIn) -> drafts.Draft:
    """Save the current plan, limits and guesses under a name; a name that is taken is a conflict (409)."""
    project = authorize_project(core, access, project_id, "write", "editor")
    document = _current_document(core, project, body.known)
    with core.store.write() as connection:
        return drafts.save(connection, access.user, project, body.name, document)


@drafts_router.get("/projects/{project_id}/drafts/{draft}", response_model=DraftOut)
def get_draft(core: ServerCore, access: Caller, project_id: ProjectId, draft: DraftId) -> drafts.Draft:
    """One draft with its content."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        return drafts.get(connection, project, draft)


@drafts_router.patch("/projects/{project_id}/drafts/{draft}", response_model=DraftOut)
def rename_draft(core: ServerCore, access: Caller, project_id: ProjectId, draft: DraftId, body: DraftNameIn) -> drafts.Draft:
    """Rename a draft."""
    project = authorize_project(core, access, project_id, "write", "editor")
    with core.store.write() as connection:
        return drafts.rename(connection, access.user, project, draft, body.version, body.name)


@drafts_router.put("/projects/{project_id}/drafts/{draft}", response_model=DraftOut)
def replace_draft(core: ServerCore, access: Caller, project_id: ProjectId, draft: DraftId, body: DraftContentIn) -> drafts.Draft:
    """Save the current plan, limits and guesses in place of those of a draft."""
    project = authorize_project(core, access, project_id, "write", "editor")
    document = _current_document(core, project, body.known)
    with core.store.write() as connection:
        return drafts.replace(connection, access.user, project, draft, body.version, document)


@drafts_router.post("/projects/{project_id}/drafts/{draft}/open", response_model=PolicyOut)
def open_draft(core: ServerCore, access: Caller, project_id: ProjectId, draft: DraftId, body: DraftOpenIn) -> PolicyOut:
    """Make a draft the current plan, limits and guesses, as a new revision that can be undone."""
    project = authorize_project(core, access, project_id, "write", "editor")
    with core.store.write() as connection:
        drafts.open_draft(connection, access.user, project, draft, body.base)
    return get_policy(core, access, project_id)


@drafts_router.delete("/projects/{project_id}/drafts/{draft}", status_code=204)
def delete_draft(
    core: ServerCore,
    access: Caller,
    project_id: ProjectId,
    draft: DraftId,
    version: Annotated[int, Query(ge=1, le=2**31 - 1, description="The version that you saw; another one is a conflict (409).")],
) -> None:
    """Delete a draft."""
    project = authorize_project(core, access, project_id, "write", "editor")
    with core.store.write() as connection:
        drafts.remove(connection, access.user, project, draft, version)


@drafts_router.get("/projects/{project_id}/workspace/comparison", response_model=ComparisonOut)
def compare_drafts(
    core: ServerCore,
    access: Caller,
    project_id: ProjectId,
    a: Annotated[str, Query(pattern=r"^(current|[0-9]{1,10})$", description="A draft's number, or current.")],
    b: Annotated[str, Query(pattern=r"^(current|[0-9]{1,10})$", description="A draft's number, or current.")],
) -> dict[str, Any]:
    """Two drafts side by side: steps, guesses, verdicts, limits, measures and released distributions.

    Both are whole runs where both were run on the whole table (``whole``), else both are previews on the same sample.
    """
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        sides = on_one_basis(*(open_side(connection, core, project, choice) for choice in (a, b)))
    previews = (sides[0].desk.compute_preview(), sides[1].desk.compute_preview())
    with core.store.read() as connection:
        measured = compare_sides(connection, core, sides, previews)
    access_log.record_original(core.store, access.user, project, project.dataset_id, what="drafts compared")
    described = [describe_side(side, verdict) for side, verdict in zip(sides, measured["verdicts"], strict=True)]
    counts = [{"measure": one["measure"], "threshold": one["threshold"], "words": one["words"], "above": one["after"],
               "low": one["after_low"], "high": one["after_high"]} for one in measured["counts"]]  # fmt: skip
    attributes = [
        one | {"charts": [{"labels": chart["labels"], "counts": dict(chart["series"])} for chart in one["charts"]]}
        for one in measured["attributes"]
    ]
    return compare_policies(*sides) | measured | {"sides": described, "counts": counts, "attributes": attributes}


def _current_document(core: Core, project: Project, known: Mapping[str, float]) -> dict[str, Any]:
    """The current policy with other probabilities of being known."""
    view = View(known={f"known.{name}": str(value) for name, value in known.items()})
    with core.store.read() as connection:
        return open_desk(connection, core, project, view).own_document
