"""What comes out of a release: the masked table beside its original and as a file, the report, and the policy behind it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from starlette.responses import FileResponse

from discreet.convert.files.formats import FORMATS
from discreet.web.auth.security import REPORT_POLICY, Here, LoggedIn
from discreet.web.auth.sessions import Session
from discreet.web.core import Core
from discreet.web.errors import Invalid
from discreet.web.pages.rendering import page
from discreet.web.projects import datasets, projects, releases
from discreet.web.projects.projects import Project
from discreet.web.projects.releases import Release

router = APIRouter(prefix="/projects/{number}/releases/{release}")
SUFFIXES = [(suffix, FORMATS[f".{suffix}"].name) for suffix in releases.formats()]
"""Every format that can be written, with its name."""
ROWS = 50


@router.get("/table")
def beside(
    request: Request, core: Here, session: LoggedIn, number: int, release: int, at: Annotated[int, Query(alias="from", ge=1)] = 1
) -> Response:
    """The masked table beside the original, what changed marked."""
    project, found = _found(core, session, number, release)
    with core.store.read() as connection:
        dataset = datasets.get(connection, project, found.dataset_id)
    rows = datasets.compare(core.settings, dataset, found, offset=at - 1, limit=ROWS)
    return page(
        request, "compare.html", session, project, "generate", release=found, dataset=dataset, rows=rows, at=at, size=ROWS,
        suffixes=SUFFIXES, changed=sum(cell["changed"] for row in rows.rows for cell in row["cells"]),
    )  # fmt: skip


@router.get("/download")
def download(core: Here, session: LoggedIn, number: int, release: int, format: str = "csv") -> Response:  # noqa: A002
    """The masked table as a file."""
    project, found = _found(core, session, number, release)
    if format not in dict(SUFFIXES):
        raise Invalid(f"'{format[:20]}' is no format that can be written; one of {', '.join(dict(SUFFIXES))}")
    place = releases.export(core.settings, found, format)
    name = f"{project.table_name}_{found.number}.{format}"
    return FileResponse(place, media_type="application/octet-stream", filename=name)


@router.get("/report")
def report(core: Here, session: LoggedIn, number: int, release: int, internal: bool = False) -> Response:
    """The public report, or the internal one where a job made it, in an origin of its own."""
    project, found = _found(core, session, number, release)
    place = releases.report_path(core.settings, found, internal=internal)
    return FileResponse(
        place, media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": REPORT_POLICY},
        filename=f"{project.table_name}_{found.number}_{place.name}", content_disposition_type="inline",
    )  # fmt: skip


@router.get("/policy.yaml")
def policy(core: Here, session: LoggedIn, number: int, release: int) -> Response:
    """The policy file that makes this release."""
    project, found = _found(core, session, number, release)
    name = f"{project.table_name}_{found.number}.yaml"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(releases.policy_yaml(found), media_type="application/yaml", headers=headers)


def _found(core: Core, session: Session, number: int, release: int) -> tuple[Project, Release]:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        return project, releases.get(connection, project, release)
