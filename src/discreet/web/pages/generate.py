"""Generate: the plan run on the initial microdata, and the masked table that came of it."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from sqlalchemy import make_url

from discreet.errors import DiscreetError
from discreet.web.auth.security import Here, LoggedIn, Sent
from discreet.web.auth.sessions import Session
from discreet.web.errors import Forbidden, Invalid
from discreet.web.jobs import queue
from discreet.web.pages.downloads import SUFFIXES
from discreet.web.pages.forms import plan_check
from discreet.web.pages.forms.labels import step_rows
from discreet.web.pages.rendering import go, page
from discreet.web.projects import datasets, policies, projects, releases
from discreet.web.settings import Settings

router = APIRouter(prefix="/projects/{number}/generate")


@router.get("")
def show(request: Request, core: Here, session: LoggedIn, number: int) -> Response:
    """What would be generated, what is being generated, and what was."""
    return _page(request, core, session, number)


@router.post("")
def start(request: Request, core: Here, session: LoggedIn, _form: Sent, number: int) -> Response:
    """Put the job into the queue, with the policy as it stands."""
    try:
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number, "editor")
            if project.dataset_id is None:
                raise Invalid("there are no initial microdata yet; upload a table first")
            queue.submit(connection, session.user, project, "generate")
    except Forbidden:
        raise
    except DiscreetError as error:
        return _page(request, core, session, number, message=str(error), status=422)
    return go(f"/projects/{number}/generate#job")


def _page(request: Request, core: Here, session: Session, number: int, message: str = "", status: int = 200) -> Response:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        policy = policies.current(connection, project)
        looked = plan_check.look(connection, core.settings, project, policy)
        dataset = None if project.dataset_id is None else datasets.get(connection, project)
        made = releases.all_of(connection, project)
        job = queue.latest(connection, project, "generate")
    found = plan_check.findings(looked, policy.plan)
    return page(
        request, "generate.html", session, project, "generate", status=status, message=message, dataset=dataset, looked=looked,
        steps=step_rows(policy.plan), findings=[one for step in found.values() for one in step], limits=len(policy.limits),
        job=job, releases=made, suffixes=SUFFIXES, database=database_of(core.settings), may=project.role != "reader",
    )  # fmt: skip


def database_of(settings: Settings) -> str:
    """Where other programs find released tables, without a password."""
    return make_url(settings.published).render_as_string(hide_password=True)
