"""Files that no row speaks of any more: of deleted projects, of jobs that were cut, of uploads that nobody imported."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from sqlalchemy import select

from discreet.web.db.store import Store
from discreet.web.db.tables import datasets, jobs, projects, releases
from discreet.web.settings import Settings

UPLOAD_HOURS = 24.0
"""How long an upload waits for its import."""


def forget(settings: Settings, project: int) -> None:
    """Delete all files of a project that was deleted; call it when the transaction is over."""
    shutil.rmtree(settings.home / "projects" / str(project), ignore_errors=True)


def sweep(settings: Settings, store: Store) -> None:
    """Delete what an earlier server left behind; only while no job runs."""
    root = settings.home / "projects"
    if not root.is_dir():
        return
    with store.read() as connection:
        living = set(connection.execute(select(projects.c.id)).scalars())
        kept: dict[int, set[str]] = {}
        for table in (datasets, releases):
            for row in connection.execute(select(table.c.project_id, table.c.file)).all():
                kept.setdefault(row.project_id, set()).add(row.file)
        waiting = select(jobs.c.id).where(jobs.c.state.in_(("queued", "running")))
        busy = set(connection.execute(waiting).scalars())
    for folder in root.iterdir():
        if not folder.name.isdigit() or int(folder.name) not in living:
            shutil.rmtree(folder, ignore_errors=True)
            continue
        held = kept.get(int(folder.name), set())
        for file in _in(folder / "data"):
            if f"data/{file.name.split('.')[0]}.parquet" not in held:
                file.unlink(missing_ok=True)
        for place in _in(folder / "releases"):
            if f"releases/{place.name}/masked.parquet" not in held and place.name not in busy:
                shutil.rmtree(place, ignore_errors=True)
        for file in _in(folder / "uploads"):
            if file.name.startswith(".") or time.time() - file.stat().st_mtime > UPLOAD_HOURS * 3600:
                file.unlink(missing_ok=True)


def after(settings: Settings, store: Store, job_id: str) -> None:
    """Delete what a job that is over does not need any more."""
    with store.read() as connection:
        job = connection.execute(select(jobs).where(jobs.c.id == job_id)).one_or_none()
    if job is None:
        return
    folder = settings.home / "projects" / str(job.project_id)
    if job.kind == "import" and job.state == "done" and "upload" in job.parameters:
        (folder / "uploads" / job.parameters["upload"]).unlink(missing_ok=True)
    if job.state != "done":
        for file in (folder / "data").glob(f"*{job_id}*"):
            file.unlink(missing_ok=True)
        shutil.rmtree(folder / "releases" / job_id, ignore_errors=True)


def _in(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []
