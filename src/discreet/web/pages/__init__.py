"""The walk, one module a step."""

from __future__ import annotations

from discreet.web.pages.rendering import error_page
from discreet.web.pages.routes import router

__all__ = ["error_page", "router"]
