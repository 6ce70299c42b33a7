"""Full and read-only disks, lost connections, too little memory: one sentence, exit 2, no partial output."""

from __future__ import annotations

import os
import resource
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sqlalchemy as sa

from discreet.convert import read_source, write_target
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

Run = Callable[..., subprocess.CompletedProcess[str]]
ROWS = 300_000
POLICY = "plan: {seed: 5, steps: [{method: rounding, columns: [pay], base: 10}]}\n"
OLD = pl.DataFrame({"old": [1, 2, 3]})


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    rows = pl.int_range(ROWS, eager=True)
    pl.DataFrame({"pay": rows, "word": rows.hash(3).cast(pl.String)}).write_parquet(folder / "big.parquet")
    (folder / "policy.yaml").write_text(POLICY)
    return folder / "big.parquet"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two mebibytes; if none can be mounted, a folder (tests limit the file size to the same)."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = os.geteuid() == 0 and _mount("-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder))
    yield folder
    if mounted:
        subprocess.run(["umount", str(folder)], check=True)


def _mount(*options: str) -> bool:
    return subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0


def limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))


def assert_one_sentence(done: subprocess.CompletedProcess[str], mentions: str) -> None:
    assert done.returncode == 2, done.stderr
    lines = [line for line in done.stderr.splitlines() if line]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("discreet: ")
    assert mentions in lines[0]


def command_lines(source: Path, target: str) -> list[list[str]]:
    return [
        ["convert", str(source), target, "--overwrite"],
        ["mask", str(source), target, "-p", str(source.with_name("policy.yaml")), "--overwrite"],
    ]


@pytest.mark.parametrize(
    "name", ["t.csv", "t.parquet", "t.jsonl.gz", "t.xlsx", "t.sav", "t.dta", "t.xpt", "t.sqlite", "t.duckdb"]
)
@pytest.mark.trust("Nothing lost", "A full disk ends in a one-sentence error; the old table stays, and no temporary files remain")
def test_a_full_disk_leaves_the_old_table(
    cli: Run, source: Path, small_disk: Path, name: str, effort: Any, record_property: Any
) -> None:
    if effort(0, 1) == 0 and name not in ("t.parquet", "t.xlsx", "t.sqlite"):
        return
    place = small_disk / name
    system = name.removeprefix("t.")
    target = f"{system}:///{place}#people" if system in ("sqlite", "duckdb") else str(place)
    write_target(Microdata(OLD), target)
    attempted = command_lines(source, target)[: effort(1, 2)]
    for call in attempted:
        assert_one_sentence(cli(*call, preexec_fn=limit_file_size, env=os.environ | {"TMPDIR": str(small_disk)}), name)
        assert read_source(target, Policy()).frame.equals(OLD)
        assert [path.name for path in small_disk.iterdir()] == [name]
    record_property("disks filled", len(attempted))


@pytest.mark.trust("Nothing lost", "A target that cannot be written ends in a one-sentence error and stays unchanged")
def test_a_read_only_target_stays_unchanged(cli: Run, source: Path, small_disk: Path, record_property: Any) -> None:
    targets = [str(small_disk / "t.csv"), str(small_disk / "t.xlsx"), f"sqlite:///{small_disk}/t.sqlite#people"]
    for target in targets:
        write_target(Microdata(OLD), target)
    # permissions do not stop root, but a disk that is mounted read-only does
    mounted_read_only = os.geteuid() == 0 and _mount("-o", "remount,ro", str(small_disk))
    for path in (*small_disk.iterdir(), small_disk) if not mounted_read_only else ():
        path.chmod(0o555)
    before = {path.name: path.read_bytes() for path in small_disk.iterdir()}
    for target in targets:
        assert_one_sentence(
            cli("convert", str(source), target, "--overwrite", preexec_fn=None if mounted_read_only else limit_file_size), "t."
        )
        assert {path.name: path.read_bytes() for path in small_disk.iterdir()} == before
    record_property("read-only targets", len(targets))


@pytest.mark.servers
@pytest.mark.trust("Nothing lost", "A lost database connection ends in a one-sentence error; the old table stays")
def test_a_lost_connection_leaves_the_old_table(
    cli: Run, source: Path, postgresql: str, effort: Any, record_property: Any
) -> None:
    target = f"{postgresql}#lost"
    write_target(Microdata(OLD), target)
    engine = sa.create_engine(postgresql.replace("postgresql:", "postgresql+psycopg:"), poolclass=sa.NullPool)
    connections_cut = 0
    for _ in range(effort(1, 12)):
        stop = threading.Event()
        terminated: list[int] = []
        watcher = threading.Thread(target=_terminate_copying_session, args=(engine, stop, terminated))
        watcher.start()
        done = cli("convert", str(source), target, "--overwrite")
        stop.set()
        watcher.join()
        if terminated:
            connections_cut += 1
            assert_one_sentence(done, "lost")
            assert read_source(target, Policy()).frame.equals(OLD)
        else:
            write_target(Microdata(OLD), target)
        left = [name for name in sa.inspect(engine).get_table_names() if name.startswith("discreet_")]
        assert left == []
    assert connections_cut
    record_property("connections cut", connections_cut)


def _terminate_copying_session(engine: sa.Engine, stop: threading.Event, terminated: list[int]) -> None:
    """Terminate the first session that copies rows into a table."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while not stop.is_set() and not terminated:
            rows = connection.exec_driver_sql(
                "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND query LIKE 'COPY%%'"
            ).fetchall()
            terminated.extend(row[0] for row in rows)
            time.sleep(0.002)


@pytest.mark.trust("Nothing lost", "A run without enough memory affects no other process; the old table stays")
def test_too_little_memory_leaves_the_old_table(
    cli: Run, source: Path, tmp_path: Path, effort: Any, record_property: Any
) -> None:
    target = tmp_path / "t.parquet"
    write_target(Microdata(OLD), target)
    whole = 0
    sizes = [600, 900, 1200, 1600, 2000, 2400, 3200][:: effort(3, 1)]
    for size in sizes:

        def limit(size: int = size) -> None:
            resource.setrlimit(resource.RLIMIT_AS, (size << 20, size << 20))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        arguments = ("mask", str(source), str(target), "-p", str(source.with_name("policy.yaml")), "--overwrite")
        try:
            done = cli(*arguments, preexec_fn=limit, timeout=300)
        except subprocess.TimeoutExpired:  # a library whose thread could not start waits for it without end
            assert len(read_source(target, Policy())) == len(OLD)
            continue
        if done.returncode == 0:
            whole += 1
            assert len(read_source(target, Policy())) == ROWS
            write_target(Microdata(OLD), target)
        else:
            assert read_source(target, Policy()).frame.equals(OLD)
    record_property("runs short of memory", len(sizes) - whole)
