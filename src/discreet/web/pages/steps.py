"""One step of the plan, or one measure, with the parameters that its plug-in has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from fastapi import APIRouter, Request, Response

from discreet import registry
from discreet.errors import DiscreetError
from discreet.model.policy import Policy, Step
from discreet.web.auth.security import Here, LoggedIn, Sent
from discreet.web.auth.sessions import Session
from discreet.web.errors import Conflict, NotFound
from discreet.web.pages.forms import catalogue, conflicts, editing, fields, plan_check
from discreet.web.pages.rendering import go, page
from discreet.web.projects import policies, projects

router = APIRouter(prefix="/projects/{number}/methods")


@router.get("/steps/new")
def new(request: Request, core: Here, session: LoggedIn, number: int, method: str = "") -> Response:
    """The form of a new step."""
    registry.load("masking", method)
    return _step_page(request, core, session, number, None, Step(method=method))


@router.post("/steps/new")
def add(request: Request, core: Here, session: LoggedIn, form: Sent, number: int) -> Response:
    """Put a new step behind the last."""
    return _step_saved(request, core, session, form, number, None)


@router.get("/steps/{at}")
def show(request: Request, core: Here, session: LoggedIn, number: int, at: int) -> Response:
    """A step's form."""
    with core.store.read() as connection:
        policy = policies.current(connection, projects.get(connection, session.user, number))
    return _step_page(request, core, session, number, at, _at(policy, at))


@router.post("/steps/{at}")
def change(request: Request, core: Here, session: LoggedIn, form: Sent, number: int, at: int) -> Response:
    """Set a step's columns and parameters."""
    return _step_saved(request, core, session, form, number, at)


@router.get("/measures/{kind}/{name}")
def show_measure(
    request: Request, core: Here, session: LoggedIn, number: int, kind: Literal["risk", "loss"], name: str
) -> Response:
    """A measure's form."""
    return _measure_page(request, core, session, number, kind, name, None)


@router.post("/measures/{kind}/{name}")
def change_measure(
    request: Request, core: Here, session: LoggedIn, form: Sent, number: int, kind: Literal["risk", "loss"], name: str
) -> Response:
    """Set a measure's parameters."""
    said: dict[str, Any] = {}
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "editor")
    try:
        with core.store.write() as connection:
            base, policy = editing.start(connection, project, form)
            chosen = dict(policy.risk if kind == "risk" else policy.loss)
            said = fields.read(registry.load(kind, name), form, old=chosen.get(name))
            registry.make(kind, name, said, origin="the form")
            editing.save(connection, session.user, project, base, kind, {**chosen, name: said}, f"{name}: parameters changed")
    except Conflict as error:
        return conflicts.conflict_page(request, session, project, "methods", error, form)
    except DiscreetError as error:
        return _measure_page(request, core, session, number, kind, name, said, _sentence(error), 422)
    return go(f"/projects/{number}/methods#measures")


def _step_saved(request: Request, core: Here, session: Session, form: Sent, number: int, at: int | None) -> Response:
    method = str(form.get("method", ""))
    step = Step(method=method)
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "editor")
    try:
        with core.store.write() as connection:
            base, policy = editing.start(connection, project, form)
            old = Step(method=method) if at is None else _at(policy, at)
            step = Step(method=old.method, enabled=old.enabled, columns=tuple(map(str, form.getlist("columns"))) or None)
            loaded = registry.load("masking", old.method)
            step = Step(**step.model_dump(), **fields.read(loaded, form, old=old.parameters, defaults=_taken(old.method, policy)))
            registry.resolve_step(step, policy, origin="the form")
            plan = policy.plan
            if at is None:
                made, what = plan.insert(len(plan.steps) + 1, step), f"{catalogue.title(step.method)} added"
            else:
                made, what = plan.delete(at).insert(at, step), f"step {at} ({catalogue.title(step.method)}) changed"
            editing.save_plan(connection, session.user, project, base, made, what)
    except Conflict as error:
        return conflicts.conflict_page(request, session, project, "methods", error, form)
    except NotFound:
        raise
    except DiscreetError as error:
        if step.method not in registry.names("masking"):
            raise
        return _step_page(request, core, session, number, at, step, _sentence(error), 422)
    return go(f"/projects/{number}/methods#step-{at or len(made.steps)}")


def _step_page(
    request: Request, core: Here, session: Session, number: int, at: int | None, step: Step, message: str = "", status: int = 200
) -> Response:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        policy = policies.current(connection, project)
        looked = plan_check.look(connection, core.settings, project, policy)
    loaded = registry.load("masking", step.method)
    fits, misfits = plan_check.fitting(looked, step.method, step.parameters)
    chosen = step.columns or ()
    return page(
        request, "step.html", session, project, "methods", status=status, message=message, at=at, this=step, looked=looked,
        entry=catalogue.entry("masking", step.method),
        fields=fields.fields(loaded, step.parameters, defaults=_taken(step.method, policy)),
        outside=fields.outside(loaded), fits=fits, misfits=misfits, chosen=chosen,
        gone=[name for name in chosen if name not in looked.columns], roles=_roles(policy),
        found=plan_check.findings(looked, policy.plan).get(at, []) if at and not message else [], may=project.role != "reader",
    )  # fmt: skip


def _measure_page(
    request: Request, core: Here, session: Session, number: int, kind: Literal["risk", "loss"], name: str,
    said: Mapping[str, Any] | None, message: str = "", status: int = 200,
) -> Response:  # fmt: skip
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        policy = policies.current(connection, project)
        looked = plan_check.look(connection, core.settings, project, policy)
    loaded = registry.load(kind, name)
    chosen = policy.risk if kind == "risk" else policy.loss
    held = chosen.get(name, {}) if said is None else said
    return page(
        request, "measure.html", session, project, "methods", status=status, message=message, kind=kind, looked=looked,
        entry=catalogue.entry(kind, name), fields=fields.fields(loaded, held), outside=fields.outside(loaded),
        may=project.role != "reader",
    )  # fmt: skip


def _roles(policy: Policy) -> dict[str, str]:
    return {name: str(attribute.role) for name, attribute in policy.attributes.items()}


def _taken(method: str, policy: Policy) -> dict[str, Any]:
    """What a step takes from the policy's risk section where its form is left empty."""
    return {name: one.value for name, one in registry.inherited_parameters(method, policy).items()}


def _at(policy: Policy, at: int) -> Step:
    if not 1 <= at <= len(policy.plan.steps):
        raise NotFound(f"the plan has no step {at} (any more); it has {len(policy.plan.steps)}")
    return policy.plan.steps[at - 1]


def _sentence(error: DiscreetError) -> str:
    return str(error).removeprefix("the form: ")
