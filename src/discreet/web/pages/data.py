"""The initial microdata: sent or taken from a connected database, then looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from starlette.datastructures import UploadFile

from discreet.convert.files.formats import FORMATS
from discreet.errors import SourceError
from discreet.web.auth.security import Here, LoggedIn, Sent
from discreet.web.errors import Invalid, TooLarge, WebError
from discreet.web.jobs import queue
from discreet.web.pages.rendering import go, page
from discreet.web.projects import datasets, projects
from discreet.web.projects.projects import Project

router = APIRouter(prefix="/projects/{number}")
ROWS = 50
FILTER = "f."
"""Before a column's name in the address of a filtered page."""


@router.get("/data")
def look(request: Request, core: Here, session: LoggedIn, number: int) -> Response:
    """The table, page by page, or the ways to have one."""
    return _page(request, core, session, number)


@router.post("/data")
def send(request: Request, core: Here, session: LoggedIn, form: Sent, number: int) -> Response:
    """Receive a file from a form without scripts, or import one that a script has sent already, or a connected table."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "editor")
    file = form.get("file")
    try:
        if form.get("source"):
            table = str(form.get("other", "")).strip() or str(form.get("table", "")).strip()
            told = {"source": str(form["source"]), "table": table}
            if told["source"] not in core.settings.sources:
                raise Invalid(f"there is no connected database '{told['source'][:80]}'")
        elif form.get("upload"):
            told = {"upload": str(form["upload"]), "name": datasets.shown_name(str(form.get("name", "")))}
        elif isinstance(file, UploadFile) and file.filename:
            kept = datasets.receive(core.settings, project, file.file, file.filename)
            told = {"upload": kept.name, "name": datasets.shown_name(file.filename)}
        else:
            raise Invalid("choose a file first")
        with core.store.write() as connection:
            queue.submit(connection, session.user, project, "import", told)
    except (Invalid, TooLarge) as error:
        return _page(request, core, session, number, status=error.status, wrong=str(error))
    return go(f"/projects/{number}/data")


@router.post("/data/choose")
def choose(core: Here, session: LoggedIn, form: Sent, number: int) -> Response:
    """Go back to an earlier table."""
    said = str(form.get("dataset", ""))
    if not said.isdecimal():
        raise Invalid("a table is named by its number")
    with core.store.write() as connection:
        project = projects.get(connection, session.user, number)
        datasets.choose(connection, session.user, project, int(said))
    return go(f"/projects/{number}/data")


def _page(request: Request, core: Here, session: LoggedIn, number: int, status: int = 200, wrong: str = "") -> Response:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        every = datasets.all_of(connection, project)
        recent = [job for job in queue.all_of(connection, project, 20) if job.kind in ("import", "analyze")]
    dataset = next((one for one in every if one.id == project.dataset_id), None)
    last = next((job for job in recent if job.kind == "import"), None)
    values: dict[str, Any] = {
        "dataset": dataset, "earlier": [one for one in every if one.id != project.dataset_id],
        "active": [job for job in recent if job.active],
        "failed": last if last is not None and last.state in ("failed", "interrupted", "cancelled") else None,
        "sources": sorted(core.settings.sources), "limit": core.settings.upload_limit, "wrong": wrong, "table_wrong": "",
        "formats": ", ".join(one for one in FORMATS if one.count(".") == 1), "table": None,
    }  # fmt: skip
    values |= _source(core, project, values["sources"], request.query_params.get("source", ""))
    if dataset is not None:
        asked = request.query_params if request.method == "GET" else {}
        try:
            values["table"] = _table(core, dataset, asked)
        except WebError as error:
            values |= {"table_wrong": str(error), "table": _table(core, dataset, {}) if error.status == 422 else None}
    return page(request, "data.html", session, project, "data", status=status, **values)


def _source(core: Here, project: Project, names: list[str], asked: str) -> dict[str, Any]:
    """The database whose tables are to be listed, where somebody who may import one asked for it."""
    made: dict[str, Any] = {"source": "", "source_tables": [], "source_wrong": ""}
    if asked not in names or project.role == "reader":
        return made
    try:
        return made | {"source": asked, "source_tables": datasets.tables(core.settings, asked)}
    except SourceError as error:
        return made | {"source": asked, "source_wrong": str(error)}


def _table(core: Here, dataset: datasets.Dataset, asked: Mapping[str, str]) -> dict[str, Any]:
    """A page of the table, with the addresses of the others."""
    names = {str(column["name"]) for column in dataset.columns}
    filters = {name: text.strip() for key, text in asked.items() if (name := key.removeprefix(FILTER)) != key and text.strip()}
    sort, down = asked.get("sort") or None, asked.get("down") == "yes"
    offset = int(asked["offset"]) if asked.get("offset", "").isdecimal() and len(asked["offset"]) < 16 else 0
    found = datasets.rows(
        core.settings,
        datasets.path(core.settings, dataset),
        offset=offset,
        limit=ROWS,
        sort=sort,
        descending=down,
        filters=filters,
    )

    def address(offset: int = 0, sort: str | None = sort, down: bool = down) -> str:
        said = {FILTER + name: text for name, text in filters.items()} | ({"offset": str(offset)} if offset else {})
        said |= {} if sort is None else {"sort": sort, "down": "yes" if down else "no"}
        return f"?{urlencode(said)}#table"

    last = (found.total - 1) // ROWS * ROWS if found.total else 0
    return {
        "found": found, "filters": filters, "sort": sort, "down": down, "from": offset + 1, "to": offset + len(found.rows),
        "sorted_by": {name: address(sort=name, down=name == sort and not down) for name in names},
        "first": address() if offset else None, "before": address(max(offset - ROWS, 0)) if offset else None,
        "after": address(offset + ROWS) if offset + ROWS < found.total else None,
        "last": address(last) if offset < last else None,
    }  # fmt: skip
