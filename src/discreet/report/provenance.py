"""Where a report's numbers come from: files with their hashes, versions, time and person.

The released file has a SHA-256, which anybody can compute who has the file. A plain hash of the original would let a reader try
guesses of the whole table until one fits. The original therefore has a keyed hash only (HMAC-SHA256), in the internal report.
"""

from __future__ import annotations

import getpass
import hashlib
import hmac
import os
import platform
import secrets
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from discreet.convert.writing.atomic import replacing
from discreet.convert.writing.destinations import shown_place
from discreet.engine.runtime.private_files import create_private_folder, home_folder
from discreet.errors import DiscreetError, redact_credentials
from discreet.model.microdata import Microdata

_LIBRARIES = ("numba", "numpy", "polars", "scipy")


def table(data: Microdata, place: str | Path | None) -> dict[str, Any]:
    """What a table is: its name without any password, and its size."""
    return {
        "source": shown(place if place is not None else data.source),
        "records": len(data),
        "attributes": len(data.columns),
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


def hash_key() -> bytes | None:
    """The key for hashes of originals, a random one in DISCREET_HOME; None where it cannot be kept there."""
    path = home_folder() / "report.key"
    try:
        create_private_folder(path.parent)
        if not path.exists():
            with replacing(path, private=True, overwrite=False) as temporary:
                temporary.write_bytes(secrets.token_bytes(32))
    except (OSError, DiscreetError):
        if not path.exists():  # where another run made it first, that one is taken
            return None
    try:
        return path.read_bytes()
    except OSError:
        return None


def keyed_hash(place: str | Path | None, key: bytes | None) -> dict[str, Any]:
    """The HMAC-SHA256 of the original's file; nothing where there is no key or no file.

    Two internal reports of one installation have the same hash where they are about the same file, and nobody without the key can
    try guesses of its content.
    """
    if key is None or place is None or "://" in str(place) or not (path := Path(place).expanduser()).is_file():
        return {}
    code = hmac.new(key, digestmod=hashlib.sha256)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            code.update(block)
    return {"hmac_sha256": code.hexdigest(), "hash_key": "this installation"}


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
