"""The pages put together."""

from __future__ import annotations

from fastapi import APIRouter

from discreet.web.pages import people, projects

router = APIRouter(include_in_schema=False)
router.include_router(people.router)
router.include_router(projects.router)
