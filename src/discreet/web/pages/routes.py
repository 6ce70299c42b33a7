"""One router that includes the router of every page."""

from __future__ import annotations

from fastapi import APIRouter

from discreet.web.pages import (
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
    preview,
    project,
    projects,
    release,
    risk,
    steps,
    wizard,
)
from discreet.web.pages.access import account, second_factor, sso

router = APIRouter(include_in_schema=False)
for module in (
    api_docs,
    people,
    projects,
    sso,
    second_factor,
    account,
    admin,
    project,
    events,
    data,
    preview,
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
