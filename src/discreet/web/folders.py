"""A project's folder taken away: first out of sight in one step, then file by file."""

from __future__ import annotations

import secrets
import shutil

from discreet.web.settings import Settings


def drop(settings: Settings, project: int) -> None:
    """Delete the tables and results of a project that is gone from the database."""
    place = settings.folder(project)
    away = place.with_name(f".{place.name}.{secrets.token_hex(8)}.gone")
    place.rename(away)
    shutil.rmtree(away, ignore_errors=True)
