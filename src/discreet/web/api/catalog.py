"""What can be measured and done: made from the plug-ins themselves."""

from __future__ import annotations

from typing import Any

from discreet import registry
from discreet.web.api.routing import router
from discreet.web.auth.security import Asking

catalog = router("catalog")


@catalog.get("/methods", response_model=list[dict[str, Any]])
def methods(access: Asking) -> list[dict[str, Any]]:
    """The masking methods with their parameters."""
    access.demand("read")
    return registry.describe("masking")


@catalog.get("/measures", response_model=list[dict[str, Any]])
def measures(access: Asking) -> list[dict[str, Any]]:
    """The risk and loss measures with their parameters and what their numbers mean."""
    access.demand("read")
    return [*registry.describe("risk"), *registry.describe("loss")]
