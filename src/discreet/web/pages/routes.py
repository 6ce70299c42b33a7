"""The routes of all pages, in one flat list: the router of every page is asked in vain for a page that follows it."""

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
    guesses,
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
from discreet.web.workspace import draft_pages
from discreet.web.workspace import page as workspace

router = APIRouter()
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
    guesses,
    risk,
    methods,
    steps,
    wizard,
    generate,
    downloads,
    assess,
    charts,
    release,
    workspace,
    draft_pages,
):
    router.routes.extend(module.router.routes)
