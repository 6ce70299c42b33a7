"""Files that wait between an upload and its import: the upload, and the previews of how it would be read.

They lie in the project's private folder and count against its quota. They are deleted when the upload is imported, when it is
discarded, or a day after they were written.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import select

from discreet.web.db.store import Store
from discreet.web.db.tables import jobs
from discreet.web.settings import Settings

UPLOADS, PREVIEWS = "uploads", "previews"
LIFETIME_HOURS = 24.0
"""Hours after which an upload that was not imported, and its previews, are deleted."""
MAX_PREVIEWS = 5
"""Previews of one upload or table that are kept."""
MAX_WAITING = 50
"""Most uploads of a project that wait for their import."""


def staging_key(parameters: Mapping[str, Any]) -> str:
    """What the previews of one upload, or of one table of a connected database, have in common."""
    if "upload" in parameters:
        return str(parameters["upload"]).split(".", maxsplit=1)[0]
    return hashlib.sha256(f"{parameters.get('source')}\0{parameters.get('table')}".encode()).hexdigest()[:32]


def preview_path(folder: Path, parameters: Mapping[str, Any], job_id: str) -> Path:
    """The file of a preview."""
    return folder / PREVIEWS / f"{staging_key(parameters)}-{job_id}.json"


def delete_older_previews(newest: Path, key: str) -> None:
    """Delete all but the newest previews of one upload or table, so that they do not add up."""
    files = sorted(newest.parent.glob(f"{key}-*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in files[MAX_PREVIEWS:]:
        if file != newest:
            file.unlink(missing_ok=True)


def count_waiting(folder: Path) -> int:
    """Uploads of a project that are complete and not yet imported."""
    return sum(not file.name.startswith(".") for file in list_folder(folder / UPLOADS))


def delete_staged(folder: Path, parameters: Mapping[str, Any]) -> None:
    """Delete an upload and all previews of it, or all previews of a table."""
    if "upload" in parameters:
        (folder / UPLOADS / str(parameters["upload"])).unlink(missing_ok=True)
    for file in (folder / PREVIEWS).glob(f"{staging_key(parameters)}-*.json"):
        file.unlink(missing_ok=True)


def delete_all_staged(folder: Path) -> None:
    """Delete the complete uploads and all previews of a project."""
    for file in [*list_folder(folder / UPLOADS), *list_folder(folder / PREVIEWS)]:
        if not file.name.startswith("."):
            file.unlink(missing_ok=True)


def delete_abandoned(settings: Settings, store: Store) -> None:
    """Delete uploads and previews of all projects that nobody has used for a day, while the server is running."""
    with store.read() as connection:
        query = select(jobs.c.parameters).where(jobs.c.kind.in_(("import", "preview")), jobs.c.state.in_(("queued", "running")))
        active = {staging_key(parameters) for parameters in connection.execute(query).scalars()}
    root = settings.home / "projects"
    for folder in list_folder(root):
        for file in [*list_folder(folder / UPLOADS), *list_folder(folder / PREVIEWS)]:
            key = file.name.removeprefix(".")[:32]
            if key not in active and _is_abandoned(file):
                file.unlink(missing_ok=True)


def _is_abandoned(file: Path) -> bool:
    try:
        return time.time() - file.stat().st_mtime > LIFETIME_HOURS * 3600
    except OSError:
        return False  # it was deleted meanwhile


def list_folder(folder: Path) -> list[Path]:
    """The entries of a folder; none if there is no such folder."""
    return list(folder.iterdir()) if folder.is_dir() else []
