"""Initial microdata: uploads, imported datasets and their rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Query, Request, Response
from fastapi import Path as PathParameter
from starlette.concurrency import run_in_threadpool

from discreet.web.api.models import DatasetOut, Rows, Uploaded
from discreet.web.api.projects import authorize_project
from discreet.web.api.routing import PAGED, Number, PageOf, ProjectId, create_router
from discreet.web.auth.security import Caller, ServerCore
from discreet.web.core import Core
from discreet.web.errors import InvalidRequest, TooLarge
from discreet.web.projects import access_log, datasets, quotas, sources

data_router = create_router("data")

Offset = Annotated[int, Query(ge=0, le=2**53)]
Limit = Annotated[int, Query(ge=1, le=1000)]
Sort = Annotated[str | None, Query(max_length=1000, description="The attribute to sort by.")]
Filters = Annotated[
    str | None,
    Query(max_length=10_000, description='JSON such as {"age": ">=65", "name": "mar"}: one condition per attribute.'),
]


@data_router.put(
    "/projects/{project_id}/uploads",
    response_model=Uploaded,
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "The content of the file.",
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def upload(
    request: Request,
    core: ServerCore,
    access: Caller,
    project_id: ProjectId,
    name: Annotated[str, Query(min_length=1, max_length=400, description="The file name; its suffix determines the format.")],
) -> Uploaded:
    """Upload a file of any size up to the server's limit; then submit a job of kind import with {"upload": …, "name": …}."""
    project = await run_in_threadpool(authorize_project, core, access, project_id, "write", "editor")
    declared_size = request.headers.get("content-length", "")
    if declared_size.isdigit() and int(declared_size) > core.settings.upload_limit:
        raise TooLarge(f"the file is larger than the upload limit of {core.settings.upload_limit / 2**20:,.0f} MiB")
    needed = int(declared_size) if declared_size.isdigit() else 1
    room = await run_in_threadpool(_check_room, core, project_id, needed)
    with datasets.Upload(core.settings, project, name, room) as received:
        async for chunk in request.stream():
            await run_in_threadpool(received.write, chunk)
    return Uploaded(upload=received.path.name, bytes=received.size)


def _check_room(core: Core, project_id: int, needed: int) -> float:
    with core.store.read() as connection:
        return quotas.check_room(connection, core.settings, project_id, needed)


@data_router.get("/projects/{project_id}/sources", response_model=list[str])
def list_sources(core: ServerCore, access: Caller, project_id: ProjectId) -> list[str]:
    """The connected databases granted to you; a job of kind import reads a table of one with {"source": …, "table": …}."""
    authorize_project(core, access, project_id, "read", "editor")
    with core.store.read() as connection:
        return sources.list_sources(connection, core.settings, access.user)


@data_router.get("/projects/{project_id}/sources/{source}/tables", response_model=list[str])
def list_source_tables(
    core: ServerCore, access: Caller, project_id: ProjectId, source: Annotated[str, PathParameter(max_length=80)]
) -> list[str]:
    """The tables and views of a connected database that were granted to you."""
    authorize_project(core, access, project_id, "read", "editor")
    with core.store.read() as connection:
        return sources.list_tables(connection, core.settings, access.user, source)


@data_router.get("/projects/{project_id}/datasets", response_model=list[DatasetOut], responses=PAGED)
def list_datasets(
    core: ServerCore, access: Caller, project_id: ProjectId, paging: PageOf, response: Response
) -> list[DatasetOut]:
    """The imported datasets, newest first."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        listed = datasets.list_datasets(connection, project)[paging.offset : paging.stop]
    return [DatasetOut.model_validate(dataset) for dataset in paging.send(response, listed)]


@data_router.get("/projects/{project_id}/datasets/{dataset}", response_model=DatasetOut)
def get_dataset(core: ServerCore, access: Caller, project_id: ProjectId, dataset: Number) -> DatasetOut:
    """A dataset with its columns and the Analyzer's proposal."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        selected = datasets.get(connection, project, dataset)
    if selected.profile is not None:  # it names values
        access_log.record_original(core.store, access.user, project, selected.id, what="profile")
    return DatasetOut.model_validate(selected)


@data_router.post("/projects/{project_id}/datasets/{dataset}/choose", response_model=DatasetOut)
def choose_dataset(core: ServerCore, access: Caller, project_id: ProjectId, dataset: Number) -> DatasetOut:
    """Use a dataset as the project's initial microdata."""
    project = authorize_project(core, access, project_id, "write", "editor")
    with core.store.write() as connection:
        return DatasetOut.model_validate(datasets.choose(connection, access.user, project, dataset))


class RowQuery:
    """Query parameters that select rows of a table."""

    def __init__(
        self, offset: Offset = 0, limit: Limit = 50, sort: Sort = None, descending: bool = False, filters: Filters = None
    ) -> None:
        self.options: dict[str, Any] = {"offset": offset, "limit": limit, "sort": sort, "descending": descending}
        self.filters = filters

    def read(self, core: Core, file: Path) -> Rows:
        """Read the selected rows of a Parquet file."""
        return Rows.model_validate(datasets.read_rows(core.settings, file, **self.options, filters=parse_filters(self.filters)))


RowQueryParameters = Annotated[RowQuery, Depends()]


@data_router.get("/projects/{project_id}/datasets/{dataset}/rows", response_model=Rows)
def dataset_rows(core: ServerCore, access: Caller, project_id: ProjectId, dataset: Number, row_query: RowQueryParameters) -> Rows:
    """Rows of a dataset, sorted and filtered."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        selected = datasets.get(connection, project, dataset)
    file = datasets.path(core.settings, selected)
    access_log.record_original(core.store, access.user, project, selected.id, rows=row_query.options["offset"])
    return row_query.read(core, file)


def parse_filters(text: str | None) -> dict[str, str] | None:
    """The filters of a request, parsed from JSON."""
    if text is None:
        return None
    try:
        parsed: Any = json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict) or not all(isinstance(condition, str) for condition in parsed.values()):
        raise InvalidRequest('filters must be a JSON object such as {"age": ">=65"}: one text condition per attribute')
    return parsed
