"""One project: who is in it, its policy file and that file's history, its jobs, its part of the audit log."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.datastructures import FormData, UploadFile
from starlette.responses import PlainTextResponse

from discreet.errors import DiscreetError
from discreet.model.policy import parse_policy
from discreet.web.auth.security import Here, LoggedIn, Sent
from discreet.web.db import audit
from discreet.web.errors import Conflict, Forbidden, Invalid, NotFound, TooLarge
from discreet.web.jobs import queue
from discreet.web.pages.forms.conflicts import base_of, conflict_page, over_of
from discreet.web.pages.rendering import go, page
from discreet.web.projects import datasets, policies, projects, removal
from discreet.web.projects.projects import Project

router = APIRouter(prefix="/projects/{number}")
POLICY_LIMIT = 4 << 20


@router.get("")
def overview(request: Request, core: Here, session: LoggedIn, number: int) -> Response:
    """The project's page."""
    return _page(request, core, session, number)


@router.get("/people")
@router.get("/policy")
@router.get("/delete")
def back(number: int) -> Response:
    """Where a form's address leads when it is only opened: to the project's page."""
    return go(f"/projects/{number}")


@router.post("/people")
def share(request: Request, core: Here, session: LoggedIn, form: Sent, number: int) -> Response:
    """Give somebody a role, or take it away."""
    role = str(form.get("role", ""))
    try:
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number)
            projects.share(connection, session.user, project, str(form.get("name", "")), None if role == "none" else role)
    except (Conflict, Invalid, NotFound) as error:
        return _page(request, core, session, number, status=error.status, people_wrong=str(error))
    return go(f"/projects/{number}#people")


@router.get("/policy.yaml")
def policy_file(core: Here, session: LoggedIn, number: int, revision: int | None = None) -> Response:
    """The policy as a file: of the newest revision, or of an earlier one."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        policy = policies.parsed(policies.document(connection, project, revision), project)
    name = f"{project.table_name}-{project.revision if revision is None else revision}.yaml"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return PlainTextResponse(policy.to_yaml(), media_type="application/yaml; charset=utf-8", headers=headers)


@router.post("/policy")
def set_policy(request: Request, core: Here, session: LoggedIn, form: Sent, number: int) -> Response:
    """Put a policy file, uploaded or edited on the page, in the place of the policy."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "editor")
    text = str(form.get("policy", ""))
    try:
        text, what = _policy_text(form)
        policy = parse_policy(text, origin="the policy file")
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number)
            policies.replace(connection, session.user, project, over_of(form), policy, what)
    except Conflict as error:
        sent = FormData([("base", str(form.get("base", ""))), ("policy", text)])
        return conflict_page(request, session, project, "project", error, sent)
    except Forbidden:
        raise
    except DiscreetError as error:
        return _page(request, core, session, number, status=422, policy_wrong=str(error), text=text)
    return go(f"/projects/{number}#policy")


@router.post("/restore")
def restore(core: Here, session: LoggedIn, form: Sent, number: int) -> Response:
    """Go back to an earlier revision."""
    with core.store.write() as connection:
        project = projects.get(connection, session.user, number)
        policies.restore(connection, session.user, project, base_of(form, "revision"))
    return go(f"/projects/{number}#history")


@router.post("/jobs/{job}/cancel")
def cancel(core: Here, session: LoggedIn, form: Sent, number: int, job: str) -> Response:
    """Ask a job to stop; one that is over already stays as it is."""
    with core.store.write() as connection:
        project = projects.get(connection, session.user, number)
        if queue.get(connection, project, job).active:
            queue.cancel(connection, session.user, project, job)
    return go(str(form.get("back", "")) or f"/projects/{number}")


@router.post("/delete")
def delete(request: Request, core: Here, session: LoggedIn, form: Sent, number: int) -> Response:
    """Delete the project with its table and its files, where its name was typed as it is."""
    try:
        with core.store.read() as connection:
            project = projects.get(connection, session.user, number)
        if str(form.get("name", "")).strip() != project.name:
            raise Invalid(f"to delete the project, type its name as it is: {project.name}")
        removal.remove(core.store, core.settings, session.user, project)
    except (Conflict, Invalid) as error:
        return _page(request, core, session, number, status=error.status, delete_wrong=str(error))
    return go("/")


def _policy_text(form: Sent) -> tuple[str, str]:
    """The policy that was sent, and what the history says of it."""
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        return str(form.get("policy", "")).replace("\r\n", "\n"), "the policy file was edited"
    content = file.file.read(POLICY_LIMIT + 1)
    if len(content) > POLICY_LIMIT:
        raise TooLarge(f"a policy file has at most {POLICY_LIMIT >> 20} MiB")
    try:
        return content.decode("utf-8-sig"), f"from the policy file {datasets.shown_name(file.filename)}"
    except UnicodeDecodeError:
        raise Invalid("the policy file is not UTF-8 text") from None


def _page(request: Request, core: Here, session: LoggedIn, number: int, status: int = 200, **said: Any) -> Response:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        values = {
            "people": projects.people(connection, project),
            "history": policies.history(connection, project, 30),
            "jobs": queue.all_of(connection, project, 15),
            "entries": audit.entries(connection, project.id, 30),
            "dataset": _dataset(connection, project),
            "text": policies.current(connection, project).to_yaml(),
        }
    wrong = {"people_wrong": "", "policy_wrong": "", "delete_wrong": ""}
    return page(request, "project.html", session, project, "project", status=status, **{**values, **wrong, **said})


def _dataset(connection: Any, project: Project) -> datasets.Dataset | None:
    return datasets.get(connection, project) if project.dataset_id is not None else None
