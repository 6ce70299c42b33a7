"""Backup and restore: the whole installation comes back, on the same database or another, and a damaged file is refused."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import run_command
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sqlalchemy import insert, select, update
from web_jobs import CONTENT, pass_gate, published_rows

from discreet.errors import SourceError
from discreet.web.app import make_app
from discreet.web.auth.accounts import User
from discreet.web.backup import archive, encryption, tables
from discreet.web.backup.archive import write_backup
from discreet.web.backup.encryption import DecryptingReader, EncryptingWriter
from discreet.web.backup.restore import restore_backup
from discreet.web.db import audit
from discreet.web.db.store import Store, now
from discreet.web.db.tables import jobs, metadata, throttles
from discreet.web.projects import datasets
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

PASSWORD = "a longer password than most"
PASSPHRASE = "correct horse battery staple"
CHEAP = (4, 8, 1)


@pytest.fixture(autouse=True)
def _cheap_scrypt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EncryptingWriter.__init__, "__defaults__", (CHEAP,))


def encrypt(content: bytes) -> bytes:
    out = io.BytesIO()
    writer = EncryptingWriter(out, PASSPHRASE)
    for start in range(0, len(content), 70_001):
        writer.write(content[start : start + 70_001])
    writer.finish()
    return out.getvalue()


def decrypt(content: bytes, passphrase: str = PASSPHRASE) -> bytes:
    reader, parts = DecryptingReader(io.BytesIO(content), "file", passphrase), []
    while part := reader.read(99_991):
        parts.append(part)
    return b"".join(parts)


class TestEncryption:
    @pytest.mark.parametrize("size", [0, 1, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 2 << 20, (5 << 20) + 7])
    def test_what_was_written_is_read_whatever_its_length(self, size: int) -> None:
        content = os.urandom(size)
        assert decrypt(encrypt(content)) == content

    @given(at=st.integers(0, 10**9), bit=st.integers(0, 7), cut=st.integers(1, 10**9), size=st.integers(0, 3000))
    @hypothesis_settings(max_examples=40, deadline=None)
    def test_a_changed_bit_a_cut_and_an_addition_are_refused(self, at: int, bit: int, cut: int, size: int) -> None:
        sealed = bytearray(encrypt(os.urandom(size)))
        with pytest.raises(SourceError):
            decrypt(bytes(sealed[: len(sealed) - 1 - cut % len(sealed)]))
        with pytest.raises(SourceError):
            decrypt(bytes(sealed) + b"x")
        sealed[at % len(sealed)] ^= 1 << bit
        with pytest.raises(SourceError):
            decrypt(bytes(sealed))

    def test_pieces_that_are_left_out_exchanged_or_cut_off_are_refused(self) -> None:
        sealed = encrypt(os.urandom(3 << 20) + b"end")
        head, piece = sealed[: encryption.HEAD_BYTES], encryption.PIECE_BYTES + 16
        pieces = [sealed[start : start + piece] for start in range(len(head), len(sealed), piece)]
        for order in ([0, 2, 3], [1, 0, 2, 3], [0, 1, 2], [0, 1, 2, 2, 3]):
            with pytest.raises(SourceError, match=r"incomplete or was changed|not the one"):
                decrypt(head + b"".join(pieces[number] for number in order))

    def test_another_passphrase_and_another_file_get_a_sentence(self) -> None:
        with pytest.raises(SourceError, match="the passphrase is not the one of this backup"):
            decrypt(encrypt(b"content"), "incorrect horse battery")
        with pytest.raises(SourceError, match="is not a backup of discreet"):
            decrypt(b"PK\x03\x04" + bytes(100))
        expensive = bytearray(encrypt(b"content"))
        expensive[len(encryption.MAGIC)] = 40
        with pytest.raises(SourceError):
            decrypt(bytes(expensive))


@pytest.fixture
def busy(settings: Settings, store: Store, anna: User, carl: User, released: Project) -> Project:
    """A project with a published release, and an import that is running."""
    pass_gate(settings, store, anna, carl, released, 1)
    upload = datasets.receive_upload(settings, released, iter([CONTENT.encode()]), "waiting.csv")
    row = {
        "id": "f" * 32, "project_id": released.id, "user_id": anna.id, "kind": "import", "state": "running", "pid": 1,
        "parameters": {"upload": upload.name, "name": "waiting.csv"}, "created": now(),
    }  # fmt: skip
    with store.write() as connection:
        connection.execute(insert(jobs).values(**row))
        connection.execute(insert(throttles).values(subject="x", failures=1, last=now(), until=0.0))
    folder = settings.folder(released.id)
    (folder / "data" / f"{'f' * 32}.parquet").write_bytes(b"half of a table")
    return released


def all_rows(store: Store) -> dict[str, list[dict[str, object]]]:
    with store.read() as connection:
        return {
            table.name: [dict(row) for row in connection.execute(select(table).order_by(*table.primary_key)).mappings()]
            for table in metadata.sorted_tables
            if table.name not in (*tables.LEFT_OUT, "discreet_audit", "discreet_chain", "discreet_jobs")
        }


def all_files(home: Path) -> dict[str, bytes]:
    kept = (path for tree in ("projects", "keys") for path in (home / tree).rglob("*") if path.is_file())
    return {str(path.relative_to(home)): path.read_bytes() for path in kept if "f" * 32 not in path.name}


@pytest.fixture
def other(database: str | None, request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """An empty place of the other kind: PostgreSQL for SQLite, and SQLite for PostgreSQL."""
    empty = request.getfixturevalue("create_database")() if database is None else None
    return replace(Settings.make(tmp_path / "other", empty), url="http://testserver")


def test_everything_comes_back_on_another_kind_of_database(
    settings: Settings, store: Store, busy: Project, other: Settings, tmp_path: Path
) -> None:
    with store.write() as connection:
        connection.execute(update(jobs).where(jobs.c.id == "f" * 32).values(what="reading"))
    written = write_backup(settings, store, tmp_path / "b.backup", PASSPHRASE)
    assert written.missing == ()
    assert (tmp_path / "b.backup").stat().st_mode & 0o777 == 0o600
    assert b"person1" not in (tmp_path / "b.backup").read_bytes()
    assert restore_backup(other, tmp_path / "b.backup", PASSPHRASE) == []
    restored = Store.open(other)
    try:
        assert all_rows(restored) == all_rows(store)
        assert all_files(other.home) == all_files(settings.home)
        with restored.read() as connection:
            assert audit.verify_chain(connection) is None
            assert connection.execute(select(throttles)).all() == []
            job = connection.execute(select(jobs).where(jobs.c.id == "f" * 32)).one()
        assert (job.state, job.pid) == ("queued", None)
        assert oct((other.home / "audit.key").stat().st_mode & 0o777) == "0o600"
    finally:
        restored.close()
    rows = [sorted(published_rows(place, busy.table_name)) for place in (settings, other)]
    assert rows[0] == rows[1]
    assert rows[0]
    with TestClient(make_app(other), follow_redirects=False) as client:
        assert client.post("/login", data={"name": "anna", "password": PASSWORD}).status_code == 303
        page = client.get(f"/projects/{busy.id}/release")
        assert "Release 1" in page.text
        csrf = client.get("/").text.split('name="csrf" content="')[1].split('"')[0]
        created = client.post("/api/v1/projects", json={"name": "After"}, headers={"x-csrf-token": csrf})
        assert created.json()["id"] > busy.id, "numbers continue after the restored ones"


class TestRefusals:
    @pytest.fixture
    def database(self) -> None:
        """One database is enough here."""

    @pytest.fixture
    def file(self, settings: Settings, store: Store, released: Project, tmp_path: Path) -> Path:
        write_backup(settings, store, tmp_path / "b.backup", PASSPHRASE)
        return tmp_path / "b.backup"

    def test_a_place_that_is_not_empty_is_refused_and_left_as_it_is(self, settings: Settings, file: Path, tmp_path: Path) -> None:
        before = {path: path.stat().st_size for path in settings.home.rglob("*")}
        with pytest.raises(SourceError, match="is not empty"):
            restore_backup(settings, file, PASSPHRASE)
        assert {path: path.stat().st_size for path in settings.home.rglob("*") if path.name != ".server.lock"} == {
            path: size for path, size in before.items() if path.name != ".server.lock"
        }
        elsewhere = Settings.make(tmp_path / "new", f"sqlite:///{settings.home}/discreet.db")
        with pytest.raises(SourceError, match="exists already; a backup is restored into an empty database only"):
            restore_backup(elsewhere, file, PASSPHRASE)

    def test_a_damaged_file_leaves_the_place_empty(self, file: Path, tmp_path: Path) -> None:
        place = Settings.make(tmp_path / "new")
        content = file.read_bytes()
        for damaged in (content[:-1], content[: len(content) // 2], content[:-20] + b"x" + content[-19:]):
            file.write_bytes(damaged)
            with pytest.raises(SourceError):
                restore_backup(place, file, PASSPHRASE)
            assert [path.name for path in place.home.iterdir() if path.name != ".server.lock"] == []

    def test_a_failure_in_the_middle_leaves_the_place_empty(
        self, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        place = Settings.make(tmp_path / "new")
        monkeypatch.setattr(tables, "advance_sequences", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(SourceError, match="No space left"):
            restore_backup(place, file, PASSPHRASE)
        assert [path.name for path in place.home.iterdir() if path.name != ".server.lock"] == []
        monkeypatch.undo()
        assert restore_backup(place, file, PASSPHRASE) == []

    def test_a_file_that_vanishes_is_waited_for_and_then_reported(
        self, settings: Settings, store: Store, released: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(archive, "ATTEMPTS", 2)
        table = next((settings.folder(released.id) / "data").glob("*.parquet"))
        table.rename(tmp_path / "away.parquet")
        written = write_backup(settings, store, tmp_path / "c.backup", PASSPHRASE)
        assert written.missing == (table.relative_to(settings.home).as_posix(),)
        assert sorted(path.name for path in tmp_path.glob("*.backup")) == ["c.backup"]

    def test_the_command_line_asks_for_a_long_passphrase_and_a_place_of_its_own(
        self, settings: Settings, store: Store, anna: User, tmp_path: Path
    ) -> None:
        home = ("--home", str(settings.home))

        def call(*arguments: str, passphrase: str = PASSPHRASE) -> tuple[int, str]:
            outcome = run_command(*arguments, *home, folder=tmp_path, environment={"DISCREET_BACKUP_PASSPHRASE": passphrase})
            return outcome.returncode, outcome.stderr

        assert call("backup", "x.backup", passphrase="short")[0] == 2
        code, message = call("backup", str(settings.home / "x.backup"))
        assert (code, "is in the data directory" in message) == (2, True)
        assert call("backup", "x.backup")[0] == 0
        code, message = call("backup", "x.backup")
        assert (code, "exists already" in message) == (2, True)
        (tmp_path / "secret").write_text(f"{PASSPHRASE}\n")
        outcome = run_command("restore", "x.backup", "--home", "new", "--passphrase-file", "secret", folder=tmp_path)
        assert outcome.returncode == 0, outcome.stderr
        assert "is intact" in run_command("audit", "--home", "new", folder=tmp_path).stderr
