"""Restore a backup into an empty data directory and an empty database.

The file is read twice: first to authenticate it to its end, so that nothing of a damaged one is written, then to restore it. The
tables are created as they were when the backup was made, filled, and migrated to the current version. Published tables are
written anew from the releases. If anything fails, both places are left empty.
"""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

from sqlalchemy import make_url, select, update

from discreet.engine.runtime.private_files import create_private_folder
from discreet.errors import DiscreetError, SourceError
from discreet.web.backup import tables
from discreet.web.backup.archive import FORMAT
from discreet.web.backup.encryption import PIECE_BYTES, DecryptingReader
from discreet.web.db import audit
from discreet.web.db.server_lock import ServerLock
from discreet.web.db.store import Store
from discreet.web.db.tables import jobs, projects, releases
from discreet.web.jobs.publishing import publish_release
from discreet.web.settings import Settings

STAGING = ".restoring"


def restore_backup(settings: Settings, source: Path, passphrase: str) -> list[str]:
    """Restore a backup; returns sentences about what could not be restored."""
    _authenticate(source, passphrase)
    lock = ServerLock.acquire(settings)
    try:
        _check_empty(settings)
        staging = create_private_folder(settings.home / STAGING)
        store = Store(settings.database)
        try:
            _restore_all(settings, store, staging, source, passphrase)
        except BaseException:
            _undo(settings, store)
            raise
        finally:
            shutil.rmtree(staging, ignore_errors=True)
            store.close()
        return _complete(settings)
    finally:
        lock.release()


@contextmanager
def _open_backup(source: Path, passphrase: str) -> Iterator[DecryptingReader]:
    try:
        with source.open("rb") as file:
            yield DecryptingReader(file, str(source), passphrase)
    except OSError as error:
        raise SourceError(f"{source}: cannot be read: {error.strerror or error}") from None


def _authenticate(source: Path, passphrase: str) -> None:
    with _open_backup(source, passphrase) as reader:
        while reader.read(PIECE_BYTES):
            pass


def _check_empty(settings: Settings) -> None:
    if present := sorted(entry.name for entry in settings.home.iterdir() if not _is_auxiliary(entry)):
        raise SourceError(
            f"{settings.home}: is not empty (it has {present[0]}); a backup is restored into an empty data directory only"
        )
    if (path := _sqlite_file(settings)) is not None:
        if path.exists() and path.stat().st_size:
            raise SourceError(f"{path}: exists already; a backup is restored into an empty database only")
        return
    store = Store(settings.database)
    try:
        with store.read() as connection:
            present = tables.list_tables(connection)
    finally:
        store.close()
    if present:
        raise SourceError(
            f"{store.redacted_address}: has tables of a server already; a backup is restored into an empty database only"
        )


def _restore_all(settings: Settings, store: Store, staging: Path, source: Path, passphrase: str) -> None:
    with (
        _open_backup(source, passphrase) as reader,
        tarfile.open(fileobj=reader, mode="r|") as archive,  # type: ignore[call-overload]
    ):
        members = iter(archive)
        manifest = _read_manifest(archive, next(members), source)
        store.migrate(str(manifest["schema"]))
        with store.write() as connection:
            connection.exec_driver_sql("DELETE FROM discreet_chain")  # the first migration fills it
            for member in members:
                name = PurePosixPath(member.name)
                content = archive.extractfile(member)
                if content is None or ".." in name.parts:
                    raise SourceError(f"{source}: the backup holds {member.name[:80]!r}, which is neither a table nor a file")
                if name.parts[0] == "tables":
                    tables.insert_rows(connection, name.stem, content.read())
                elif name.parts[0] == "files":
                    _write_file(staging.joinpath(*name.parts[1:]), content)
            tables.advance_sequences(connection)
        store.migrate()
    for entry in staging.iterdir():
        entry.rename(settings.home / entry.name)


def _read_manifest(archive: tarfile.TarFile, member: tarfile.TarInfo, source: Path) -> dict[str, Any]:
    content = archive.extractfile(member)
    manifest: dict[str, Any] = json.loads(content.read()) if content is not None and member.name == "manifest.json" else {}
    if manifest.get("format") != FORMAT:
        raise SourceError(f"{source}: was made by another version of discreet ({manifest.get('discreet', 'unknown')})")
    return manifest


def _write_file(path: Path, content: IO[bytes]) -> None:
    create_private_folder(path.parent)
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        shutil.copyfileobj(content, file, 1 << 20)
        file.flush()
        os.fsync(descriptor)


def _undo(settings: Settings, store: Store) -> None:
    """Leave both places as empty as they were."""
    path = _sqlite_file(settings)
    if path is None:
        with store.write() as connection:
            tables.drop_tables(connection)
    store.close()
    for entry in list(settings.home.iterdir()):
        if not _is_auxiliary(entry):
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink(missing_ok=True)
    if path is not None:
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def _is_auxiliary(entry: Path) -> bool:
    """Whether an entry of the data directory is a lock, a cache or the staging folder, none of which a backup holds."""
    return entry.name.startswith(".")


def _sqlite_file(settings: Settings) -> Path | None:
    """The file of the database; None where it is a server's."""
    url = make_url(settings.database)
    return Path(str(url.database)) if url.get_backend_name() == "sqlite" else None


def _complete(settings: Settings) -> list[str]:
    """Queue the jobs that were running, write published tables, and record the restore."""
    store = Store.open(settings)
    try:
        with store.write() as connection:
            interrupted = {"state": "queued", "pid": None, "what": "restored from a backup; queued again"}
            connection.execute(update(jobs).where(jobs.c.state == "running").values(**interrupted))
            audit.record(connection, "command line", "restored from a backup")
        return list(_publish_again(settings, store))
    finally:
        store.close()


def _publish_again(settings: Settings, store: Store) -> Iterator[str]:
    with store.read() as connection:
        query = (
            select(releases, projects.c.table_name.label("public_name"), projects.c.grants)
            .join(projects, projects.c.id == releases.c.project_id)
            .where(releases.c.state == "published")
        )
        published = [dict(row) for row in connection.execute(query).mappings()]
    for release in published:
        table_name = str(release["table_name"] or release["public_name"])
        inputs = {
            "release": release,
            "published": settings.published,
            "project": {"table_name": table_name},
            "folder": str(settings.folder(release["project_id"])),
            "grants": list(release["grants"] or []),
        }
        try:
            publish_release(inputs)
        except DiscreetError as error:
            yield f"the published table {table_name} could not be written: {error}"
