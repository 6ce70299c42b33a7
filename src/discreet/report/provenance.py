"""The provenance of a report: files with their hashes, versions, time and person.

The released file has a SHA-256 hash, which anybody who has the file can compute. A plain hash of the original would let a reader
test guesses of the whole table. The original therefore has only a keyed hash (HMAC-SHA256), in the internal report.
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
from discreet.convert.writing.destinations import format_place
from discreet.engine.runtime.private_files import create_private_folder, home_folder
from discreet.errors import DiscreetError, redact_credentials
from discreet.model.microdata import Microdata

_LIBRARIES = ("numba", "numpy", "polars", "scipy")


def describe_table(data: Microdata, location: str | Path | None) -> dict[str, Any]:
    """The name of a table, without any password, and its size."""
    return {
        "source": redact_location(location if location is not None else data.source),
        "records": len(data),
        "attributes": len(data.columns),
    }


def sha256(location: str | Path | None) -> str | None:
    """The hash of a file; a database table and a frame in memory have none."""
    if location is None or "://" in str(location):
        return None
    path = Path(location).expanduser()
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hash_key() -> bytes | None:
    """The random key for hashes of originals, stored in DISCREET_HOME; None where it cannot be stored."""
    path = home_folder() / "report.key"
    try:
        create_private_folder(path.parent)
        if not path.exists():
            with replacing(path, private=True, overwrite=False) as temporary:
                temporary.write_bytes(secrets.token_bytes(32))
    except (OSError, DiscreetError):
        if not path.exists():  # another run may have created it first
            return None
    try:
        return path.read_bytes()
    except OSError:
        return None


def keyed_hash(location: str | Path | None, key: bytes | None) -> dict[str, Any]:
    """The HMAC-SHA256 of the original file; empty where there is no key or no file.

    Internal reports of one installation about the same file have the same hash, and nobody without the key can test guesses of
    its content.
    """
    if key is None or location is None or "://" in str(location) or not (path := Path(location).expanduser()).is_file():
        return {}
    code = hmac.new(key, digestmod=hashlib.sha256)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            code.update(block)
    return {"hmac_sha256": code.hexdigest(), "hash_key": "this installation"}


def redact_location(location: str | Path) -> str:
    """The name of a file, or the URL of a database without its password."""
    text = str(location)
    if "://" not in text:
        return redact_credentials(Path(text).name) if text else text
    return redact_credentials(format_place(text))


def describe_run(by: str | None) -> dict[str, Any]:
    """When, by whom and with which software a report was made."""
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "by": by if by is not None else _user_name(),
        "discreet": version("discreet"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}, {len(os.sched_getaffinity(0))} cores",
        "libraries": {name: version(name) for name in _LIBRARIES},
    }


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
