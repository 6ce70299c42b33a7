"""REST under /api/v1, one module a noun."""

from __future__ import annotations

from fastapi import APIRouter

from discreet.web.api.catalog import catalog
from discreet.web.api.data import data
from discreet.web.api.jobs import jobs
from discreet.web.api.people import people
from discreet.web.api.projects import found
from discreet.web.api.releases import made

router = APIRouter(prefix="/api/v1")
for part in (people, catalog, found, data, jobs, made):
    router.include_router(part)
