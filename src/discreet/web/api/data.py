"""Initial microdata: received, imported by a job, looked at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from fastapi import Path as PathParameter
from starlette.concurrency import run_in_threadpool

from discreet.web.api.models import DatasetOut, Rows, Uploaded
from discreet.web.api.projects import seen
from discreet.web.api.routing import Number, ProjectId, router
from discreet.web.auth.security import Asking, Here
from discreet.web.core import Core
from discreet.web.errors import Invalid, TooLarge
from discreet.web.projects import datasets

data = router("data")

Offset = Annotated[int, Query(ge=0, le=2**53)]
Limit = Annotated[int, Query(ge=1, le=1000)]
Sort = Annotated[str | None, Query(max_length=1000, description="An attribute to sort by.")]
Filters = Annotated[
    str | None,
    Query(max_length=10_000, description='JSON such as {"age": ">=65", "name": "mar"}: an attribute and what it must hold.'),
]


@data.put(
    "/projects/{project_id}/uploads",
    response_model=Uploaded,
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "The file's bytes as they are.",
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def upload(
    request: Request,
    core: Here,
    access: Asking,
    project_id: ProjectId,
    name: Annotated[str, Query(min_length=1, max_length=400, description="The file's name; its suffix says the format.")],
) -> Uploaded:
    """Send a file, however large; then submit a job of kind import with {"upload": …, "name": …}."""
    project = await run_in_threadpool(seen, core, access, project_id, "write", "editor")
    said = request.headers.get("content-length", "")
    if said.isdigit() and int(said) > core.settings.upload_limit:
        raise TooLarge(f"the file has more than the {core.settings.upload_limit / 2**20:,.0f} MiB that one upload may have")
    with datasets.Upload(core.settings, project, name) as made:
        async for chunk in request.stream():
            await run_in_threadpool(made.write, chunk)
    return Uploaded(upload=made.path.name, bytes=made.size)


@data.get("/projects/{project_id}/sources", response_model=list[str])
def list_sources(core: Here, access: Asking, project_id: ProjectId) -> list[str]:
    """The databases that the administrator connected; a job of kind import takes a table with {"source": …, "table": …}."""
    seen(core, access, project_id, "read", "editor")
    return datasets.sources(core.settings)


@data.get("/projects/{project_id}/sources/{source}/tables", response_model=list[str])
def list_source_tables(
    core: Here, access: Asking, project_id: ProjectId, source: Annotated[str, PathParameter(max_length=80)]
) -> list[str]:
    """The tables and views of a connected database."""
    seen(core, access, project_id, "read", "editor")
    return datasets.tables(core.settings, source)


@data.get("/projects/{project_id}/datasets", response_model=list[DatasetOut])
def list_datasets(core: Here, access: Asking, project_id: ProjectId) -> list[DatasetOut]:
    """The tables that were imported, newest first."""
    project = seen(core, access, project_id)
    with core.store.read() as connection:
        return [DatasetOut.model_validate(one) for one in datasets.all_of(connection, project)]


@data.get("/projects/{project_id}/datasets/{dataset}", response_model=DatasetOut)
def get_dataset(core: Here, access: Asking, project_id: ProjectId, dataset: Number) -> DatasetOut:
    """One table: its columns, and what the Analyzer proposes."""
    project = seen(core, access, project_id)
    with core.store.read() as connection:
        return DatasetOut.model_validate(datasets.get(connection, project, dataset))


@data.post("/projects/{project_id}/datasets/{dataset}/choose", response_model=DatasetOut)
def choose_dataset(core: Here, access: Asking, project_id: ProjectId, dataset: Number) -> DatasetOut:
    """Make it the project's initial microdata."""
    project = seen(core, access, project_id, "write", "editor")
    with core.store.write() as connection:
        return DatasetOut.model_validate(datasets.choose(connection, access.user, project, dataset))


class Window:
    """Which rows of a table are asked for."""

    def __init__(
        self, offset: Offset = 0, limit: Limit = 50, sort: Sort = None, descending: bool = False, filters: Filters = None
    ) -> None:
        self.asked: dict[str, Any] = {"offset": offset, "limit": limit, "sort": sort, "descending": descending}
        self.filters = filters

    def of(self, core: Core, place: Path) -> Rows:
        """Those rows of a table's file."""
        return Rows.model_validate(datasets.rows(core.settings, place, **self.asked, filters=parsed_filters(self.filters)))


Asked = Annotated[Window, Depends()]


@data.get("/projects/{project_id}/datasets/{dataset}/rows", response_model=Rows)
def dataset_rows(core: Here, access: Asking, project_id: ProjectId, dataset: Number, window: Asked) -> Rows:
    """Some rows, sorted and filtered."""
    project = seen(core, access, project_id)
    with core.store.read() as connection:
        found = datasets.get(connection, project, dataset)
    return window.of(core, datasets.path(core.settings, found))


def parsed_filters(text: str | None) -> dict[str, str] | None:
    """The filters that a request names."""
    if text is None:
        return None
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise Invalid('filters are JSON such as {"age": ">=65"}: an attribute and a text')
    return found
