"""A release compared cell by cell: with its original, or with another release of the project."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from discreet.web.api.projects import authorize_project
from discreet.web.api.routing import Number, ProjectId, create_router
from discreet.web.auth.security import Caller, ServerCore
from discreet.web.projects import access_log, datasets, releases
from discreet.web.projects.comparing import ComparedPage
from discreet.web.workspace import comparing_releases

comparisons_router = create_router("releases")


class ChangedColumn(BaseModel):
    """How many records of a column differ."""

    name: str
    changed: int
    records: int = Field(description="Records that were compared.")


class ComparedRow(BaseModel):
    """A row: the values of the release, and for those that differ the other value, by the position of the column from 0."""

    number: int = Field(description="The row of the release, from 1.")
    record: int | None = Field(description="The original record, from 1; None for a synthetic row.")
    values: list[Any]
    others: dict[int, Any]


class ComparedRows(BaseModel):
    """A page of a release with what differs; ``reason`` says why rows of two releases cannot be matched, if they cannot."""

    against: int | None = Field(description="The other release; None: the original.")
    columns: list[str]
    rows: list[ComparedRow]
    total: int
    offset: int
    changes: list[ChangedColumn]
    only_here: int = Field(description="Records of the release that the other release does not have.")
    only_there: int = Field(description="Records of the other release that this one does not have.")
    reason: str


@comparisons_router.get("/projects/{project_id}/releases/{number}/comparison", response_model=ComparedRows)
def compare_release(
    core: ServerCore,
    access: Caller,
    project_id: ProjectId,
    number: Number,
    against: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="Another release; default: the original.")] = None,
    rows: Annotated[Literal["changed", "all"], Query(description="Only rows that differ, or all.")] = "changed",
    columns: Annotated[Literal["changed", "all"], Query(description="Only columns that differ, or all.")] = "all",
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> dict[str, Any]:
    """Rows of a release with the values that differ from the original, or from another release; for members of the project."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        release = releases.get(connection, project, number)
        other = None if against is None else releases.get(connection, project, against)
        dataset = datasets.get(connection, project, release.dataset_id) if other is None else None
    options: dict[str, Any] = {
        "offset": offset,
        "limit": limit,
        "changed_rows": rows == "changed",
        "changed_columns": columns == "changed",
    }
    page: ComparedPage | None
    only_here, only_there, reason = 0, 0, ""
    if other is not None:
        pair = comparing_releases.compare(core.settings, other, release, **options)
        page, only_here, only_there, reason = pair.page, pair.only_second, pair.only_first, pair.reason
        access_log.record_link(core.store, access.user, project, other, rows=offset)
    else:
        assert dataset is not None
        page = datasets.compare(core.settings, dataset, release, **options)
    access_log.record_link(core.store, access.user, project, release, rows=offset)
    described = {"columns": [], "rows": [], "total": 0, "changes": []} if page is None else _describe_page(page)
    return {
        "against": against, "offset": offset, "only_here": only_here, "only_there": only_there, "reason": reason, **described,
    }  # fmt: skip


def _describe_page(page: ComparedPage) -> dict[str, Any]:
    rows = [
        {
            "number": row["number"], "record": row["record"], "values": [cell["after"] for cell in row["cells"]],
            "others": {at: cell["before"] for at, cell in enumerate(row["cells"]) if cell["changed"]},
        }
        for row in page.rows
    ]  # fmt: skip
    changes = [{"name": one.name, "changed": one.changed, "records": one.records} for one in page.changes.columns]
    return {"columns": page.columns, "rows": rows, "total": page.total, "changes": changes}
