"""The forms of one step of the plan and of one measure, built from the parameters of the plug-in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from fastapi import APIRouter, Request, Response

from discreet import registry
from discreet.errors import DiscreetError
from discreet.model.policy import Policy, Step
from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore
from discreet.web.auth.sessions import Session
from discreet.web.errors import Conflict, NotFound
from discreet.web.pages.forms import catalogue, conflicts, editing, fields, plan_check
from discreet.web.pages.rendering import redirect, render_page
from discreet.web.projects import policies, projects

router = APIRouter(prefix="/projects/{number}/methods", include_in_schema=False)


@router.get("/steps/new")
def new(request: Request, core: ServerCore, session: CurrentSession, number: int, method: str = "") -> Response:
    """Show the form of a new step, with the columns that the address names."""
    registry.load("masking", method)
    columns = tuple(request.query_params.getlist("columns"))
    return _step_page(request, core, session, number, None, Step(method=method, columns=columns or None))


@router.post("/steps/new")
def add(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Append a new step."""
    return _save_step(request, core, session, form, number, None)


@router.get("/steps/{step_number}")
def show(request: Request, core: ServerCore, session: CurrentSession, number: int, step_number: int) -> Response:
    """Show the form of a step."""
    with core.store.read() as connection:
        policy = policies.current_policy(connection, projects.get(connection, session.user, number))
    return _step_page(request, core, session, number, step_number, _get_step(policy, step_number))


@router.post("/steps/{step_number}")
def change(
    request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int, step_number: int
) -> Response:
    """Save the columns and parameters of a step."""
    return _save_step(request, core, session, form, number, step_number)


@router.get("/measures/{kind}/{name}")
def show_measure(
    request: Request, core: ServerCore, session: CurrentSession, number: int, kind: Literal["risk", "loss"], name: str
) -> Response:
    """Show the form of a measure."""
    return _measure_page(request, core, session, number, kind, name, None)


@router.post("/measures/{kind}/{name}")
def change_measure(
    request: Request,
    core: ServerCore,
    session: CurrentSession,
    form: CheckedForm,
    number: int,
    kind: Literal["risk", "loss"],
    name: str,
) -> Response:
    """Save the parameters of a measure."""
    parameters: dict[str, Any] = {}
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "editor")
    try:
        with core.store.write() as connection:
            base, policy = editing.begin_edit(connection, project, form)
            measures = dict(policy.risk if kind == "risk" else policy.loss)
            parameters = fields.read_parameters(registry.load(kind, name), form, old=measures.get(name))
            registry.create(kind, name, parameters, origin="the form")
            editing.save_section(
                connection, session.user, project, base, kind, {**measures, name: parameters}, f"{name}: parameters changed"
            )
    except Conflict as error:
        return conflicts.conflict_page(request, session, project, "methods", error, form)
    except DiscreetError as error:
        return _measure_page(request, core, session, number, kind, name, parameters, _error_message(error), 422)
    return redirect(f"/projects/{number}/methods#measures")


def _save_step(
    request: Request, core: ServerCore, session: Session, form: CheckedForm, number: int, step_number: int | None
) -> Response:
    method = str(form.get("method", ""))
    step = Step(method=method)
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "editor")
    try:
        with core.store.write() as connection:
            base, policy = editing.begin_edit(connection, project, form)
            old = Step(method=method) if step_number is None else _get_step(policy, step_number)
            step = Step(method=old.method, enabled=old.enabled, columns=tuple(map(str, form.getlist("columns"))) or None)
            method_class = registry.load("masking", old.method)
            step = Step(
                **step.model_dump(),
                **fields.read_parameters(method_class, form, old=old.parameters, defaults=_inherited_defaults(old, policy)),
            )
            registry.resolve_step(step, policy, origin="the form")
            plan = policy.plan
            if step_number is None:
                new_plan, what = plan.insert(len(plan.steps) + 1, step), f"{catalogue.title(step.method)} added"
            else:
                new_plan, what = (
                    plan.delete(step_number).insert(step_number, step),
                    f"step {step_number} ({catalogue.title(step.method)}) changed",
                )
            editing.save_plan(connection, session.user, project, base, new_plan, what)
    except Conflict as error:
        return conflicts.conflict_page(request, session, project, "methods", error, form)
    except NotFound:
        raise
    except DiscreetError as error:
        if step.method not in registry.installed_names("masking"):
            raise
        message, back = _error_message(error), str(form.get("back", ""))
        return _step_page(request, core, session, number, step_number, step, message, 422, back)
    back = "workspace" if form.get("back") == "workspace" else "methods"
    return redirect(f"/projects/{number}/{back}#step-{step_number or len(new_plan.steps)}")


def _step_page(
    request: Request,
    core: ServerCore,
    session: Session,
    number: int,
    step_number: int | None,
    step: Step,
    message: str = "",
    status: int = 200,
    typed_back: str = "",
) -> Response:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        policy = policies.current_policy(connection, project)
        preview = plan_check.preview_table(connection, core.settings, project, policy)
    method_class = registry.load("masking", step.method)
    fitting, misfits = plan_check.split_columns(preview, step.method, step.parameters)
    chosen = step.columns or ()
    return render_page(
        request,
        "step.html",
        session,
        project,
        "methods",
        status=status,
        message=message,
        step_number=step_number,
        plan_step=step,
        preview=preview,
        entry=catalogue.entry("masking", step.method),
        fields=fields.form_fields(method_class, step.parameters, defaults=_inherited_defaults(step, policy)),
        file_parameters=fields.file_parameters(method_class),
        fitting=fitting,
        misfits=misfits,
        chosen=chosen,
        missing_columns=[name for name in chosen if name not in preview.columns],
        roles=_roles_by_column(policy),
        findings=plan_check.findings_by_step(preview, policy.plan).get(step_number, []) if step_number and not message else [],
        may=project.allows("editor"),
        back="workspace" if "workspace" in (request.query_params.get("back"), typed_back) else "methods",
    )


def _measure_page(
    request: Request,
    core: ServerCore,
    session: Session,
    number: int,
    kind: Literal["risk", "loss"],
    name: str,
    typed: Mapping[str, Any] | None,
    message: str = "",
    status: int = 200,
) -> Response:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        policy = policies.current_policy(connection, project)
        preview = plan_check.preview_table(connection, core.settings, project, policy)
    measure_class = registry.load(kind, name)
    measures = policy.risk if kind == "risk" else policy.loss
    parameters = measures.get(name, {}) if typed is None else typed
    return render_page(
        request,
        "measure.html",
        session,
        project,
        "methods",
        status=status,
        message=message,
        kind=kind,
        preview=preview,
        entry=catalogue.entry(kind, name),
        fields=fields.form_fields(measure_class, parameters),
        file_parameters=fields.file_parameters(measure_class),
        may=project.allows("editor"),
    )


def _roles_by_column(policy: Policy) -> dict[str, str]:
    return {name: str(attribute.role) for name, attribute in policy.attributes.items()}


def _inherited_defaults(step: Step, policy: Policy) -> dict[str, Any]:
    """Parameters that a step inherits from the policy's risk section if its own field is empty."""
    return {name: parameter.value for name, parameter in registry.inherited_parameters(step, policy).items()}


def _get_step(policy: Policy, step_number: int) -> Step:
    if not 1 <= step_number <= len(policy.plan.steps):
        raise NotFound(f"the plan has no step {step_number}; it has {len(policy.plan.steps)}")
    return policy.plan.steps[step_number - 1]


def _error_message(error: DiscreetError) -> str:
    return str(error).removeprefix("the form: ")
