"""Other probabilities of being known: sliders that move the risk distribution on a sample, a job that confirms it, and saving."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection
from starlette.responses import JSONResponse

from discreet.model.policy import Policy
from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore
from discreet.web.core import Core
from discreet.web.errors import Conflict, InvalidRequest, NotFound, TooManyRequests
from discreet.web.jobs import queue
from discreet.web.pages.forms.conflicts import compared_revision, conflict_page
from discreet.web.pages.rendering import redirect
from discreet.web.projects import access_log, attributes, datasets, policies, projects
from discreet.web.projects.projects import Project
from discreet.web.projects.risk_sample import MOST_RECORDS, RiskSamples, read_known, units_of

router = APIRouter(prefix="/projects/{number}/risk/guesses", include_in_schema=False)
_SAMPLES = RiskSamples()


def sliders_of(connection: Connection, project: Project, policy: Policy, typed: Mapping[str, str]) -> dict[str, Any]:
    """What the form shows: a slider for each unit, at its probability in the policy or as it was set."""
    columns = [str(column["name"]) for column in datasets.get(connection, project).columns]
    units = units_of(policy, columns)
    set_to = read_known(typed, units)
    sliders = [
        {"name": unit.names[0], "label": unit.label, "policy": unit.known, "value": set_to.get(unit.names[0], unit.known)}
        for unit in units
    ]
    return {"sliders": sliders, "most_records": MOST_RECORDS, "was_set": bool(set_to)}


def measure_sample(core: Core, session: CurrentSession, number: int, typed: Mapping[str, str]) -> dict[str, Any]:
    """The risk distribution of the sample with the probabilities of a form."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        project.require_role("member")
        dataset = datasets.get(connection, project)
        policy = policies.current_policy(connection, project)
        file = datasets.path(core.settings, dataset)
        units = units_of(policy, [str(column["name"]) for column in dataset.columns])
    try:
        return _SAMPLES.measure(file, policy, read_known(typed, units))
    except FileNotFoundError:
        raise NotFound(f"the content of the dataset '{dataset.name}' was purged") from None


@router.get("")
def show(core: ServerCore, session: CurrentSession, request: Request, number: int) -> Response:
    """The risk distribution of the sample as JSON, for the sliders' script; so are errors, which it shows."""
    headers = {"Cache-Control": "no-store"}
    try:
        return JSONResponse(measure_sample(core, session, number, request.query_params), headers=headers)
    except (InvalidRequest, TooManyRequests) as error:
        return JSONResponse({"message": str(error)}, status_code=error.status, headers=headers)


@router.post("")
def act(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Queue a measurement of the whole table with the probabilities of the form, or save them into the policy."""
    typed = {name: str(value) for name, value in form.multi_items()}
    with core.store.write() as connection:
        project = projects.get(connection, session.user, number)
        policy = policies.current_policy(connection, project)
        dataset = datasets.get(connection, project)
        known = read_known(typed, units_of(policy, [str(column["name"]) for column in dataset.columns]))
        if form.get("action") == "show":  # sent without scripts
            address = urlencode({name: value for name, value in typed.items() if name.startswith("known.")})
            if form.get("back") == "workspace":
                return redirect(f"/projects/{number}/workspace?now=yes&{address}")
            return redirect(f"/projects/{number}/risk?{address}#guesses")
        if form.get("action") == "save":
            try:
                saved = _save(connection, session, project, dataset, form, known)
            except Conflict as error:
                return conflict_page(request, session, project, "risk", error, form)
            if form.get("back") == "workspace":
                return redirect(f"/projects/{number}/workspace")
            return redirect(f"/projects/{number}/risk?guesses={'saved' if saved else 'unchanged'}#guesses")
        queue.submit(connection, session.user, project, "risk", {"measures": ["known_sets"], "known": known})
    access_log.record_original(core.store, session.user, project, project.dataset_id, page="risk")
    return redirect(f"/projects/{number}/risk#guesses")


def _save(
    connection: Connection,
    session: CurrentSession,
    project: Project,
    dataset: datasets.Dataset,
    form: CheckedForm,
    known: Mapping[str, float],
) -> bool:
    """Save the probabilities that differ from those of the policy; a range that was not moved stays a range."""
    base = compared_revision(form)
    shown = attributes.list_attributes(dataset, policies.policy_document(connection, project, base))
    changed = {row.name: row for row in shown if row.name in known and not _is_same(row.attribute.known, known[row.name])}
    sections = {
        f"attributes.{name}": attributes.to_policy_values(row.attribute.model_copy(update={"known": known[name]}), name)
        for name, row in changed.items()
    }
    if sections:
        what = f"probabilities of {', '.join(list(changed)[:5])}{' and others' if len(changed) > 5 else ''} set by sliders"
        policies.edit(connection, session.user, project, base, sections, what)
    return bool(sections)


def _is_same(known: float, value: float) -> bool:
    return abs(float(known) - value) < 1e-9
