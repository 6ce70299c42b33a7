"""The available masking methods and measures, described by the plug-ins themselves."""

from __future__ import annotations

from typing import Any

from discreet import registry
from discreet.web.api.routing import create_router
from discreet.web.auth.security import Caller

catalog_router = create_router("catalog")


@catalog_router.get("/methods", response_model=list[dict[str, Any]])
def methods(access: Caller) -> list[dict[str, Any]]:
    """The masking methods with their parameters."""
    access.require_scope("read")
    return registry.describe("masking")


@catalog_router.get("/measures", response_model=list[dict[str, Any]])
def measures(access: Caller) -> list[dict[str, Any]]:
    """The risk and information-loss measures, with their parameters and the meaning of their fields."""
    access.require_scope("read")
    return [*registry.describe("risk"), *registry.describe("loss")]
