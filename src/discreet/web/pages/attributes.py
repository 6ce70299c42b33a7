"""The table of all attributes: the Analyzer's proposals with their reasons, which the user edits or accepts."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection

from discreet.errors import DiscreetError
from discreet.model.attribute import Level, Role
from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore
from discreet.web.errors import Conflict, Forbidden, InvalidRequest, NotFound
from discreet.web.jobs import queue
from discreet.web.pages.forms.attribute_list import (
    CONFIDENCES,
    ORDERS,
    ROWS_PER_PAGE,
    STATES,
    AttributeFilter,
    confidence_label,
    draw_bars,
)
from discreet.web.pages.forms.conflicts import base_revision, compared_revision, conflict_page
from discreet.web.pages.rendering import redirect, render_page
from discreet.web.projects import access_log, attributes, datasets, policies, projects
from discreet.web.projects.projects import Project

router = APIRouter(prefix="/projects/{number}", include_in_schema=False)


@router.get("/attributes")
def show(request: Request, core: ServerCore, session: CurrentSession, number: int) -> Response:
    """Show the attributes with decided and proposed values."""
    return _page(request, core, session, number, done=request.query_params.get("done", ""))


@router.post("/attributes")
def save(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Save the changed rows, and set common values of the ticked ones; with ``accept`` also their proposals or all."""
    try:
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number)
            dataset = datasets.get(connection, project)
            ticked = _ticked_names(connection, project, dataset, form)
            sections = _changed_sections(connection, project, dataset, form, ticked)
            names = [path.partition(".")[2] for path in sections]
            summary = f"{_list_names(names)} edited" if names else ""
            if "accept" in form:
                accepted = ticked if form["accept"] == "ticked" else None
                proposals = attributes.proposal_sections(dataset, policies.policy_document(connection, project), accepted)
                sections = {**proposals, **sections}
                summary = "; ".join(filter(None, [summary, "proposals accepted"]))
            if sections:
                policies.edit(connection, session.user, project, compared_revision(form), sections, summary)
    except Conflict as error:
        return conflict_page(request, session, project, "attributes", error, form)
    except (Forbidden, NotFound):
        raise
    except DiscreetError as error:
        return _page(request, core, session, number, status=422, wrong=str(error), typed=form)
    if form.get("accept") == "onward":
        return redirect(f"/projects/{number}/methods/wizard")
    kept = AttributeFilter.from_query(_filter_fields(form)).address()
    outcome = f"done={'saved' if sections else 'nothing'}"
    return redirect(f"/projects/{number}/attributes?{f'{kept}&' if kept else ''}{outcome}")


@router.post("/attributes/strangers")
def remove_unknown(core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Remove attributes from the policy that the table does not have."""
    with core.store.write() as connection:
        project = projects.get(connection, session.user, number)
        dataset = datasets.get(connection, project)
        unknown = attributes.unknown_attributes(dataset, policies.policy_document(connection, project))
        sections = {f"attributes.{name}": None for name in unknown}
        policies.edit(connection, session.user, project, base_revision(form), sections, f"{_list_names(unknown)} removed")
    return redirect(f"/projects/{number}/attributes")


@router.post("/analyze")
def analyze(core: ServerCore, session: CurrentSession, _form: CheckedForm, number: int) -> Response:
    """Queue another analysis of the attributes."""
    with core.store.write() as connection:
        project = projects.get(connection, session.user, number)
        queue.submit(connection, session.user, project, "analyze", {})
    return redirect(f"/projects/{number}/attributes")


def _filter_fields(form: CheckedForm) -> dict[str, str]:
    """The filter of the page that a form was sent from."""
    return {name.removeprefix("filter."): str(value) for name, value in form.multi_items() if name.startswith("filter.")}


def _ticked_names(connection: Connection, project: Project, dataset: datasets.Dataset, form: CheckedForm) -> set[str]:
    """The attributes whose rows are ticked, or all that match the filter."""
    rows = attributes.list_attributes(dataset, policies.policy_document(connection, project, base_revision(form)))
    if "pick_all" in form:
        return {row.name for row in AttributeFilter.from_query(_filter_fields(form)).select(rows)}
    ticked = {str(number) for number in form.getlist("pick")}
    return {row.name for row in rows if str(row.number) in ticked}


def _changed_sections(
    connection: Connection, project: Project, dataset: datasets.Dataset, form: CheckedForm, ticked: set[str]
) -> dict[str, Any]:
    """The policy sections that the form changes, compared with the revision that the form showed."""
    shown = {
        row.name: row
        for row in attributes.list_attributes(dataset, policies.policy_document(connection, project, base_revision(form)))
    }
    sections: dict[str, Any] = {}
    for key, name in form.multi_items():
        line = key.removeprefix("name.")
        if line == key or not line.isdecimal():
            continue
        if not isinstance(name, str) or name not in shown:
            raise InvalidRequest(f"the table '{dataset.name}' has no attribute '{str(name)[:80]}'; reload the page")
        typed = {field: str(form[f"{field}.{line}"]) for field in attributes.ROW_FIELDS if f"{field}.{line}" in form}
        if (content := attributes.changed_values(shown[name], typed)) is not None:
            sections[f"attributes.{name}"] = content
    common = {field: text for field in attributes.ROW_FIELDS if (text := str(form.get(f"bulk.{field}", "")).strip())}
    if common and not ticked:
        raise InvalidRequest("tick the attributes that are to get the common values")
    for name in ticked if common else ():
        if (content := attributes.bulk_values(shown[name], sections.get(f"attributes.{name}"), common)) is not None:
            sections[f"attributes.{name}"] = content
    return sections


def _page(
    request: Request, core: ServerCore, session: CurrentSession, number: int, status: int = 200, **overrides: Any
) -> Response:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        dataset = datasets.get(connection, project) if project.dataset_id is not None else None
        document = policies.policy_document(connection, project)
        active = [job for job in queue.list_jobs(connection, project, 20) if job.active and job.kind in ("import", "analyze")]
    rows = attributes.list_attributes(dataset, document) if dataset is not None else []
    if dataset is not None and dataset.profile is not None:  # its reasons name values
        access_log.record_original(core.store, session.user, project, dataset.id, page="attributes")
    typed = overrides.pop("typed", None)
    chosen = AttributeFilter.from_query(_filter_fields(typed) if typed else request.query_params)
    matching = chosen.select(rows)
    pages = max(1, -(-len(matching) // ROWS_PER_PAGE))
    first = ROWS_PER_PAGE * (min(chosen.page, pages) - 1)
    shown = matching[first : first + ROWS_PER_PAGE]
    may_see_values = project.allows("member")
    values: dict[str, Any] = {
        "dataset": dataset, "rows": rows, "active": active, "shown": shown, "matching": len(matching), "chosen": chosen,
        "page": min(chosen.page, pages), "pages": pages, "ticked": set(typed.getlist("pick")) if typed else set(),
        "bars": {row.name: draw_bars(row.distribution) for row in shown} if may_see_values else {},
        "confidence_label": confidence_label, "confidences": list(CONFIDENCES), "orders": ORDERS, "states": STATES,
        "typed": typed or {}, "wrong": "", "done": "",
        "base": str(typed["base"]) if typed and "base" in typed else project.revision,
        "strangers": attributes.unknown_attributes(dataset, document) if dataset is not None else [],
        "open": [row for row in rows if not row.decided],
        "sets": ((dataset.profile or {}).get("quasi_identifiers") or [])[:15] if dataset is not None else [],
        "roles": _ROLE_MEANINGS, "levels": list(Level), **overrides,
    }  # fmt: skip
    return render_page(request, "attributes.html", session, project, "attributes", status=status, **values)


def _list_names(names: list[str]) -> str:
    first_names = ", ".join(name or "risk" for name in names[:5])
    return f"{first_names} and {len(names) - 5} more" if len(names) > 5 else first_names


_ROLE_MEANINGS = {
    Role.IDENTIFIER: "identifies a person directly (name, number); removed from a release unless the plan keeps it",
    Role.KEY: "quasi-identifier: an intruder may know it and use it to re-identify persons",
    Role.CONFIDENTIAL: "sensitive: must not be disclosed about a person",
    Role.PERSON: "person identifier, the same in all records of a person; removed from a release unless the plan keeps it",
    Role.HOUSEHOLD: "household identifier, the same in all records of a household; coverage tests what it reveals",
    Role.WEIGHT: "sampling weight of the record",
    Role.OTHER: "none of these roles",
}
