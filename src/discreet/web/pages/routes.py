"""The pages put together."""

from __future__ import annotations

from fastapi import APIRouter

from discreet.web.pages import (
    account,
    admin,
    api_docs,
    attribute,
    attributes,
    data,
    events,
    methods,
    people,
    project,
    projects,
    steps,
)

router = APIRouter(include_in_schema=False)
for part in (
    api_docs,
    people,
    projects,
    account,
    admin,
    project,
    events,
    data,
    attributes,
    attribute,
    methods,
    steps,
):
    router.include_router(part.router)
