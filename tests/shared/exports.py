"""Exports of a release without a server: what the job of kind export does, in this process."""

from __future__ import annotations

from pathlib import Path

from discreet.web.jobs.exporting import write_export
from discreet.web.projects import release_files
from discreet.web.projects.releases import Release
from discreet.web.settings import Settings


def exported_file(settings: Settings, release: Release, form: str) -> Path:
    """The file of a release in a format, written on first use."""
    path = release_files.export_path(settings, release, form)
    if not path.is_file():
        inputs = {
            "folder": str(settings.folder(release.project_id)),
            "release": {"number": release.number, "file": release.file},
            "parameters": {"format": path.name.removeprefix("export.")},
        }
        write_export(inputs)
    return path
