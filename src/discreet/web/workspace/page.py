"""The workspace page: the plan on the left, linked views on the right. Every part of a view is in the address.

The page answers at once with what is in memory. Where the preview is not, the script asks for it with ``now``; without scripts a
link does.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore
from discreet.web.auth.sessions import Session
from discreet.web.core import Core
from discreet.web.errors import InvalidRequest, NotFound, TooManyRequests
from discreet.web.jobs import queue
from discreet.web.pages.forms import catalogue
from discreet.web.pages.forms.labels import step_rows
from discreet.web.pages.forms.limit_choice import limit_rows
from discreet.web.pages.rendering import redirect, render_page
from discreet.web.projects import access_log, projects, releases
from discreet.web.workspace import drafts, summary
from discreet.web.workspace.card import describe_record
from discreet.web.workspace.desk import Desk, open_desk
from discreet.web.workspace.draft_pages import SHOWN_DRAFTS
from discreet.web.workspace.drafts_map import map_of
from discreet.web.workspace.preview import Preview
from discreet.web.workspace.undoing import read_history, redo, undo
from discreet.web.workspace.view import View

router = APIRouter(prefix="/projects/{number}/workspace", include_in_schema=False)


@router.get("")
def show(request: Request, core: ServerCore, session: CurrentSession, number: int) -> Response:
    """Show the draft with its preview, or with the numbers of the whole table where they are there."""
    query = request.query_params
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        project.require_role("member")
        listed, history = releases.list_summaries(connection, project), read_history(connection, project)
        desk = open_desk(connection, core, project, view := View.from_query(query), listed)
        job = queue.latest_job(connection, project, "generate")
        shown_drafts, draft_count = drafts.list_drafts(connection, project, size=SHOWN_DRAFTS)
    problem, preview = "", None
    try:
        if desk.file is not None:
            preview = desk.compute_preview() if "now" in query else desk.find_preview()
    except (InvalidRequest, NotFound, TooManyRequests) as error:
        problem = str(error)
    views: dict[str, Any] = {}
    if preview is not None:
        views = _build_views(core, session, desk, preview, view)
    return render_page(
        request, "workspace.html", session, project, "workspace", view=view, desk=desk, problem=problem, preview=preview,
        steps=step_rows(desk.policy.plan), methods=catalogue.entries("masking"), limits=limit_rows(desk.policy),
        limit_choices=catalogue.list_limits(), job=job, points=map_of(listed), history=history, may=project.allows("editor"),
        title_of=catalogue.title, drafts=shown_drafts, draft_count=draft_count, **views,
    )  # fmt: skip


@router.post("")
def act(core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Undo or redo a change of the policy, or run the draft on the whole table as a job."""
    with core.store.write() as connection:
        project = projects.get(connection, session.user, number, "editor")
        if (action := form.get("do")) in ("undo", "redo"):
            (undo if action == "undo" else redo)(connection, session.user, project)
            return redirect(f"/projects/{number}/workspace")
        if project.dataset_id is None:
            raise InvalidRequest("there are no initial microdata yet; upload a table first")
        queue.submit(connection, session.user, project, "generate")
    core.supervisor.wake()
    return redirect(f"/projects/{number}/workspace")


def _build_views(core: Core, session: Session, desk: Desk, preview: Preview, view: View) -> dict[str, Any]:
    risks = desk.find_risks(core, preview)
    at = risks.default_position if view.at is None else min(view.at, len(risks.thresholds) - 1)
    shown = desk.find_views(core, preview)
    listed = summary.list_page(desk, preview, shown, risks, view, risks.thresholds[at])
    card = describe_record(preview, desk.existing_file, view.record) if view.record is not None else None
    access_log.record_original(
        core.store, session.user, desk.project, desk.project.dataset_id, page="workspace", record=view.record
    )
    return {
        "risks": risks, "at": at, "threshold": risks.thresholds[at], "positions": summary.describe_positions(risks),
        "counts": summary.count_at(risks, at), "verdict": summary.describe_verdict(desk, preview), "listed": listed,
        "card": card, "brushed": summary.describe_brush(shown, view), "shown": shown,
    }  # fmt: skip
