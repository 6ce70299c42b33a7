"""Deletion of files that no database row refers to: of deleted projects, interrupted jobs and uploads never imported."""

from __future__ import annotations

import shutil

from sqlalchemy import select

from discreet.web.db import staging
from discreet.web.db.staging import list_folder
from discreet.web.db.store import Store
from discreet.web.db.tables import datasets, jobs, projects, releases
from discreet.web.settings import Settings


def delete_project_files(settings: Settings, project: int) -> None:
    """Delete all files of a deleted project; call it after the transaction is committed."""
    shutil.rmtree(settings.home / "projects" / str(project), ignore_errors=True)


def delete_orphaned_files(settings: Settings, store: Store) -> None:
    """Delete files left behind by an earlier server process; call it only while no job is running."""
    root = settings.home / "projects"
    if not root.is_dir():
        return
    with store.read() as connection:
        project_ids = set(connection.execute(select(projects.c.id)).scalars())
    for folder in root.iterdir():
        if not folder.name.isdigit() or int(folder.name) not in project_ids:
            shutil.rmtree(folder, ignore_errors=True)
            continue
        delete_unreferenced_files(settings, store, int(folder.name))
        for file in list_folder(folder / staging.UPLOADS):
            if file.name.startswith("."):  # broken off with the server
                file.unlink(missing_ok=True)
    staging.delete_abandoned(settings, store)


def delete_uploads(settings: Settings, project: int) -> None:
    """Delete the uploads of a project that are complete and were not imported, and their previews."""
    staging.delete_all_staged(settings.home / "projects" / str(project))


def delete_unreferenced_files(settings: Settings, store: Store, project: int) -> None:
    """Delete the files of a project that belong to no row: of interrupted jobs, and of what was purged."""
    folder = settings.home / "projects" / str(project)
    # listed before the rows are read, so that the files of a job that begins meanwhile are not among them
    data_files, release_folders = list_folder(folder / "data"), list_folder(folder / "releases")
    with store.read() as connection:
        dataset_files = set(connection.execute(select(datasets.c.file).where(datasets.c.project_id == project)).scalars())
        stored_releases = connection.execute(
            select(releases.c.file, releases.c.purged).where(releases.c.project_id == project)
        ).all()
        active = (jobs.c.project_id == project, jobs.c.state.in_(("queued", "running")))
        active_jobs = set(connection.execute(select(jobs.c.id).where(*active)).scalars())
    for file in data_files:
        job = file.name.split(".")[0]
        if f"data/{job}.parquet" not in dataset_files and job not in active_jobs:
            file.unlink(missing_ok=True)
    purged_files = {row.file: row.purged for row in stored_releases}
    for release_folder in release_folders:
        name = f"releases/{release_folder.name}/masked.parquet"
        if name not in purged_files and release_folder.name not in active_jobs:
            shutil.rmtree(release_folder, ignore_errors=True)
        elif purged_files.get(name) is not None:
            for file in list_folder(release_folder):
                if file.name == "link.parquet" or "confidential" in file.name:
                    file.unlink(missing_ok=True)


def delete_job_leftovers(settings: Settings, store: Store, job_id: str) -> None:
    """Delete the files that a finished job no longer needs: its upload if it succeeded, its output if it did not."""
    with store.read() as connection:
        job = connection.execute(select(jobs).where(jobs.c.id == job_id)).one_or_none()
    if job is None:
        return
    folder = settings.home / "projects" / str(job.project_id)
    if job.kind == "import" and job.state == "done":
        staging.delete_staged(folder, job.parameters)
    if job.state != "done":
        for file in (folder / "data").glob(f"*{job_id}*"):
            file.unlink(missing_ok=True)
        shutil.rmtree(folder / "releases" / job_id, ignore_errors=True)
