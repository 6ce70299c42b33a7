"""The plan: the masking methods in order, the limits that a release must meet, and the measures."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection
from starlette.datastructures import FormData

from discreet.errors import DiscreetError
from discreet.model.policy import Plan, Policy
from discreet.selection.step_sentences import format_step
from discreet.web.auth.accounts import User
from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore
from discreet.web.auth.sessions import Session
from discreet.web.errors import Conflict, InvalidRequest
from discreet.web.pages.forms import catalogue, conflicts, editing, fields, plan_check
from discreet.web.pages.forms.labels import step_rows
from discreet.web.pages.forms.limit_choice import LIMIT_ACTIONS, apply_limit_action, limit_choices, limit_rows
from discreet.web.pages.rendering import redirect, render_page
from discreet.web.projects import policies, projects
from discreet.web.projects.projects import Project

router = APIRouter(prefix="/projects/{number}/methods", include_in_schema=False)


@router.get("")
def show(request: Request, core: ServerCore, session: CurrentSession, number: int) -> Response:
    """Show the plan with the findings per step, the limits and the measures."""
    return _page(request, core, session, number)


@router.post("")
def change(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Apply one action: change a step, the plan's settings, a limit or a measure (the button's value ``do`` says which)."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "editor")
    try:
        with core.store.write() as connection:
            anchor = _apply_action(connection, session.user, project, form)
    except Conflict as error:
        return conflicts.conflict_page(request, session, project, "methods", error, form)
    except DiscreetError as error:
        return _page(request, core, session, number, message=str(error), status=422)
    back = {"wizard": "methods/wizard", "workspace": "workspace"}.get(str(form.get("back", "")), "methods")
    return redirect(f"/projects/{number}/{back}#{anchor}")


def _page(request: Request, core: ServerCore, session: Session, number: int, message: str = "", status: int = 200) -> Response:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        policy = policies.current_policy(connection, project)
        preview = plan_check.preview_table(connection, core.settings, project, policy)
    findings = plan_check.findings_by_step(preview, policy.plan)
    plan = policy.plan
    return render_page(
        request, "methods.html", session, project, "methods", status=status, message=message, policy=policy, preview=preview,
        steps=[step | {"findings": findings.get(step["number"], [])} for step in step_rows(plan)],
        settings=fields.form_fields(Plan, plan.model_dump(exclude_defaults=True), exclude=("steps", "seed")),
        methods=catalogue.entries("masking"), limits=limit_rows(policy), choices=limit_choices(),
        measures=_measure_rows(policy), risks=catalogue.entries("risk"), losses=catalogue.entries("loss"),
        may=project.allows("editor"),
    )  # fmt: skip


def _measure_rows(policy: Policy) -> list[dict[str, Any]]:
    rows = []
    for kind, section in (("risk", policy.risk), ("loss", policy.loss)):
        for name, parameters in section.items():
            parameter_text = ", ".join(
                f"{key.replace('_', ' ')} {fields.format_value(value)}" for key, value in parameters.items()
            )
            entry = catalogue.entry(kind, name)  # type: ignore[arg-type]
            rows.append(
                {"kind": kind, "name": name, "title": entry["title"], "summary": entry["summary"], "parameters": parameter_text}
            )
    return rows


def _apply_action(connection: Connection, user: User, project: Project, form: FormData) -> str:
    """Apply the action of a button; returns the anchor of the page to show next."""
    base, policy = editing.begin_edit(connection, project, form)
    action = str(form.get("do", ""))
    if action in ("up", "down", "move", "disable", "enable", "delete"):
        return _change_step(connection, user, project, base, policy.plan, action, form)
    if action == "settings":
        settings = fields.read_parameters(Plan, form, exclude=("steps", "seed"))
        content = {**settings, "steps": [step.model_dump(mode="json", exclude_defaults=True) for step in policy.plan.steps]}
        plan = Policy.from_dict({"plan": content}, origin="the settings").plan
        editing.save_plan(connection, user, project, base, plan, "the plan's settings changed")
        return "settings"
    if action in LIMIT_ACTIONS:
        return apply_limit_action(connection, user, project, base, policy, action, form)
    if action in ("measure", "no-measure"):
        return _change_measures(connection, user, project, base, policy, action, form)
    raise InvalidRequest(f"'{action[:40]}' is not an action of this page")


def _change_step(
    connection: Connection, user: User, project: Project, base: int, plan: Plan, action: str, form: FormData
) -> str:  # fmt: skip
    position = editing.read_whole_number(form, "step")
    target = editing.read_whole_number(form, "to") if action == "move" else position - 1 if action == "up" else position + 1
    if action in ("up", "down", "move"):
        new_plan, what, anchor = plan.move(position, target), f"step {position} became step {target}", f"step-{target}"
    elif action == "delete":
        new_plan, what, anchor = (
            plan.delete(position),
            f"step {position} deleted: {format_step(plan.steps[position - 1])}",
            "plan",
        )
    else:
        new_plan = plan.disable(position) if action == "disable" else plan.enable(position)
        what, anchor = f"step {position} {action}d", f"step-{position}"
    editing.save_plan(connection, user, project, base, new_plan, what)
    return anchor


def _change_measures(
    connection: Connection, user: User, project: Project, base: int, policy: Policy, action: str, form: FormData
) -> str:
    kind, _, name = str(form.get("measure", "")).partition(".")
    if kind not in ("risk", "loss"):
        raise InvalidRequest("choose a measure")
    measures = dict(policy.risk if kind == "risk" else policy.loss)
    if action == "measure":
        catalogue.entry(kind, name)  # type: ignore[arg-type]
        measures.setdefault(name, {})
    else:
        measures.pop(name, None)
    what = f"{name} {'measured' if action == 'measure' else 'no longer measured'}"
    editing.save_section(connection, user, project, base, kind, measures, what)
    return "measures"
