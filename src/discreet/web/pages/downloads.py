"""The outputs of a release: the masked table as a page and as a file, the report, and the policy file."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse

from discreet.convert.files.formats import FORMATS
from discreet.web.api.releases import report_response
from discreet.web.auth.security import CurrentSession, ServerCore
from discreet.web.auth.sessions import Session
from discreet.web.core import Core
from discreet.web.errors import InvalidRequest
from discreet.web.jobs.downloading import wait_for_export
from discreet.web.jobs.queue import Job
from discreet.web.pages.rendering import render_page
from discreet.web.projects import access_log, datasets, projects, release_files, releases
from discreet.web.projects.projects import Project
from discreet.web.projects.releases import Release
from discreet.web.workspace import comparing_releases

router = APIRouter(prefix="/projects/{number}/releases/{release}", include_in_schema=False)
DOWNLOAD_FORMATS = [(suffix, FORMATS[f".{suffix}"].name) for suffix in release_files.list_formats()]
"""(suffix, name) of every file format that can be written."""
ROWS_PER_PAGE = 50
WAIT_SECONDS = 10.0
"""Seconds that a download waits for the job that writes its file, before a page follows the job instead."""


@router.get("/table")
def compare_tables(
    request: Request,
    core: ServerCore,
    session: CurrentSession,
    number: int,
    release: int,
    first_row: Annotated[int, Query(alias="from", ge=1)] = 1,
    show: Literal["changed", "all"] = "changed",
    columns: Literal["changed", "all"] = "all",
    against: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> Response:
    """Show the masked table next to the original, or next to another release, with changed values marked."""
    project, stored_release = _get_release(core, session, number, release, "member")
    with core.store.read() as connection:
        dataset = datasets.get(connection, project, stored_release.dataset_id)
        others = [one for one in releases.list_summaries(connection, project) if one.file and one.number != stored_release.number]
        other = None if against is None else releases.get(connection, project, against)
    if other is not None:
        return _compare_releases(request, core, session, project, (other, stored_release), others, first_row, show, columns)
    rows = datasets.compare(
        core.settings, dataset, stored_release, offset=first_row - 1, limit=ROWS_PER_PAGE,
        changed_rows=show == "changed", changed_columns=columns == "changed",
    )  # fmt: skip
    access_log.record_link(core.store, session.user, project, stored_release, rows=first_row)
    return render_page(
        request,
        "compare.html",
        session,
        project,
        "generate",
        release=stored_release,
        others=others,
        dataset=dataset,
        rows=rows,
        first_row=first_row,
        page_size=ROWS_PER_PAGE,
        suffixes=DOWNLOAD_FORMATS,
        show=show,
        columns=columns,
        changes=sorted(rows.changes.columns, key=lambda column: -column.changed),
        changed=sum(cell["changed"] for row in rows.rows for cell in row["cells"]),
    )


def _compare_releases(
    request: Request, core: Core, session: Session, project: Project, pair: tuple[Release, Release], others: list[Release],
    first_row: int, show: str, columns: str,
) -> Response:  # fmt: skip
    first, second = pair
    compared = comparing_releases.compare(
        core.settings, first, second, offset=first_row - 1, limit=ROWS_PER_PAGE,
        changed_rows=show == "changed", changed_columns=columns == "changed",
    )  # fmt: skip
    for one in pair:
        access_log.record_link(core.store, session.user, project, one, rows=first_row)
    return render_page(
        request, "compare_releases.html", session, project, "generate", first=first, second=second, others=others,
        compared=compared, rows=compared.page, first_row=first_row, page_size=ROWS_PER_PAGE, show=show, columns=columns,
    )  # fmt: skip


@router.get("/download")
async def download(
    request: Request, core: ServerCore, session: CurrentSession, number: int, release: int,
    format: str = "csv",  # noqa: A002 - the name of the query parameter
) -> Response:  # fmt: skip
    """Send the masked table as a file; if a job needs longer to write it, show a page that sends it when it is ready."""
    project, stored_release = await run_in_threadpool(_get_release, core, session, number, release)
    if format not in dict(DOWNLOAD_FORMATS):
        raise InvalidRequest(
            f"'{format[:20]}' is not a file format that can be written; use one of {', '.join(dict(DOWNLOAD_FORMATS))}"
        )
    written = await wait_for_export(core, session.user, project, stored_release, format, WAIT_SECONDS)
    if isinstance(written, Job):
        return render_page(
            request, "preparing.html", session, project, "generate", status=202, job=written, form=format, release=stored_release
        )
    await run_in_threadpool(
        access_log.record_release, core.store, session.user, project, stored_release, "downloaded", format=format
    )
    name = f"{project.table_name}_{stored_release.number}.{format}"
    return FileResponse(written, media_type="application/octet-stream", filename=name)


@router.get("/report")
def report(
    core: ServerCore, session: CurrentSession, number: int, release: int, internal: bool = False, short: bool = False,
    format: Literal["html", "pdf"] = "html",  # noqa: A002 - the name of the query parameter
) -> Response:  # fmt: skip
    """Send the public report, full or short, or the internal one if a job wrote it; all say whether the release is approved."""
    project, stored_release = _get_release(core, session, number, release, "member" if internal else "release_reader")
    return report_response(core, session.user, project, stored_release, format, internal=internal, short=short)


@router.get("/policy.yaml")
def policy(core: ServerCore, session: CurrentSession, number: int, release: int) -> Response:
    """Send the policy file that reproduces this release."""
    project, stored_release = _get_release(core, session, number, release, "member")
    name = f"{project.table_name}_{stored_release.number}.yaml"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(releases.policy_yaml(stored_release), media_type="application/yaml", headers=headers)


def _get_release(
    core: Core, session: Session, number: int, release: int, role: str = "release_reader"
) -> tuple[Project, Release]:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, role)
        return project, releases.get(connection, project, release)
