"""The wizard: limits and a budget, a search that shows its frontier as it grows, and a plan to take over."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from discreet import registry
from discreet.errors import DiscreetError
from discreet.model.policy import Plan, Policy
from discreet.web.auth.security import Here, LoggedIn, Sent
from discreet.web.auth.sessions import Session
from discreet.web.errors import Conflict, Forbidden, Invalid, NotFound
from discreet.web.jobs import queue
from discreet.web.pages.forms import catalogue, conflicts, editing
from discreet.web.pages.forms.labels import step_rows
from discreet.web.pages.frontier import search_of
from discreet.web.pages.methods import limit_rows
from discreet.web.pages.rendering import go, page
from discreet.web.projects import policies, projects

router = APIRouter(prefix="/projects/{number}/methods/wizard")


@router.get("")
def show(request: Request, core: Here, session: LoggedIn, number: int) -> Response:
    """Ask for limits and budget; earlier searches are listed."""
    return _form(request, core, session, number)


@router.post("")
def start(request: Request, core: Here, session: LoggedIn, form: Sent, number: int) -> Response:
    """Put the search into the queue."""
    try:
        said = _asked(form)
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number, "editor")
            if project.dataset_id is None:
                raise Invalid("there are no initial microdata yet; upload a table first")
            if not policies.current(connection, project).limits:
                raise Invalid("the wizard needs limits to keep: set at least one")
            job = queue.submit(connection, session.user, project, "select", said)
    except Forbidden:
        raise
    except DiscreetError as error:
        return _form(request, core, session, number, message=str(error), status=422)
    return go(f"/projects/{number}/methods/wizard/{job.id}")


@router.get("/{job}")
def follow(request: Request, core: Here, session: LoggedIn, number: int, job: str, point: int | None = None) -> Response:
    """What the search has found so far; a point shows its plan in words."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        found = _job(connection, project, job)
        policy = policies.current(connection, project)
    search = search_of(found)
    chosen = search.at(point) if point is not None else search.best
    return page(
        request, "wizard_search.html", session, project, "methods", job=found, search=search, chosen=chosen,
        asked=point is not None, words=step_rows(Plan.model_validate(chosen.plan)) if chosen else [],
        current=_same(policy, chosen), may=project.role != "reader",
    )  # fmt: skip


@router.post("/{job}")
def take(request: Request, core: Here, session: LoggedIn, form: Sent, number: int, job: str) -> Response:
    """Make the plan of a point the project's plan, with the key that it was measured with."""
    at = editing.whole(form, "point")
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "editor")
        search = search_of(_job(connection, project, job))
    chosen = search.at(at)
    if chosen is None or not chosen.whole:
        raise NotFound(f"the search has no plan number {at} that was measured on the whole table")
    try:
        with core.store.write() as connection:
            base, policy = editing.start(connection, project, form)
            plan = Policy.from_dict({"plan": chosen.plan}, origin="the wizard's plan").plan
            kept = {"order": policy.plan.order, "identifiers": policy.plan.identifiers}
            made = plan.model_copy(update=kept)
            editing.save_plan(connection, session.user, project, base, made, f"the wizard's plan {at} taken over")
    except Conflict as error:
        return conflicts.conflict_page(request, session, project, "methods", error, form)
    return go(f"/projects/{number}/methods#plan")


def _asked(form: Any) -> dict[str, Any]:
    """The job's parameters."""
    unit = str(form.get("unit", "seconds"))
    amount = str(form.get("amount", "")).strip()
    try:
        budget = float(amount)
    except ValueError:
        raise Invalid(f"the budget is a number of seconds or of plans; got '{amount[:40]}'") from None
    made: dict[str, Any] = {"trials": int(budget)} if unit == "trials" else {"seconds": budget}
    for name, kind in (("risk", "risk"), ("loss", "loss")):
        if said := str(form.get(name, "")):
            if said.count(".") != 1 or registry.direction(said, origin="the map")[0] != kind:
                raise Invalid(f"'{said[:60]}' is not a {kind}")
            made[name] = said
    if (seed := str(form.get("seed", "")).strip()) != "":
        made["seed"] = editing.whole(form, "seed") if seed else 0
    return made


def _form(request: Request, core: Here, session: Session, number: int, message: str = "", status: int = 200) -> Response:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        policy = policies.current(connection, project)
        searches = [one for one in queue.all_of(connection, project, 50) if one.kind == "select"][:10]
    offered = catalogue.limitable()
    return page(
        request, "wizard.html", session, project, "methods", status=status, message=message, limits=limit_rows(policy),
        offered=offered, searches=searches, may=project.role != "reader",
        axes={kind: [group for group in offered if group["kind"] == kind] for kind in ("risk", "loss")},
    )  # fmt: skip


def _job(connection: Any, project: Any, job: str) -> queue.Job:
    found = queue.get(connection, project, job)
    if found.kind != "select":
        raise NotFound("this job is not a search for a plan")
    return found


def _same(policy: Policy, chosen: Any) -> bool:
    """Whether the project's plan is this one already."""
    if chosen is None:
        return False
    return Plan.model_validate(chosen.plan).steps == policy.plan.steps
