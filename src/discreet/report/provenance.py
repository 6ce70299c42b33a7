"""Where a report's numbers come from: files with their hashes, versions, time and person."""

from __future__ import annotations

import getpass
import hashlib
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from discreet.convert.destinations import shown_place
from discreet.errors import redact_credentials
from discreet.model.microdata import Microdata

_LIBRARIES = ("numba", "numpy", "polars", "scipy")


def table(data: Microdata, place: str | Path | None) -> dict[str, Any]:
    """What a table is: its name without any password, its size, and the SHA-256 of its file."""
    return {
        "source": shown(place if place is not None else data.source),
        "records": len(data),
        "attributes": len(data.columns),
        "sha256": sha256(place),
    }


def sha256(place: str | Path | None) -> str | None:
    """The hash of a file; a database table and a frame in memory have none."""
    if place is None or "://" in str(place):
        return None
    path = Path(place).expanduser()
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def shown(place: str | Path) -> str:
    """A file's name, or a database's address without its password."""
    text = str(place)
    if "://" not in text:
        return redact_credentials(Path(text).name) if text else text
    return redact_credentials(shown_place(text))


def made(by: str | None) -> dict[str, Any]:
    """When, by whom and with what."""
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "by": by if by is not None else _user(),
        "discreet": version("discreet"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}, {len(os.sched_getaffinity(0))} cores",
        "libraries": {name: version(name) for name in _LIBRARIES},
    }


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
