"""The initial microdata of a project: received as uploads, kept as Parquet, looked at page by page.

An upload is never trusted for its name: what is kept of it is a suffix out of the list of known formats. The conversion to
Parquet is a job of its own (see :mod:`discreet.web.jobs`), so that a file that cannot be read harms nobody.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from sqlalchemy import Connection, NullPool, Row, create_engine, inspect, make_url, select

from discreet.convert.files.formats import FORMATS
from discreet.engine.runtime.private_files import create_private_folder
from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import DRIVERS
from discreet.web.db.sweeping import forget
from discreet.web.db.tables import datasets, users
from discreet.web.errors import Invalid, NotFound, TooLarge, WebError
from discreet.web.projects import projects
from discreet.web.projects.paging import Compared, Page, beside, rows
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

if TYPE_CHECKING:
    from discreet.web.projects.releases import Release

__all__ = [
    "Compared", "Dataset", "NoRoom", "Page", "Upload", "all_of", "choose", "compare", "forget", "get", "path", "receive", "rows",
    "sources", "tables",
]  # fmt: skip

CHUNK = 1 << 20
CONNECT = 5
"""Seconds that a connected database may take to answer before it is convert_errors that it does not."""
UPLOAD = re.compile(r"[0-9a-f]{32}(\.[a-z0-9]{1,10}){1,2}")


class NoRoom(WebError):  # noqa: N818 - named as its kin are
    """The server's disk is full."""

    status = 507


@dataclass(frozen=True)
class Dataset:
    """One table of initial microdata."""

    id: int
    project_id: int
    name: str
    file: str
    records: int
    bytes: float
    sha256: str
    columns: list[dict[str, Any]]
    """A row a column: name, type, nulls, distinct."""
    profile: dict[str, Any] | None
    """What the Analyzer proposes (:meth:`discreet.analysis.profile.Profile.to_dict`), once it was asked."""
    created: float
    user: str | None


def get(connection: Connection, project: Project, dataset_id: int | None = None) -> Dataset:
    """A dataset of a project: the one named, or the current one."""
    wanted = project.dataset_id if dataset_id is None else dataset_id
    if wanted is None:
        raise NotFound(f"the project '{project.name}' has no initial microdata yet; upload a file first")
    row = connection.execute(_of(project).where(datasets.c.id == wanted)).one_or_none()
    if row is None:
        raise NotFound(f"the project '{project.name}' has no dataset number {wanted}")
    return _dataset(row)


def all_of(connection: Connection, project: Project) -> list[Dataset]:
    """A project's datasets, newest first."""
    return [_dataset(row) for row in connection.execute(_of(project).order_by(datasets.c.id.desc())).all()]


def choose(connection: Connection, user: User, project: Project, dataset_id: int) -> Dataset:
    """Make one of the datasets the project's initial microdata."""
    project.demand("editor")
    found = get(connection, project, dataset_id)
    projects.touch(connection, project.id, dataset_id=found.id)
    audit.note(connection, user.name, "dataset chosen", project.id, dataset=found.id)
    return found


def path(settings: Settings, dataset: Dataset) -> Path:
    """Where a dataset's Parquet file is."""
    return settings.folder(dataset.project_id) / dataset.file


def compare(settings: Settings, dataset: Dataset, release: Release, *, offset: int = 0, limit: int = 50) -> Compared:
    """The masked table beside the dataset it was made of, cell by cell; only for those who may see the original."""
    if release.dataset_id != dataset.id or release.project_id != dataset.project_id:
        raise Invalid(f"release {release.number} was not made of the dataset '{dataset.name}'")
    masked = settings.folder(release.project_id) / release.file
    return beside(settings, path(settings, dataset), masked, masked.with_name("link.parquet"), offset=offset, limit=limit)


def sources(settings: Settings) -> list[str]:
    """The names of the databases that the administrator connected."""
    return sorted(settings.sources)


def tables(settings: Settings, source: str) -> list[str]:
    """The tables and views of a connected database, as an import job names them; nothing where its kind cannot be asked."""
    from discreet.convert.errors import convert_errors

    address = settings.sources.get(source)
    if address is None:
        raise NotFound(f"no database is connected as '{source[:80]}'")
    url = make_url(address)
    driver = DRIVERS.get(url.get_backend_name())
    if driver is None:
        return []
    secret = [url.password] if isinstance(url.password, str) else []
    # somebody waits for the answer
    patience = {} if driver == "sqlite" else {"connect_timeout": CONNECT}
    with convert_errors(f"the database '{source}'", "cannot be looked at", secret):
        engine = create_engine(url.set(drivername=driver), poolclass=NullPool, connect_args=patience)
        with engine.connect() as connection:
            found = inspect(connection)
            every = {*found.get_table_names(), *found.get_view_names()}
    return sorted(name for name in every if not name.lower().startswith("discreet_"))


class Upload:
    """A file on its way in: written as it comes, kept whole or not at all.

    >>> # with Upload(settings, project, "patients.csv") as upload:
    >>> #     for chunk in chunks: upload.write(chunk)
    >>> # upload.path.name is what an import job names
    """

    def __init__(self, settings: Settings, project: Project, name: str) -> None:
        project.demand("editor")
        folder = settings.folder(project.id) / "uploads"
        create_private_folder(folder)
        self.path = folder / f"{secrets.token_hex(16)}{suffix(name)}"
        self.limit = settings.upload_limit
        self.size = 0
        self._part = self.path.with_name(f".{self.path.name}.part")

    def __enter__(self) -> Self:
        self._file = os.fdopen(os.open(self._part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")
        return self

    def write(self, chunk: bytes) -> None:
        """Take some more bytes."""
        self.size += len(chunk)
        if self.size > self.limit:
            raise TooLarge(f"the file has more than the {self.limit / 2**20:,.0f} MiB that one upload may have")
        with _room():
            self._file.write(chunk)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            with _room():
                self._file.close()
            if kind is None:
                if not self.size:
                    raise Invalid("the file is empty")
                self._part.replace(self.path)
        finally:
            self._part.unlink(missing_ok=True)


def receive(settings: Settings, project: Project, chunks: Iterable[bytes] | BinaryIO, name: str) -> Path:
    """Stream an upload into the project's folder; where it lies."""
    if hasattr(chunks, "read"):
        read = chunks.read
        chunks = iter(lambda: read(CHUNK), b"")
    with Upload(settings, project, name) as upload:
        for chunk in chunks:
            upload.write(chunk)
    return upload.path


def suffix(name: str) -> str:
    """The suffix of a known format that a file's name ends with."""
    lowered = name.strip().lower()
    fitting = [one for one in FORMATS if lowered.endswith(one)]
    if not fitting:
        known = ", ".join(one for one in FORMATS if one.count(".") == 1)
        raise Invalid(f"'{shown_name(name)}' does not end with the suffix of a known format: {known}")
    return max(fitting, key=len)


def shown_name(name: str) -> str:
    """A file's or table's name as it is convert_errors, without folders and without what cannot be printed."""
    last = re.split(r"[/\\]", name.strip())[-1]
    return "".join(sign for sign in last if sign.isprintable())[:200] or "unnamed"


@contextmanager
def _room() -> Iterator[None]:
    """A full disk becomes a sentence."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise NoRoom("there is no room left on the server's disk; nothing was kept of the upload") from None


def _of(project: Project) -> Any:
    return (
        select(datasets, users.c.name.label("user"))
        .outerjoin(users, users.c.id == datasets.c.user_id)
        .where(datasets.c.project_id == project.id)
    )


def _dataset(row: Row[Any]) -> Dataset:
    return Dataset(**{name: row._mapping[name] for name in Dataset.__dataclass_fields__})
