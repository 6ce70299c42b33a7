"""The name under which the keys of a project are stored in the server's key ring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def key_project(inputs: Mapping[str, Any]) -> str:
    """The owner of the keys that a job may use: its project. It is never empty, which would mean all keys."""
    return f"project-{(inputs.get('project') or {}).get('id', 'unknown')}"
