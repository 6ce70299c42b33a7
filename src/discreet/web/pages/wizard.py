"""The wizard: limits and a budget, a search that shows its frontier as it grows, and a plan to adopt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.datastructures import FormData

from discreet.assessment.limit_sentences import field_words
from discreet.errors import DiscreetError
from discreet.model.policy import Plan, Policy
from discreet.selection.choices import PREFERENCES
from discreet.selection.objective import OBJECTIVE
from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore
from discreet.web.auth.sessions import Session
from discreet.web.errors import Conflict, Forbidden, InvalidRequest, NotFound
from discreet.web.jobs import queue
from discreet.web.pages.forms import catalogue, conflicts, editing
from discreet.web.pages.forms.labels import step_rows
from discreet.web.pages.forms.limit_choice import describe_in_words, limit_choices, limit_rows
from discreet.web.pages.forms.search_form import read_search_form, search_form_values
from discreet.web.pages.frontier import read_search
from discreet.web.pages.rendering import redirect, render_page
from discreet.web.projects import access_log, datasets, policies, projects

router = APIRouter(prefix="/projects/{number}/methods/wizard", include_in_schema=False)
OBJECTIVE_IN_WORDS = "weighted mean of information loss, falsehood and changed associations"


@router.get("")
def show(request: Request, core: ServerCore, session: CurrentSession, number: int) -> Response:
    """Show the form for limits and budget, and the earlier searches."""
    return _form_page(request, core, session, number)


@router.post("")
def start(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Queue a search."""
    try:
        parameters = read_search_form(form)
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number, "editor")
            if project.dataset_id is None:
                raise InvalidRequest("there are no initial microdata yet; upload a table first")
            if not policies.current_policy(connection, project).limits:
                raise InvalidRequest("the wizard needs limits: set at least one")
            job = queue.submit(connection, session.user, project, "select", parameters)
    except Forbidden:
        raise
    except DiscreetError as error:
        return _form_page(request, core, session, number, message=str(error), status=422, form=form)
    return redirect(f"/projects/{number}/methods/wizard/{job.id}")


@router.get("/{job}")
def show_search(
    request: Request, core: ServerCore, session: CurrentSession, number: int, job: str, point: int | None = None
) -> Response:
    """Show the plans measured so far, and the steps of the selected one."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        search_job = _get_search_job(connection, project, job)
        policy = policies.current_policy(connection, project)
    search = read_search(search_job)
    # groups of its hierarchies name values
    access_log.record_original(core.store, session.user, project, search_job.parameters.get("dataset"), page="wizard")
    chosen = search.find(point) if point is not None else search.best
    return render_page(
        request, "wizard_search.html", session, project, "methods", job=search_job, search=search, chosen=chosen,
        steps=step_rows(Plan.model_validate(chosen.plan)) if chosen else [],
        choices=[(choice, step_rows(choice.plan)) for choice in search.choices],
        spell_out=catalogue.spell_out, words_of=_name_in_words,
        requirement_of=lambda name: _requirement_in_words(search.limits or policy.limits, name),
        current=_is_current_plan(policy, chosen), may=project.allows("editor"),
    )  # fmt: skip


@router.post("/{job}")
def use_plan(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int, job: str) -> Response:
    """Make a plan of the search the project's plan, with the key that it was measured with."""
    plan_number = editing.read_whole_number(form, "point")
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "editor")
        search = read_search(_get_search_job(connection, project, job))
    chosen = search.find(plan_number)
    if chosen is None or not chosen.whole_table:
        raise NotFound(f"the search has no plan number {plan_number} that was measured on the whole table")
    try:
        with core.store.write() as connection:
            base, policy = editing.begin_edit(connection, project, form)
            plan = Policy.from_dict({"plan": chosen.plan}, origin="the wizard's plan").plan
            settings = {"order": policy.plan.order, "identifiers": policy.plan.identifiers}
            new_plan = plan.model_copy(update=settings)
            what = f"the wizard's plan {plan_number} adopted"
            editing.save_plan(connection, session.user, project, base, new_plan, what, hierarchies=search.hierarchies)
        if form.get("onward") == "generate":
            with core.store.write() as connection:
                queue.submit(connection, session.user, projects.get(connection, session.user, number, "editor"), "generate")
            core.supervisor.wake()
    except Conflict as error:
        return conflicts.conflict_page(request, session, project, "methods", error, form)
    return redirect(
        f"/projects/{number}/generate#job" if form.get("onward") == "generate" else f"/projects/{number}/methods#plan"
    )


def _form_page(
    request: Request, core: ServerCore, session: Session, number: int, message: str = "", status: int = 200,
    form: FormData | None = None,
) -> Response:  # fmt: skip
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        policy = policies.current_policy(connection, project)
        columns = datasets.get(connection, project).columns if project.dataset_id is not None else []
        searches = [job for job in queue.list_jobs(connection, project, 50) if job.kind == "select"][:10]
    choices = limit_choices()
    return render_page(
        request, "wizard.html", session, project, "methods", status=status, message=message, limits=limit_rows(policy),
        choices=choices, searches=searches, may=project.allows("editor"),
        options=search_form_values(policy, [str(column["name"]) for column in columns], form), preferences=PREFERENCES,
        axes={kind: [group for group in choices["fields"] if group["kind"] == kind] for kind in ("risk", "loss")},
        words_of=_name_in_words,
    )  # fmt: skip


def _name_in_words(name: str) -> str:
    """What an axis or a limit such as ``k_anonymity.k`` is called by people."""
    return OBJECTIVE_IN_WORDS if name == OBJECTIVE else field_words(name)[0] if name.count(".") == 1 else name


def _requirement_in_words(limits: Mapping[str, float], name: str) -> str:
    """The sentence of the limit on a field, as the limits of the project show it; empty where the field has no limit."""
    return describe_in_words(name, limits[name]) if name in limits else ""


def _get_search_job(connection: Any, project: Any, job: str) -> queue.Job:
    search_job = queue.get(connection, project, job)
    if search_job.kind != "select":
        raise NotFound("this job is not a search for a plan")
    return search_job


def _is_current_plan(policy: Policy, candidate: Any) -> bool:
    """Whether the project's plan has the same steps already."""
    if candidate is None:
        return False
    return Plan.model_validate(candidate.plan).steps == policy.plan.steps
