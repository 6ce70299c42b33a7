"""All attributes at once: the Analyzer's proposal with its reasons, to be edited."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection

from discreet.errors import DiscreetError
from discreet.model.attribute import Level, Role
from discreet.web.auth.security import Here, LoggedIn, Sent
from discreet.web.errors import Conflict, Forbidden, Invalid, NotFound
from discreet.web.jobs import queue
from discreet.web.pages.forms.conflicts import base_of, conflict_page, over_of
from discreet.web.pages.rendering import go, page
from discreet.web.projects import attributes, datasets, policies, projects
from discreet.web.projects.projects import Project

router = APIRouter(prefix="/projects/{number}")


@router.get("/attributes")
def classify(request: Request, core: Here, session: LoggedIn, number: int) -> Response:
    """The attributes with what is decided and proposed."""
    return _page(request, core, session, number, done=request.query_params.get("done", ""))


@router.post("/attributes")
def save(request: Request, core: Here, session: LoggedIn, form: Sent, number: int) -> Response:
    """Save the lines that were changed; with ``accept`` also every proposal that is left."""
    try:
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number)
            dataset = datasets.get(connection, project)
            sections = _changes(connection, project, dataset, form)
            names = [path.partition(".")[2] for path in sections]
            said = f"{_listed(names)} edited" if names else ""
            if "accept" in form:
                left = attributes.accepted(dataset, policies.document(connection, project))
                sections = {**left, **sections}
                said = "; ".join(filter(None, [said, "proposals accepted"]))
            if sections:
                policies.edit(connection, session.user, project, over_of(form), sections, said)
    except Conflict as error:
        return conflict_page(request, session, project, "attributes", error, form)
    except (Forbidden, NotFound):
        raise
    except DiscreetError as error:
        return _page(request, core, session, number, status=422, wrong=str(error), typed=form)
    return go(f"/projects/{number}/attributes?done={'saved' if sections else 'nothing'}")


@router.post("/attributes/strangers")
def forget(core: Here, session: LoggedIn, form: Sent, number: int) -> Response:
    """Take what the policy says of attributes away that the table does not have."""
    with core.store.write() as connection:
        project = projects.get(connection, session.user, number)
        dataset = datasets.get(connection, project)
        gone = attributes.strangers(dataset, policies.document(connection, project))
        sections = {f"attributes.{name}": None for name in gone}
        policies.edit(connection, session.user, project, base_of(form), sections, f"{_listed(gone)} taken away")
    return go(f"/projects/{number}/attributes")


@router.post("/analyze")
def analyze(core: Here, session: LoggedIn, _form: Sent, number: int) -> Response:
    """Ask the Analyzer again."""
    with core.store.write() as connection:
        project = projects.get(connection, session.user, number)
        queue.submit(connection, session.user, project, "analyze", {})
    return go(f"/projects/{number}/attributes")


def _changes(connection: Connection, project: Project, dataset: datasets.Dataset, form: Sent) -> dict[str, Any]:
    """The sections that the form's lines change, compared with the revision that the form was made from."""
    shown = {row.name: row for row in attributes.rows(dataset, policies.document(connection, project, base_of(form)))}
    made: dict[str, Any] = {}
    for key, name in form.multi_items():
        place = key.removeprefix("name.")
        if place == key or not place.isdecimal():
            continue
        if not isinstance(name, str) or name not in shown:
            raise Invalid(f"the table '{dataset.name}' has no attribute '{str(name)[:80]}'; reload the page")
        said = {field: str(form[f"{field}.{place}"]) for field in attributes.IN_A_ROW if f"{field}.{place}" in form}
        if (wanted := attributes.edited(shown[name], said)) is not None:
            made[f"attributes.{name}"] = wanted
    return made


def _page(request: Request, core: Here, session: LoggedIn, number: int, status: int = 200, **said: Any) -> Response:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        dataset = datasets.get(connection, project) if project.dataset_id is not None else None
        document = policies.document(connection, project)
        active = [job for job in queue.all_of(connection, project, 20) if job.active and job.kind in ("import", "analyze")]
    found = attributes.rows(dataset, document) if dataset is not None else []
    typed = said.pop("typed", None)
    values: dict[str, Any] = {
        "dataset": dataset, "rows": found, "active": active, "typed": typed or {}, "wrong": "", "done": "",
        "base": str(typed["base"]) if typed and "base" in typed else project.revision,
        "strangers": attributes.strangers(dataset, document) if dataset is not None else [],
        "open": [row for row in found if not row.decided],
        "sets": ((dataset.profile or {}).get("quasi_identifiers") or [])[:15] if dataset is not None else [],
        "roles": _ROLES, "levels": list(Level), **said,
    }  # fmt: skip
    return page(request, "attributes.html", session, project, "attributes", status=status, **values)


def _listed(names: list[str]) -> str:
    shown = ", ".join(name or "risk" for name in names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown


_ROLES = {
    Role.IDENTIFIER: "names or numbers that tell who a person is; removed from a release unless the plan keeps them",
    Role.KEY: "what an intruder may know already and look people up by",
    Role.CONFIDENTIAL: "what must not be learnt of a person",
    Role.PERSON: "tells which records are one person's; removed from a release unless the plan keeps them",
    Role.HOUSEHOLD: "tells which records are one household's; coverage reads masked values back through it",
    Role.WEIGHT: "the survey weight of a record",
    Role.OTHER: "none of these",
}
