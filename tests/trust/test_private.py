"""Files with originals, links, keys or seeds are readable only by their owner, whatever the umask; a release is not."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

import discreet
from discreet.engine.runtime.private_files import create_private_file, create_private_folder
from discreet.errors import SourceError
from discreet.testing import hospital

Run = Callable[..., subprocess.CompletedProcess[str]]
POLICY = """\
attributes:
  age: {role: key, known: 0.3}
  sex: {role: key, known: 0.3}
  illness: {role: confidential, sensitivity: 1}
risk: {k_anonymity: {}}
limits: {k_anonymity.k: 1}
plan: {seed: 7, steps: [{method: rounding, columns: [age], base: 10}]}
select: {trials: 2}
"""


@pytest.fixture(autouse=True)
def _usual_mask() -> Iterator[None]:
    """The usual umask, with which everybody can read new files."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def cli(quick_cli: Run) -> Run:
    return quick_cli


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "policy.yaml").chmod(0o600)
    table = pl.DataFrame({"age": [31, 32, 38, 39] * 5, "sex": ["f", "m"] * 10, "illness": ["flu", "none"] * 10})
    table.write_csv(tmp_path / "patients.csv")
    (tmp_path / "patients.csv").chmod(0o600)
    return tmp_path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def assert_worked(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode in (0, 1), done.stderr  # 1: limits not met, which does not matter here


@pytest.mark.parametrize("target", ["copy.parquet", "copy.csv", "copy.xlsx", "copy.sav", "copy.db", "copy.duckdb"])
def test_a_converted_copy_of_a_private_file_is_private(folder: Path, cli: Run, target: str) -> None:
    schemes = {"db": "sqlite:///{}#t", "duckdb": "duckdb:///{}#t"}
    suffix = target.partition(".")[2]
    assert_worked(cli("convert", "patients.csv", schemes.get(suffix, "{}").format(target)))
    assert mode(folder / target) == 0o600


def test_scores_per_record_and_links_are_private_and_the_release_is_not(folder: Path, cli: Run) -> None:
    assert_worked(cli("risk", "patients.csv", "-p", "policy.yaml", "--records", "risk.csv"))
    assert_worked(cli("mask", "patients.csv", "released.csv", "-p", "policy.yaml", "--link", "link.csv"))
    assert_worked(cli("assess", "patients.csv", "released.csv", "-p", "policy.yaml", "--records", "found.csv"))
    assert {mode(folder / name) for name in ("risk.csv", "link.csv", "found.csv")} == {0o600}
    assert mode(folder / "released.csv") == 0o644


def test_policies_and_the_journal_of_a_search_are_private(folder: Path, cli: Run) -> None:
    assert_worked(cli("analyze", "patients.csv", "-o", "proposed.yaml"))
    assert_worked(cli("select", "patients.csv", "-p", "policy.yaml", "-o", "chosen.yaml", "--resume", "search.log"))
    assert {mode(folder / name) for name in ("proposed.yaml", "chosen.yaml", "search.log")} == {0o600}


def test_the_demo_keeps_its_folder_and_its_originals_private(tmp_path: Path, cli: Run) -> None:
    assert_worked(cli("demo", "--folder", "demo", "--records", "200"))
    assert mode(tmp_path / "demo") == 0o700
    assert {path.name for path in (tmp_path / "demo").iterdir() if mode(path) != 0o600} <= {
        "released.csv",
        "released.csv.cells.yaml",
    }


def test_write_makes_a_table_private_but_not_a_release(tmp_path: Path) -> None:
    data = hospital(50)
    for name in ("t.csv", "t.xlsx"):
        discreet.write(data, tmp_path / name)
        assert mode(tmp_path / name) == 0o600
    release = discreet.mask(data, {"steps": [{"method": "remove_identifiers"}]})
    discreet.write(release, tmp_path / "released.csv")
    assert mode(tmp_path / "released.csv") == 0o644


@pytest.mark.parametrize("present", [False, True])
def test_a_data_directory_and_its_files_are_made_private(tmp_path: Path, *, present: bool) -> None:
    from discreet.web.db.store import Store
    from discreet.web.settings import Settings

    home = tmp_path / "home"
    if present:
        (home / "projects" / "1" / "data").mkdir(parents=True)
        for name in ("discreet.db", "releases.db", "projects/1/data/originals.parquet"):
            (home / name).touch()
        (home / "mine.txt").touch()
        assert mode(home) == 0o755
    settings = Settings.make(home)
    store = Store.open(settings)
    store.migrate()
    with store.read():  # SQLite's log and shared-memory files exist while the database is open
        names = {path.name for path in home.rglob("*")}
        assert "discreet.db-wal" in names
        readable = {path.name for path in (home, *home.rglob("*")) if mode(path) & 0o077}
    store.close()
    assert readable == (
        {"mine.txt"} if present else set()
    )  # a file of the user is not changed, but the private folder protects it


def test_a_database_of_projects_outside_the_data_directory_is_private(tmp_path: Path) -> None:
    from discreet.web.db.store import Store

    path = tmp_path / "projects.db"
    path.touch()
    Store(f"sqlite:///{path}").close()
    assert mode(path) == 0o600


def test_a_folder_that_everybody_shares_is_an_error(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    with pytest.raises(SourceError, match="everybody shares this folder"):
        create_private_folder(shared)
    assert mode(shared) == 0o1777


def test_a_folder_of_another_account_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def not_ours(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setattr(Path, "chmod", not_ours)
    with pytest.raises(
        SourceError, match=r"home: other accounts can read it, and its permissions cannot be changed .*chmod go-rwx"
    ):
        create_private_folder(folder)


def test_private_files_and_folders_are_created_private_and_keep_their_content(tmp_path: Path) -> None:
    assert mode(create_private_folder(tmp_path / "a" / "b")) == mode(tmp_path / "a") == 0o700
    existing = tmp_path / "kept"
    existing.write_text("content")
    assert create_private_file(existing).read_text() == "content"
    assert mode(existing) == 0o600
    with pytest.raises(SourceError, match="is a file, not a folder"):
        create_private_folder(existing)
