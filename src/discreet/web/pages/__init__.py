"""The pages of the web application: one module per page or step of the workflow."""

from __future__ import annotations

from discreet.web.pages.rendering import error_page
from discreet.web.pages.routes import router

__all__ = ["error_page", "router"]
