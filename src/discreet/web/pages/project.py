"""One project: its members, its policy file with history, its jobs and its audit log."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.datastructures import FormData, UploadFile
from starlette.responses import PlainTextResponse

from discreet.errors import DiscreetError
from discreet.model.policy import parse_policy
from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore
from discreet.web.db import audit
from discreet.web.errors import Conflict, Forbidden, InvalidRequest, NotFound, TooLarge
from discreet.web.jobs import queue
from discreet.web.pages.forms import editing
from discreet.web.pages.forms.conflicts import base_revision, compared_revision, conflict_page
from discreet.web.pages.forms.limit_choice import describe_in_words
from discreet.web.pages.rendering import redirect, render_page
from discreet.web.projects import datasets, membership, policies, projects, purging, release_settings, releases, removal
from discreet.web.projects.projects import Project
from discreet.web.projects.release_states import PURGEABLE

router = APIRouter(prefix="/projects/{number}", include_in_schema=False)
POLICY_LIMIT = 4 << 20


@router.get("")
def overview(request: Request, core: ServerCore, session: CurrentSession, number: int) -> Response:
    """Show the project; a release reader is sent to its releases."""
    with core.store.read() as connection:
        if not projects.get(connection, session.user, number, "release_reader").allows("member"):
            return redirect(f"/projects/{number}/release")
    return _page(request, core, session, number)


@router.get("/people")
@router.get("/groups")
@router.get("/policy")
@router.get("/delete")
@router.get("/release-settings")
@router.get("/purge")
def open_form_address(number: int) -> Response:
    """Redirect a browser that opens the address of a form to the project's page."""
    return redirect(f"/projects/{number}")


@router.post("/people")
def share(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Give a user a role in the project, or remove it."""
    role = str(form.get("role", ""))
    try:
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number)
            projects.set_role(connection, session.user, project, str(form.get("name", "")), None if role == "none" else role)
    except (Conflict, InvalidRequest, NotFound) as error:
        return _page(request, core, session, number, status=error.status, people_wrong=str(error))
    return redirect(f"/projects/{number}#people")


@router.post("/groups")
def share_with_group(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Share the project with a group of the provider, or no longer."""
    role = str(form.get("role", ""))
    try:
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number)
            group = str(form.get("group", ""))
            membership.set_group_role(connection, session.user, project, group, None if role == "none" else role)
    except InvalidRequest as error:
        return _page(request, core, session, number, status=error.status, people_wrong=str(error))
    return redirect(f"/projects/{number}#people")


@router.get("/policy.yaml")
def policy_file(core: ServerCore, session: CurrentSession, number: int, revision: int | None = None) -> Response:
    """Send the policy file of a revision (default: the newest)."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        policy = policies.parse_document(policies.policy_document(connection, project, revision), project)
    name = f"{project.table_name}-{project.revision if revision is None else revision}.yaml"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return PlainTextResponse(policy.to_yaml(), media_type="application/yaml; charset=utf-8", headers=headers)


@router.post("/policy")
def set_policy(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Replace the policy with a file that was uploaded or edited on the page."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "editor")
    text = str(form.get("policy", ""))
    try:
        text, what = _policy_text(form)
        policy = parse_policy(text, origin="the policy file", seconds=policies.READING_SECONDS)
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number)
            policies.replace(connection, session.user, project, compared_revision(form), policy, what)
    except Conflict as error:
        sent = FormData([("base", str(form.get("base", ""))), ("policy", text)])
        return conflict_page(request, session, project, "project", error, sent)
    except Forbidden:
        raise
    except DiscreetError as error:
        return _page(request, core, session, number, status=422, policy_wrong=str(error), text=text)
    return redirect(f"/projects/{number}#policy")


@router.post("/restore")
def restore(core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Restore an earlier revision of the policy."""
    with core.store.write() as connection:
        project = projects.get(connection, session.user, number)
        policies.restore(connection, session.user, project, base_revision(form, "revision"))
    return redirect(f"/projects/{number}#history")


@router.post("/jobs/{job}/cancel")
def cancel(core: ServerCore, session: CurrentSession, form: CheckedForm, number: int, job: str) -> Response:
    """Cancel a job; a finished job is left unchanged."""
    with core.store.write() as connection:
        project = projects.get(connection, session.user, number)
        if queue.get(connection, project, job).active:
            queue.cancel(connection, session.user, project, job)
    return redirect(str(form.get("back", "")) or f"/projects/{number}")


@router.post("/delete")
def delete(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Delete the project with its table and files, if its name was typed exactly."""
    try:
        with core.store.read() as connection:
            project = projects.get(connection, session.user, number)
        if str(form.get("name", "")).strip() != project.name:
            raise InvalidRequest(f"to delete the project, type its exact name: {project.name}")
        removal.delete_project(core.store, core.settings, session.user, project)
    except (Conflict, InvalidRequest) as error:
        return _page(request, core, session, number, status=error.status, delete_wrong=str(error))
    return redirect("/")


@router.post("/release-settings")
def set_release_settings(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Set the retention period and the accounts that may read the published table, or adopt the policy's limits."""
    try:
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number, "owner")
            if form.get("action") == "adopt":
                release_settings.adopt_policy_limits(connection, session.user, project)
            else:
                limits = release_settings.get(project).limits
                days = editing.read_whole_number(form, "retention_days") if str(form.get("retention_days", "")).strip() else None
                grants = str(form.get("grants", "")).replace(",", " ").split()
                settings = release_settings.ReleaseSettings(limits, days, grants)
                release_settings.change(connection, session.user, project, settings)
    except InvalidRequest as error:
        return _page(request, core, session, number, status=error.status, settings_wrong=str(error))
    return redirect(f"/projects/{number}#releases")


@router.post("/purge")
def purge(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Delete originals, drafts and links, if the project's name was typed exactly."""
    try:
        with core.store.read() as connection:
            project = projects.get(connection, session.user, number, "owner")
        if str(form.get("name", "")).strip() != project.name:
            raise InvalidRequest(f"to purge the project, type its exact name: {project.name}")
        purging.purge(core.store, core.settings, session.user, project)
    except (Conflict, InvalidRequest) as error:
        return _page(request, core, session, number, status=error.status, purge_wrong=str(error))
    return redirect(f"/projects/{number}#data")


def _release_values(connection: Any, project: Project) -> dict[str, Any]:
    """The owner's settings of releases, and what a purge would delete."""
    return {
        "settings": release_settings.get(project),
        "limit_in_words": describe_in_words,
        "policy_limits": dict(policies.current_policy(connection, project).limits),
        "originals": [dataset for dataset in datasets.list_datasets(connection, project) if dataset.purged is None],
        "drafts": [release for release in releases.list_releases(connection, project) if release.state in PURGEABLE],
    }


def _policy_text(form: CheckedForm) -> tuple[str, str]:
    """The submitted policy text, and its description for the history."""
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        return str(form.get("policy", "")).replace("\r\n", "\n"), "the policy file was edited"
    content = file.file.read(POLICY_LIMIT + 1)
    if len(content) > POLICY_LIMIT:
        raise TooLarge(f"a policy file has at most {POLICY_LIMIT >> 20} MiB")
    try:
        return content.decode("utf-8-sig"), f"from the policy file {datasets.display_name(file.filename)}"
    except UnicodeDecodeError:
        raise InvalidRequest("the policy file is not UTF-8 text") from None


def _page(
    request: Request, core: ServerCore, session: CurrentSession, number: int, status: int = 200, **overrides: Any
) -> Response:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        values = {
            "people": projects.list_members(connection, project),
            "groups": membership.list_groups(connection, project),
            "history": policies.history(connection, project, 30),
            "jobs": queue.list_jobs(connection, project, 15),
            "entries": audit.list_entries(connection, project.id, 30),
            "dataset": _current_dataset(connection, project),
            "text": policies.current_policy(connection, project).to_yaml(),
            **_release_values(connection, project),
        }
    messages = {"people_wrong": "", "policy_wrong": "", "delete_wrong": "", "settings_wrong": "", "purge_wrong": ""}
    return render_page(request, "project.html", session, project, "project", status=status, **{**values, **messages, **overrides})


def _current_dataset(connection: Any, project: Project) -> datasets.Dataset | None:
    return datasets.get(connection, project) if project.dataset_id is not None else None
