"""Functions of higher layers that lower layers need, registered by the package when it is imported.

The engine reads tables that a policy's parameters name (a dictionary, a list of targets), but may not import the converter;
results have ``plot()``, but the model may not import the charts. ``discreet/__init__.py`` knows all layers: it registers loaders
by name, and nothing is imported before a service is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

Service = Literal["read_table", "plots"]
_loaders: dict[Service, Callable[[], Any]] = {}


def register_service(name: Service, load: Callable[[], Any]) -> None:
    """Register the function that loads a service when it is first used."""
    _loaders[name] = load


def get_service(name: Service) -> Any:
    """The function or module of a service."""
    return _loaders[name]()
