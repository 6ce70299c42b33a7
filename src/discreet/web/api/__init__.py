"""The REST interface under /api/v1, one module per resource."""

from __future__ import annotations

from fastapi import APIRouter

from discreet.web.api.catalog import catalog_router
from discreet.web.api.comparisons import comparisons_router
from discreet.web.api.data import data_router
from discreet.web.api.drafts import drafts_router
from discreet.web.api.gate import gate_router
from discreet.web.api.groups import groups_router
from discreet.web.api.hierarchies import hierarchies_router
from discreet.web.api.jobs import jobs_router
from discreet.web.api.people import people_router
from discreet.web.api.previews import previews_router
from discreet.web.api.projects import projects_router
from discreet.web.api.releases import releases_router
from discreet.web.api.workspace import workspace_router

router = APIRouter()
for part in (
    people_router,
    catalog_router,
    projects_router,
    groups_router,
    data_router,
    previews_router,
    hierarchies_router,
    jobs_router,
    releases_router,
    gate_router,
    workspace_router,
    drafts_router,
    comparisons_router,
):
    router.routes.extend(part.routes)  # flat, because FastAPI asks included routers one after the other, each twice
