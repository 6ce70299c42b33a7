"""The initial microdata of a project: received as uploads, stored as Parquet, read page by page.

The name of an upload is not trusted: only its suffix is used, and it must be one of the known formats. The conversion to
Parquet runs as a job in a separate process (see :mod:`discreet.web.jobs`), so that an unreadable file cannot harm the server.
"""

from __future__ import annotations

import errno
import math
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from sqlalchemy import Connection, Row, select

from discreet.convert.files.formats import FORMATS
from discreet.convert.places.archives import SUFFIX as ARCHIVE_SUFFIX
from discreet.engine.runtime.memory import format_size
from discreet.engine.runtime.private_files import create_private_folder
from discreet.web.auth.accounts import User
from discreet.web.db import audit, staging
from discreet.web.db.sweeping import delete_project_files
from discreet.web.db.tables import datasets, users
from discreet.web.errors import Conflict, DiskFull, InvalidRequest, NotFound, TooLarge, TooManyRequests
from discreet.web.projects import projects
from discreet.web.projects.comparing import ComparedPage, compare_rows
from discreet.web.projects.paging import Page, read_rows
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

if TYPE_CHECKING:
    from discreet.web.projects.releases import Release

__all__ = [
    "ComparedPage",
    "Dataset",
    "DiskFull",
    "Page",
    "Upload",
    "choose",
    "compare",
    "delete_project_files",
    "get",
    "list_datasets",
    "path",
    "read_rows",
    "receive_upload",
]  # fmt: skip

CHUNK = 1 << 20
UPLOAD_NAME = re.compile(r"[0-9a-f]{32}(\.[a-z0-9]{1,10}){1,2}")


@dataclass(frozen=True)
class Dataset:
    """A dataset of initial microdata."""

    id: int
    project_id: int
    name: str
    file: str
    records: int
    bytes: float
    sha256: str
    columns: list[dict[str, Any]]
    """One entry per column: name, type, nulls, distinct."""
    profile: dict[str, Any] | None
    """The Analyzer's proposal (:meth:`discreet.analysis.profile.Profile.to_dict`), or None before it has run."""
    created: float
    user: str | None
    purged: float | None
    """When its content was deleted."""


def get(connection: Connection, project: Project, dataset_id: int | None = None) -> Dataset:
    """A dataset of a project; default: the current one."""
    selected_id = project.dataset_id if dataset_id is None else dataset_id
    if selected_id is None:
        raise NotFound(f"the project '{project.name}' has no initial microdata yet; upload a file first")
    row = connection.execute(_select_datasets(project).where(datasets.c.id == selected_id)).one_or_none()
    if row is None:
        raise NotFound(f"the project '{project.name}' has no dataset {selected_id}")
    return _dataset_from_row(row)


def list_datasets(connection: Connection, project: Project) -> list[Dataset]:
    """A project's datasets, newest first."""
    return [_dataset_from_row(row) for row in connection.execute(_select_datasets(project).order_by(datasets.c.id.desc())).all()]


def choose(connection: Connection, user: User, project: Project, dataset_id: int) -> Dataset:
    """Use a dataset as the project's initial microdata."""
    project.require_role("editor")
    dataset = get(connection, project, dataset_id)
    if dataset.purged is not None:
        raise Conflict(f"the content of the dataset '{dataset.name}' was purged; import the table again")
    projects.mark_updated(connection, project.id, dataset_id=dataset.id)
    audit.record(connection, user.name, "dataset chosen", project.id, dataset=dataset.id)
    return dataset


def path(settings: Settings, dataset: Dataset) -> Path:
    """The Parquet file of a dataset."""
    if not dataset.file:
        raise NotFound(f"the content of the dataset '{dataset.name}' was purged")
    return settings.folder(dataset.project_id) / dataset.file


def compare(settings: Settings, dataset: Dataset, release: Release, **options: Any) -> ComparedPage:
    """Compare a masked table with its original dataset, cell by cell; only for users who may see the original data.

    ``options`` are those of :func:`discreet.web.projects.comparing.compare_rows`.
    """
    if release.dataset_id != dataset.id or release.project_id != dataset.project_id:
        raise InvalidRequest(f"release {release.number} was not created from the dataset '{dataset.name}'")
    masked = settings.folder(release.project_id) / release.file
    if release.purged is not None:
        raise NotFound(f"the original of release {release.number} and the link to it were purged")
    return compare_rows(settings, path(settings, dataset), masked, masked.with_name("link.parquet"), **options)


class Upload:
    """An upload in progress: written chunk by chunk, and kept only if it is complete.

    >>> # with Upload(settings, project, "patients.csv") as upload:
    >>> #     for chunk in chunks: upload.write(chunk)
    >>> # an import job refers to upload.path.name
    """

    def __init__(self, settings: Settings, project: Project, name: str, room: float = math.inf) -> None:
        project.require_role("editor")
        folder = settings.folder(project.id) / staging.UPLOADS
        create_private_folder(folder)
        if staging.count_waiting(folder.parent) >= staging.MAX_WAITING:
            raise TooManyRequests(
                f"{staging.MAX_WAITING} uploaded files of this project wait for their import; import or discard some of them",
                seconds=3600,
            )
        self.path = folder / f"{secrets.token_hex(16)}{format_suffix(name)}"
        self.limit = settings.upload_limit
        self.room = room
        """Bytes that the quotas and the disk leave."""
        self.size = 0
        self._part = self.path.with_name(f".{self.path.name}.part")

    def __enter__(self) -> Self:
        self._file = os.fdopen(os.open(self._part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")
        return self

    def write(self, chunk: bytes) -> None:
        """Write a chunk."""
        self.size += len(chunk)
        if self.size > self.limit:
            raise TooLarge(f"the file is larger than the upload limit of {self.limit / 2**20:,.0f} MiB")
        if self.size > self.room:
            raise DiskFull(
                f"the file is larger than the {format_size(max(self.room, 0))} that are left of the quota; it was not saved"
            )
        with _convert_disk_full():
            self._file.write(chunk)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            with _convert_disk_full():
                self._file.close()
            if kind is None:
                if not self.size:
                    raise InvalidRequest("the file is empty")
                self._part.replace(self.path)
        finally:
            self._part.unlink(missing_ok=True)


def receive_upload(
    settings: Settings, project: Project, chunks: Iterable[bytes] | BinaryIO, name: str, room: float = math.inf
) -> Path:
    """Stream an upload into the project's folder; returns its path."""
    if hasattr(chunks, "read"):
        read = chunks.read
        chunks = iter(lambda: read(CHUNK), b"")
    with Upload(settings, project, name, room) as upload:
        for chunk in chunks:
            upload.write(chunk)
    return upload.path


def format_suffix(name: str) -> str:
    """The longest suffix of a known format that a file name ends with."""
    lowered = name.strip().lower()
    matching = [known_suffix for known_suffix in (*FORMATS, ARCHIVE_SUFFIX) if lowered.endswith(known_suffix)]
    if not matching:
        known = ", ".join(known_suffix for known_suffix in (*FORMATS, ARCHIVE_SUFFIX) if known_suffix.count(".") == 1)
        raise InvalidRequest(f"'{display_name(name)}' does not have the suffix of a known format: {known}")
    return max(matching, key=len)


def display_name(name: str) -> str:
    """The name of a file or table as shown to users, without folders and non-printable characters."""
    last = re.split(r"[/\\]", name.strip())[-1]
    return "".join(character for character in last if character.isprintable())[:200] or "unnamed"


@contextmanager
def _convert_disk_full() -> Iterator[None]:
    """Turn the operating system's error about a full disk into ``DiskFull``."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise DiskFull("the server's disk is full; the upload was not saved") from None


def _select_datasets(project: Project) -> Any:
    return (
        select(datasets, users.c.name.label("user"))
        .outerjoin(users, users.c.id == datasets.c.user_id)
        .where(datasets.c.project_id == project.id)
    )


def _dataset_from_row(row: Row[Any]) -> Dataset:
    return Dataset(**{name: row._mapping[name] for name in Dataset.__dataclass_fields__})
