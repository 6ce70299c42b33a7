"""What lower layers need of higher ones, provided by the package itself when it is imported.

The engine reads tables that a policy's parameters name (a dictionary, a list of targets), but may not import the converter;
a result draws itself, but the model may not import the charts. ``discreet/__init__.py`` is the one place that knows all
layers: it provides loaders by name, and nothing is imported before a service is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

Service = Literal["read_table", "plots"]
_loaders: dict[Service, Callable[[], Any]] = {}


def provide(name: Service, load: Callable[[], Any]) -> None:
    """Say how a service is loaded when it is first used."""
    _loaders[name] = load


def service(name: Service) -> Any:
    """The function or module behind a service."""
    return _loaders[name]()
