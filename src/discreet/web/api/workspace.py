"""The workspace: a draft tried on a sample, its risky records, and undo and redo. A job of kind generate runs it whole."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import Path, Query

from discreet.web.api.models import PolicyOut
from discreet.web.api.projects import authorize_project, get_policy
from discreet.web.api.routing import ProjectId, create_router
from discreet.web.api.workspace_models import MapOut, RecordCardOut, RecordsOut, WorkspaceIn, WorkspaceOut
from discreet.web.auth.security import Access, Caller, ServerCore
from discreet.web.core import Core
from discreet.web.projects import access_log, releases
from discreet.web.projects.projects import Project
from discreet.web.workspace import summary
from discreet.web.workspace.card import describe_record
from discreet.web.workspace.desk import Desk, open_desk
from discreet.web.workspace.drafts_map import map_of
from discreet.web.workspace.undoing import redo, undo
from discreet.web.workspace.view import RISK, View

workspace_router = create_router("workspace")
Threshold = Annotated[float | None, Query(ge=0, le=1e12, description="A risk; default: the policy's threshold.")]


@workspace_router.post("/projects/{project_id}/workspace", response_model=WorkspaceOut)
def preview_draft(core: ServerCore, access: Caller, project_id: ProjectId, body: WorkspaceIn) -> dict[str, Any]:
    """Try the current draft on a sample, optionally with other probabilities of being known; nothing is saved.

    Where the same draft was run on the whole table (a job of kind generate), verdict, counts, distributions and
    shares are those of the whole table.
    """
    project = authorize_project(core, access, project_id)
    desk = _open(core, project, View(known={f"known.{name}": str(value) for name, value in body.known.items()}))
    preview = desk.compute_preview()
    risks, views = desk.find_risks(core, preview), desk.find_views(core, preview)
    _record_view(core, access, desk)
    return {
        "measure": risks.measure, "threshold": risks.threshold, "records": len(risks.rows), "of": risks.of,
        "is_sample": risks.is_sample, "seconds": preview.seconds, "verdict": summary.describe_verdict(desk, preview),
        "positions": summary.describe_positions(risks), "bands": [asdict(band) for band in risks.bands],
        "attributes": [summary.describe_multiple(one) for one in views.multiples], "whole_attributes": views.whole_multiples,
        "by_attribute": [asdict(one) for one in views.shares.attributes],
        "by_set": [asdict(one) for one in views.shares.sets], "whole_shares": views.whole_shares,
    }  # fmt: skip


@workspace_router.get("/projects/{project_id}/workspace/records", response_model=RecordsOut)
def list_risky_records(
    core: ServerCore,
    access: Caller,
    project_id: ProjectId,
    threshold: Threshold = None,
    sort: Literal["after", "before", "row"] = "after",
    attribute: Annotated[str, Query(max_length=1000, description="Only records in a bar of this attribute.")] = "",
    band: Annotated[int | None, Query(ge=0, le=1000, description="Only records in this band of the risk.")] = None,
    bar: Annotated[int | None, Query(ge=0, le=1000, description="The bar of the attribute, from 0.")] = None,
    page: Annotated[int, Query(ge=1, le=10**9)] = 1,
    size: Annotated[int, Query(ge=1, le=500)] = 50,
) -> dict[str, Any]:
    """The records above a threshold, the riskiest first, page by page."""
    project = authorize_project(core, access, project_id)
    on, chosen = (RISK, band) if band is not None else (attribute, bar) if attribute and bar is not None else ("", None)
    view = View(on=on, bar=chosen, sort=sort, page=page)
    desk = _open(core, project, view)
    preview = desk.compute_preview()
    risks = desk.find_risks(core, preview)
    above = risks.threshold if threshold is None else threshold
    listed = summary.list_page(desk, preview, desk.find_views(core, preview), risks, view, above, size)
    _record_view(core, access, desk)
    return asdict(listed) | {"threshold": above, "is_sample": risks.is_sample}


@workspace_router.get("/projects/{project_id}/workspace/records/{record}", response_model=RecordCardOut)
def get_risky_record(
    core: ServerCore, access: Caller, project_id: ProjectId, record: Annotated[int, Path(ge=1, le=2**31 - 1)]
) -> dict[str, Any]:
    """One record of the initial microdata: whom it hides among, what would be learnt, and which steps would help."""
    desk = _open(core, authorize_project(core, access, project_id), View())
    card = describe_record(desk.compute_preview(), desk.existing_file, record)
    _record_view(core, access, desk, record)
    return asdict(card)


@workspace_router.get("/projects/{project_id}/workspace/map", response_model=MapOut)
def get_map(core: ServerCore, access: Caller, project_id: ProjectId) -> dict[str, Any]:
    """Every draft and release by one risk and one loss: those of the first limits."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        return map_of(releases.list_summaries(connection, project)) or {"risk_name": "", "loss_name": "", "points": []}


@workspace_router.post("/projects/{project_id}/policy/undo", response_model=PolicyOut)
def undo_change(core: ServerCore, access: Caller, project_id: ProjectId) -> PolicyOut:
    """Undo the last change of the policy, as a new revision."""
    project = authorize_project(core, access, project_id, "write", "editor")
    with core.store.write() as connection:
        undo(connection, access.user, project)
    return get_policy(core, access, project_id)


@workspace_router.post("/projects/{project_id}/policy/redo", response_model=PolicyOut)
def redo_change(core: ServerCore, access: Caller, project_id: ProjectId) -> PolicyOut:
    """Make the last undone change of the policy again, as a new revision."""
    project = authorize_project(core, access, project_id, "write", "editor")
    with core.store.write() as connection:
        redo(connection, access.user, project)
    return get_policy(core, access, project_id)


def _open(core: Core, project: Project, view: View) -> Desk:
    with core.store.read() as connection:
        return open_desk(connection, core, project, view)


def _record_view(core: Core, access: Access, desk: Desk, record: int | None = None) -> None:
    access_log.record_original(core.store, access.user, desk.project, desk.project.dataset_id, what="workspace", record=record)
