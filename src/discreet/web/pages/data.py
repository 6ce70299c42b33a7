"""The initial microdata: choose a file or a table of a connected database, which is previewed first, and browse the records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from starlette.datastructures import UploadFile

from discreet.convert.files.formats import FORMATS
from discreet.convert.places.archives import SUFFIX as ARCHIVE_SUFFIX
from discreet.errors import SourceError
from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore
from discreet.web.errors import DiskFull, Forbidden, InvalidRequest, TooLarge, TooManyRequests, WebError
from discreet.web.jobs import queue
from discreet.web.pages.rendering import redirect, render_page
from discreet.web.projects import access_log, datasets, projects, quotas, sources, staged_imports
from discreet.web.projects.projects import Project

router = APIRouter(prefix="/projects/{number}", include_in_schema=False)
ROWS_PER_PAGE = 50
FILTER_PREFIX = "f."
"""Before a column's name in the address of a filtered page."""


@router.get("/data")
def show(request: Request, core: ServerCore, session: CurrentSession, number: int) -> Response:
    """Show one page of the table, or the ways to import one."""
    return _page(request, core, session, number)


@router.post("/data")
def import_table(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Queue a preview: of a file in the form, of a file that a script has uploaded already, or of a connected table."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "editor")
    file = form.get("file")
    try:
        if form.get("source"):
            table = str(form.get("other", "")).strip() or str(form.get("table", "")).strip()
            parameters = {"source": str(form["source"]), "table": table}
            with core.store.read() as connection:
                sources.check_granted(connection, core.settings, session.user.id, parameters["source"], table)
        elif form.get("upload"):
            parameters = {"upload": str(form["upload"]), "name": datasets.display_name(str(form.get("name", "")))}
        elif isinstance(file, UploadFile) and file.filename:
            with core.store.read() as connection:
                room = quotas.check_room(connection, core.settings, number, file.size or 1)
            upload = datasets.receive_upload(core.settings, project, file.file, file.filename, room)
            parameters = {"upload": upload.name, "name": datasets.display_name(file.filename)}
        else:
            raise InvalidRequest("choose a file first")
        with core.store.write() as connection:
            job = queue.submit(connection, session.user, project, "preview", parameters)
    except (DiskFull, Forbidden, InvalidRequest, TooLarge, TooManyRequests) as error:
        return _page(request, core, session, number, status=error.status, wrong=str(error))
    core.supervisor.wake()
    return redirect(f"/projects/{number}/data/preview/{job.id}")


@router.post("/data/choose")
def choose_dataset(core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Use a table that was imported earlier."""
    dataset_id = str(form.get("dataset", ""))
    if not dataset_id.isdecimal():
        raise InvalidRequest("a table is named by its number")
    with core.store.write() as connection:
        project = projects.get(connection, session.user, number)
        datasets.choose(connection, session.user, project, int(dataset_id))
    return redirect(f"/projects/{number}/data")


def _page(
    request: Request, core: ServerCore, session: CurrentSession, number: int, status: int = 200, wrong: str = ""
) -> Response:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        all_datasets = datasets.list_datasets(connection, project)
        granted = sources.list_sources(connection, core.settings, session.user)
        import_jobs = [job for job in queue.list_jobs(connection, project, 20) if job.kind in ("import", "analyze")]
    dataset = next((candidate for candidate in all_datasets if candidate.id == project.dataset_id), None)
    last_import = next((job for job in import_jobs if job.kind == "import"), None)
    last_preview = None
    failed = last_import if last_import is not None and last_import.state in ("failed", "interrupted", "cancelled") else None
    if failed is not None and project.allows("editor"):
        with core.store.read() as connection:
            last_preview = staged_imports.latest_preview(connection, session.user, project, failed.parameters)
    values: dict[str, Any] = {
        "dataset": dataset,
        "earlier": [candidate for candidate in all_datasets if candidate.id != project.dataset_id and candidate.purged is None],
        "active": [job for job in import_jobs if job.active],
        "failed": failed,
        "last_preview": last_preview,
        "sources": granted,
        "connected": bool(core.settings.sources),
        "limit": core.settings.upload_limit,
        "wrong": wrong,
        "table_wrong": "",
        "formats": ", ".join([*(suffix for suffix in FORMATS if suffix.count(".") == 1), ARCHIVE_SUFFIX]),
        "table": None,
    }
    values |= _connected_tables(core, session, project, values["sources"], request.query_params.get("source", ""))
    if dataset is not None:
        access_log.record_original(core.store, session.user, project, dataset.id, page="data")
        query = request.query_params if request.method == "GET" else {}
        try:
            values["table"] = _table_page(core, dataset, query)
        except WebError as error:
            values |= {"table_wrong": str(error), "table": _table_page(core, dataset, {}) if error.status == 422 else None}
    return render_page(request, "data.html", session, project, "data", status=status, **values)


def _connected_tables(
    core: ServerCore, session: CurrentSession, project: Project, names: list[str], requested: str
) -> dict[str, Any]:
    """The tables of the requested database, if there is one and the user may import."""
    values: dict[str, Any] = {"source": "", "source_tables": [], "source_wrong": ""}
    if requested not in names or not project.allows("editor"):
        return values
    try:
        with core.store.read() as connection:
            tables = sources.list_tables(connection, core.settings, session.user, requested)
        return values | {"source": requested, "source_tables": tables}
    except SourceError as error:
        return values | {"source": requested, "source_wrong": str(error)}


def _table_page(core: ServerCore, dataset: datasets.Dataset, query: Mapping[str, str]) -> dict[str, Any]:
    """One page of the table, with the addresses of the other pages."""
    names = {str(column["name"]) for column in dataset.columns}
    filters = {
        name: text.strip() for key, text in query.items() if (name := key.removeprefix(FILTER_PREFIX)) != key and text.strip()
    }
    sort, descending = query.get("sort") or None, query.get("down") == "yes"
    offset = int(query["offset"]) if query.get("offset", "").isdecimal() and len(query["offset"]) < 16 else 0
    window = datasets.read_rows(
        core.settings,
        datasets.path(core.settings, dataset),
        offset=offset,
        limit=ROWS_PER_PAGE,
        sort=sort,
        descending=descending,
        filters=filters,
    )

    def address(offset: int = 0, sort: str | None = sort, descending: bool = descending) -> str:
        parameters = {FILTER_PREFIX + name: text for name, text in filters.items()} | ({"offset": str(offset)} if offset else {})
        parameters |= {} if sort is None else {"sort": sort, "down": "yes" if descending else "no"}
        return f"?{urlencode(parameters)}#table"

    last_offset = (window.total - 1) // ROWS_PER_PAGE * ROWS_PER_PAGE if window.total else 0
    return {
        "window": window,
        "filters": filters,
        "sort": sort,
        "descending": descending,
        "from": offset + 1,
        "to": offset + len(window.rows),
        "sorted_by": {name: address(sort=name, descending=name == sort and not descending) for name in names},
        "first": address() if offset else None,
        "before": address(max(offset - ROWS_PER_PAGE, 0)) if offset else None,
        "after": address(offset + ROWS_PER_PAGE) if offset + ROWS_PER_PAGE < window.total else None,
        "last": address(last_offset) if offset < last_offset else None,
    }
