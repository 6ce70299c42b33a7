"""Several runs that write to one database file all succeed, or say who was first; no table is lost."""

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
from discreet.convert.databases.locking import only_writer
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

RUNS = 4
COMMAND = (sys.executable, "-c", "from discreet.cli import main; main()")


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    made = [tmp_path / f"s{number}.parquet" for number in range(RUNS)]
    for number, path in enumerate(made):
        pl.DataFrame({"a": [number] * 2000}).write_parquet(path)
    return made


def run_together(commands: list[list[str]]) -> list[tuple[int, str]]:
    started = [subprocess.Popen([*COMMAND, *words], stderr=subprocess.PIPE, text=True) for words in commands]
    told = [process.communicate()[1] for process in started]
    return [(process.returncode, words) for process, words in zip(started, told, strict=True)]


@pytest.mark.parametrize("present", [False, True])
@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
def test_four_conversions_into_one_file_all_leave_their_tables(
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
def test_of_several_writers_of_one_target_one_wins_and_the_others_say_so(
    sources: list[Path], tmp_path: Path, target: str
) -> None:
    place = target.format(tmp_path)
    done = run_together([["convert", str(path), place] for path in sources])
    assert sorted(code for code, _ in done) == [0] + [2] * (RUNS - 1), done
    winner = next(number for number, (code, _) in enumerate(done) if code == 0)
    assert read_source(place, Policy()).frame["a"].to_list() == [winner] * 2000
    assert all("exists; add --overwrite" in said or "another program wrote it first" in said for code, said in done if code)


@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
def test_threads_of_one_process_lose_no_table_either(tmp_path: Path, system: str) -> None:
    url, failures = f"{system}:///{tmp_path}/t.db", []

    def write(number: int) -> None:
        try:
            write_target(Microdata(pl.DataFrame({"a": [number]})), f"{url}#t{number}")
        except Exception as error:  # noqa: BLE001 - told by the test
            failures.append(error)

    together([lambda number=number: write(number) for number in range(RUNS)])
    assert not failures
    assert [read_source(f"{url}#t{number}", Policy()).frame.rows() for number in range(RUNS)] == [[(n,)] for n in range(RUNS)]


def test_a_lock_is_held_by_one_at_a_time_and_leaves_nothing(tmp_path: Path) -> None:
    inside, most = [], []

    def hold() -> None:
        for _ in range(50):
            with only_writer(tmp_path / "t.db"):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    together([hold] * RUNS)
    assert len(most) == 50 * RUNS
    assert max(most) == 1
    assert list(tmp_path.iterdir()) == []


def together(functions: list[Callable[[], Any]]) -> None:
    threads = [threading.Thread(target=one) for one in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
