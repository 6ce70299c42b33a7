"""Processes that write to one database file at the same time all succeed, or get a clear error; no table is lost."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet.convert import read_source, write_target
from discreet.convert.databases.locking import exclusive_writer
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

RUNS = 4
COMMAND = (sys.executable, "-c", "from discreet.cli import main; main()")


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"s{number}.parquet" for number in range(RUNS)]
    for number, path in enumerate(paths):
        pl.DataFrame({"a": [number] * 2000}).write_parquet(path)
    return paths


def run_together(commands: list[list[str]]) -> list[tuple[int, str]]:
    processes = [subprocess.Popen([*COMMAND, *arguments], stderr=subprocess.PIPE, text=True) for arguments in commands]
    errors = [process.communicate()[1] for process in processes]
    return [(process.returncode, arguments) for process, arguments in zip(processes, errors, strict=True)]


@pytest.mark.parametrize("present", [False, True])
@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
def test_four_conversions_into_one_file_all_write_their_tables(
    sources: list[Path], tmp_path: Path, system: str, *, present: bool
) -> None:
    url = f"{system}:///{tmp_path}/t.{system}"
    if present:
        write_target(Microdata(pl.DataFrame({"before": [1]})), f"{url}#before")
    done = run_together([["convert", str(path), f"{url}#t{number}"] for number, path in enumerate(sources)])
    assert [code for code, _ in done] == [0] * RUNS, done
    for number in range(RUNS):
        assert read_source(f"{url}#t{number}", Policy()).frame["a"].to_list() == [number] * 2000
    if present:
        assert read_source(f"{url}#before", Policy()).frame.rows() == [(1,)]
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("target", ["sqlite:///{}/t.db#t", "duckdb:///{}/t.duckdb#t", "{}/t.csv"])
def test_of_several_writers_of_one_target_one_succeeds_and_the_others_get_an_error(
    sources: list[Path], tmp_path: Path, target: str
) -> None:
    target_name = target.format(tmp_path)
    done = run_together([["convert", str(path), target_name] for path in sources])
    assert sorted(code for code, _ in done) == [0] + [2] * (RUNS - 1), done
    winner = next(number for number, (code, _) in enumerate(done) if code == 0)
    assert read_source(target_name, Policy()).frame["a"].to_list() == [winner] * 2000
    assert all(
        "exists; add --overwrite" in message or "another program wrote it first" in message for code, message in done if code
    )


@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
def test_threads_of_one_process_lose_no_table(tmp_path: Path, system: str) -> None:
    url, failures = f"{system}:///{tmp_path}/t.db", []

    def write(number: int) -> None:
        try:
            write_target(Microdata(pl.DataFrame({"a": [number]})), f"{url}#t{number}")
        except Exception as error:  # noqa: BLE001 - asserted by the test
            failures.append(error)

    run_in_threads([lambda number=number: write(number) for number in range(RUNS)])
    assert not failures
    assert [read_source(f"{url}#t{number}", Policy()).frame.rows() for number in range(RUNS)] == [[(n,)] for n in range(RUNS)]


def test_the_lock_admits_one_writer_at_a_time_and_leaves_no_file(tmp_path: Path) -> None:
    active, counts = [], []

    def hold() -> None:
        for _ in range(50):
            with exclusive_writer(tmp_path / "t.db"):
                active.append(1)
                counts.append(len(active))
                active.pop()

    run_in_threads([hold] * RUNS)
    assert len(counts) == 50 * RUNS
    assert max(counts) == 1
    assert list(tmp_path.iterdir()) == []


def run_in_threads(functions: list[Callable[[], Any]]) -> None:
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
