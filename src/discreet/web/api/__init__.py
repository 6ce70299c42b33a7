"""REST under /api/v1, one module a noun."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="/api/v1")
