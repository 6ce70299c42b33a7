"""Write a backup while the server runs: a snapshot of the database, then the files that its rows name, in one encrypted archive.

The rows come from one transaction that sees a single moment. A file is written before the row that names it and deleted after
it, so the files are there, unless somebody deletes them meanwhile; then the backup starts again. The end of the audit log is that
of the snapshot. Output of jobs that are running is left out: they run again after a restore.
"""

from __future__ import annotations

import io
import json
import stat
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sqlalchemy import Connection, select, text

from discreet import __version__
from discreet.convert.writing.atomic import replacing
from discreet.errors import DiscreetError, SourceError
from discreet.web.backup import tables
from discreet.web.backup.encryption import EncryptingWriter, check_passphrase
from discreet.web.db import audit
from discreet.web.db.audit_key import HEAD_FILE
from discreet.web.db.store import Store, now
from discreet.web.db.tables import datasets, jobs, projects, releases
from discreet.web.jobs.queue import ACTIVE
from discreet.web.settings import Settings

FORMAT = 1
TREES = ("projects", "keys")
_LEFT_OUT_PREFIXES = (".", "discreet.db", "releases.db")
ATTEMPTS = 5


@dataclass(frozen=True)
class WrittenBackup:
    """What a backup holds, and which files it should hold but could not find."""

    rows: int
    files: int
    missing: tuple[str, ...]


def write_backup(settings: Settings, store: Store, target: Path, passphrase: str, *, overwrite: bool = False) -> WrittenBackup:
    """Write a backup of an installation; files that are missing in each of several attempts are reported."""
    check_passphrase(passphrase)
    if target.resolve().is_relative_to(settings.home):
        raise SourceError(f"{target}: is in the data directory, which the backup is to survive; name another place")
    if target.exists() and not overwrite:
        raise SourceError(f"{target}: exists already; add --overwrite to replace it")
    with store.write() as connection:
        audit.record(connection, "command line", "backup made", file=target.name)
    for attempt in range(ATTEMPTS):
        with suppress(_FilesVanishedError), replacing(target, private=True, overwrite=overwrite) as temporary:
            with temporary.open("wb") as file:
                written = _write_archive(settings, store, file, passphrase)
            if written.missing and attempt < ATTEMPTS - 1:
                raise _FilesVanishedError
            return written
    raise SourceError(f"{target}: files were deleted during each of {ATTEMPTS} attempts; try again in a moment")


class _FilesVanishedError(DiscreetError):
    """Files were deleted or cut while the backup was written."""


def _write_archive(settings: Settings, store: Store, file: IO[bytes], passphrase: str) -> WrittenBackup:
    encrypting = EncryptingWriter(file, passphrase)
    rows = files = 0
    with (
        tarfile.open(fileobj=encrypting, mode="w|", format=tarfile.PAX_FORMAT) as archive,  # type: ignore[call-overload]
        store.snapshot() as connection,
    ):
        _add_bytes(archive, "manifest.json", json.dumps(_describe(connection)).encode())
        for number, (name, content) in enumerate(tables.dump_tables(connection)):
            _add_bytes(archive, f"tables/{number:06d}/{name}.jsonl", content)
            rows += content.count(b"\n") + bool(content)
        _add_bytes(archive, f"files/{HEAD_FILE}", str(audit.read_head(connection)).encode())
        named = set(_named_files(connection))
        for path in _list_files(settings.home, connection):
            name = path.relative_to(settings.home).as_posix()
            if _add_file(archive, f"files/{name}", path):
                named.discard(name)
                files += 1
    encrypting.finish()
    return WrittenBackup(rows, files, tuple(sorted(named)))


def _describe(connection: Connection) -> dict[str, object]:
    revision = connection.execute(text("SELECT version_num FROM discreet_schema")).scalar_one()
    return {"format": FORMAT, "discreet": __version__, "schema": revision, "created": now()}


def _named_files(connection: Connection) -> Iterator[str]:
    """The files that rows name, which must be in the backup: tables, releases, and uploads that wait for their import."""
    for table in (datasets, releases):
        for project, file in connection.execute(select(table.c.project_id, table.c.file).where(table.c.file != "")):
            yield f"projects/{project}/{file}"
    waiting = select(jobs.c.project_id, jobs.c.parameters).where(jobs.c.kind == "import", jobs.c.state.in_(ACTIVE))
    for project, parameters in connection.execute(waiting):
        if upload := parameters.get("upload"):
            yield f"projects/{project}/uploads/{upload}"


def _list_files(home: Path, connection: Connection) -> Iterator[Path]:
    """The files of an installation, without its databases, locks, temporary files, deleted projects and running jobs."""
    project_ids = {str(number) for number in connection.execute(select(projects.c.id)).scalars()}
    running = tuple(connection.execute(select(jobs.c.id).where(jobs.c.state.in_(ACTIVE))).scalars())
    for entry in sorted(home.iterdir()):
        if entry.is_file() and not entry.name.startswith(_LEFT_OUT_PREFIXES) and entry.name != HEAD_FILE:
            yield entry
    for tree in TREES:
        for path in sorted((home / tree).rglob("*")):
            parts = path.relative_to(home).parts
            if any(part.startswith(".") for part in parts) or path.is_symlink():
                continue
            if tree == "projects" and (parts[1] not in project_ids or any(job in part for part in parts[2:] for job in running)):
                continue
            yield path


def _add_bytes(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o600
    archive.addfile(entry, io.BytesIO(content))


def _add_file(archive: tarfile.TarFile, name: str, path: Path) -> bool:
    """Add a file as long as it is at this moment; whether it is there, and a file."""
    try:
        with path.open("rb") as file:
            entry = tarfile.TarInfo(name)
            status = path.stat()
            entry.size, entry.mode = status.st_size, 0o600
            if not stat.S_ISREG(status.st_mode):
                return False
            archive.addfile(entry, file)
    except (FileNotFoundError, IsADirectoryError):
        return False
    except OSError as error:
        if "end of data" in str(error):  # it was cut while it was read
            raise _FilesVanishedError from None
        raise SourceError(f"{path}: cannot be read: {error.strerror or error}") from None
    return True
