"""discreet turns confidential microdata into a release that its owner can defend."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.model.services import register_service

if TYPE_CHECKING:
    from discreet.errors import DiscreetError
    from discreet.model.attribute import Attribute
    from discreet.model.microdata import Microdata
    from discreet.model.policy import Plan, Policy
    from discreet.model.results import Assessment, Release
    from discreet.model.score import Score
    from discreet.verbs import (
        analyze,
        assess,
        explain,
        link,
        loss,
        mask,
        read,
        risk,
        scan,
        select,
        sensitivity,
        write,
        write_link,
    )
    from discreet.web.client import Client

    __version__: str

_HOMES = {
    "Client": "discreet.web.client",
    "DiscreetError": "discreet.errors",
    "Attribute": "discreet.model.attribute",
    "Microdata": "discreet.model.microdata",
    "Plan": "discreet.model.policy",
    "Policy": "discreet.model.policy",
    "Assessment": "discreet.model.results",
    "Release": "discreet.model.results",
    "Score": "discreet.model.score",
    **dict.fromkeys(
        (
            "analyze",
            "assess",
            "explain",
            "link",
            "loss",
            "mask",
            "read",
            "risk",
            "scan",
            "select",
            "sensitivity",
            "write",
            "write_link",
        ),
        "discreet.verbs",
    ),
}

__all__ = [
    "Assessment", "Attribute", "Client", "DiscreetError", "Microdata", "Plan", "Policy", "Release", "Score",
    "analyze", "assess", "explain", "link", "loss", "mask", "read", "risk", "scan", "select", "sensitivity", "write",
    "write_link",
]  # fmt: skip


register_service("read_table", lambda: import_module("discreet.convert").read_source)
register_service("plots", lambda: import_module("discreet.report.plots"))


def __getattr__(name: str) -> Any:
    """Load a name when it is first used, so that the command line starts at once."""
    if name == "__version__":
        return import_module("discreet.model.version").VERSION
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet' has no attribute '{name}'")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
