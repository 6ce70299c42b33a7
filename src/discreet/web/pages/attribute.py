"""One attribute: its values with counts, sensitivity weights, order and hierarchy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.datastructures import FormData, UploadFile

from discreet.errors import DiscreetError
from discreet.model.attribute import Attribute, Level, Role, text_forms
from discreet.model.hierarchy import Hierarchy
from discreet.model.policy import Policy
from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore
from discreet.web.errors import Conflict, Forbidden, InvalidRequest, NotFound
from discreet.web.pages.forms.conflicts import base_revision, compared_revision, conflict_page
from discreet.web.pages.forms.drafts import MAX_LEVELS, AttributeDraft, group_ticked
from discreet.web.pages.rendering import environment, redirect, render_page
from discreet.web.projects import access_log, attributes, datasets, hierarchies, policies, projects

router = APIRouter(prefix="/projects/{number}", include_in_schema=False)
DATE_UNITS = ("week", "month", "quarter", "year", "decade")


@router.get("/attributes/{name:path}")
def show_attribute(request: Request, core: ServerCore, session: CurrentSession, number: int, name: str) -> Response:
    """Show an attribute; a name that consists of dots, which no path can hold, comes as the parameter ``name``."""
    name = name or request.query_params.get("name", "")
    if not name:
        return redirect(f"/projects/{number}/attributes")
    return _page(request, core, session, number, name, done=request.query_params.get("done", ""))


@router.get("/attribute")
def open_form_address(number: int) -> Response:
    """Redirect a browser that opens the address of the form."""
    return redirect(f"/projects/{number}/attributes")


@router.post("/attribute")
def save(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Save the attribute, or show a preview of the form.

    ``action`` is save, preview, level (adds a level), group (puts ticked values into one group),
    order, unordered, or up.N and down.N, which move the category in row N.
    """
    name, action = str(form.get("name", "")), str(form.get("action", "save"))
    draft = AttributeDraft.from_form(form)
    try:
        if action == "group":
            draft = group_ticked(draft, form)
        content = attributes.to_policy_values(draft.to_policy_values(), name)
        if action != "save":
            return _page(request, core, session, number, name, draft=draft, action=action, base=base_revision(form))
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number, "editor")
            dataset = datasets.get(connection, project)
            attributes.get_attribute(dataset, policies.policy_document(connection, project), name)
            values = hierarchies.count_values(datasets.path(core.settings, dataset), name)
            hierarchies.build_hierarchy(values, Attribute.model_validate(content))  # fail now rather than in a job
            _check_order_is_complete(values, content)
            policies.edit(
                connection, session.user, project, compared_revision(form), {f"attributes.{name}": content}, f"{name[:80]} edited"
            )
    except Conflict as error:
        return conflict_page(request, session, project, "attributes", error, form)
    except (Forbidden, NotFound):
        raise
    except DiscreetError as error:
        return _page(
            request,
            core,
            session,
            number,
            name,
            status=422,
            draft=draft,
            wrong=str(error),
            base=base_revision(form),
            action=action,
        )
    parts: Any = environment().get_template("parts.html").module
    address = str(parts.address(project, name))
    return redirect(f"{address}{'&' if '?' in address else '?'}done=saved")


@router.get("/hierarchy.csv")
def download_hierarchy(core: ServerCore, session: CurrentSession, number: int, name: str = "") -> Response:
    """Send the hierarchy of an attribute in ARX's form; without one, its values, to fill in."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        dataset = datasets.get(connection, project)
        row = attributes.get_attribute(dataset, policies.policy_document(connection, project), name)
    values = hierarchies.count_values(datasets.path(core.settings, dataset), name)
    access_log.record_original(core.store, session.user, project, dataset.id, attribute=name[:200])
    text = hierarchies.format_text(hierarchies.editor_rows(values, hierarchies.build_hierarchy(values, row.attribute)))
    headers = {"Content-Disposition": 'attachment; filename="hierarchy.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


@router.post("/hierarchy.csv")
def upload_hierarchy(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Show the attribute with the groups of an uploaded file; nothing is saved yet."""
    name = str(form.get("name", ""))
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "editor")
        dataset = datasets.get(connection, project)
        row = attributes.get_attribute(dataset, policies.policy_document(connection, project), name)
    draft = AttributeDraft.from_attribute(row.attribute)
    try:
        rows = hierarchies.parse_text(_read_upload(form))
        if max((len(labels) for _, labels in rows), default=0) > MAX_LEVELS:
            raise InvalidRequest(f"a hierarchy has at most {MAX_LEVELS} levels on this page; send a deeper one by REST")
        fitted, missing, others = hierarchies.fit_rows(
            rows, hierarchies.count_values(datasets.path(core.settings, dataset), name)
        )
    except DiscreetError as error:
        return _page(request, core, session, number, name, status=422, draft=draft, wrong=str(error), base=base_revision(form))
    return _page(
        request, core, session, number, name, draft=replace(draft, kind="groups", rows=tuple(fitted)), action="upload",
        base=base_revision(form), missed=missing, others=others,
    )  # fmt: skip


def _read_upload(form: FormData) -> str:
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        raise InvalidRequest("choose a hierarchy file: one row per value, value;level 1;level 2;…;*")
    content = file.file.read()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _measure_effect(
    file: Path, policy: Policy, name: str, attribute: Attribute, hierarchy: Hierarchy
) -> tuple[dict[str, Any] | None, str]:
    """What the levels would do to the risk, and why that is unknown where it is."""
    changed = policy.with_(attributes={**policy.attributes, name: attribute})
    try:
        return hierarchies.measure_effect(file, changed, name, hierarchy), ""
    except DiscreetError as error:
        return None, str(error)


def _check_order_is_complete(values: hierarchies.ValueCounts, content: dict[str, Any]) -> None:
    """Raise if the order omits a value of the data that does not mean missing; with a hierarchy, omitted values come last."""
    named = {*(content.get("order") or ()), *(content.get("missing") or ())}
    if not content.get("order") or content.get("hierarchy") or values.column is None:
        return
    left_out = [str(value) for value in values.column.values.to_list() if not named.intersection(text_forms(value))]
    if left_out:
        raise InvalidRequest(
            f"the order does not contain these values of the data: {', '.join(left_out[:5])}; give every value a position"
        )


def _page(
    request: Request,
    core: ServerCore,
    session: CurrentSession,
    number: int,
    name: str,
    status: int = 200,
    draft: AttributeDraft | None = None,
    action: str = "",
    **overrides: Any,
) -> Response:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        dataset = datasets.get(connection, project)
        document = policies.policy_document(connection, project)
    try:
        row = attributes.get_attribute(dataset, document, name)
    except InvalidRequest as error:
        raise NotFound(str(error)) from None
    column_values = hierarchies.count_values(datasets.path(core.settings, dataset), name)
    access_log.record_original(core.store, session.user, project, dataset.id, attribute=name[:200])
    shown = draft or AttributeDraft.from_attribute(row.attribute)
    if action == "order":
        shown = shown.with_all_values_ordered(column_values)
    elif action == "unordered":
        shown = replace(shown, order="")
    message = overrides.pop("wrong", "")
    hierarchy = None
    try:
        attribute = Attribute.model_validate(attributes.to_policy_values(shown.to_policy_values(), name))
        hierarchy = hierarchies.build_hierarchy(column_values, attribute)
    except DiscreetError as error:
        message = message or str(error)
    effect: dict[str, Any] | None = None
    unmeasured = ""
    if hierarchy is not None and action not in ("", "save"):
        policy = policies.parse_document(document, project)
        file = datasets.path(core.settings, dataset)
        effect, unmeasured = _measure_effect(file, policy, name, attribute, hierarchy)
    rows = hierarchies.editor_rows(column_values, hierarchy) if column_values.distinct <= hierarchies.MAX_LEAVES else []
    if hierarchy is None and shown.rows is not None:
        counts = dict(column_values.counts)
        rows = [(leaf, counts.get(leaf, 0), list(labels)) for leaf, labels in shown.rows]
    depth = max((len(labels) for _, _, labels in rows), default=0)
    depth = min(max(depth + (action == "level"), 1), MAX_LEVELS)
    values: dict[str, Any] = {
        "dataset": dataset,
        "row": row,
        "column_values": column_values,
        "draft": shown,
        "wrong": message,
        "done": "",
        "base": project.revision,
        "levels": hierarchies.summarize_levels(column_values, hierarchy) if hierarchy is not None else [],
        "top": column_values.counts[:10],
        "weights": shown.weight_rows(column_values),
        "order_rows": shown.order_rows(column_values),
        "rows": rows,
        "depth": depth,
        "grid": column_values.distinct <= hierarchies.MAX_GRID_VALUES,
        "text": hierarchies.format_text(rows),
        "effect": effect,
        "unmeasured": unmeasured,
        "missed": [],
        "others": 0,
        "too_many": column_values.distinct > hierarchies.MAX_LEAVES,
        "dates": DATE_UNITS,
        "roles": list(Role),
        "scales": list(Level),
        "previewed": action not in ("", "save"),
        **overrides,
    }
    return render_page(request, "attribute.html", session, project, "attributes", status=status, **values)
