"""One router that includes the router of every page."""

from __future__ import annotations

from fastapi import APIRouter

from discreet.web.pages import (
    account,
    admin,
    api_docs,
    assess,
    attribute,
    attributes,
    charts,
    data,
    downloads,
    events,
    generate,
    methods,
    people,
    project,
    projects,
    release,
    risk,
    steps,
    wizard,
)

router = APIRouter(include_in_schema=False)
for module in (
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
    risk,
    methods,
    steps,
    wizard,
    generate,
    downloads,
    assess,
    charts,
    release,
):
    router.include_router(module.router)
