"""A target is the old file or the new one, never a partial one; no temporary files remain."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from discreet.convert import convert, write_target
from discreet.convert.files.formats import FORMATS, READ_ONLY
from discreet.convert.writing.atomic import in_work_folder, replacing, write_text
from discreet.errors import SourceError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

WRITABLE = [suffix for suffix in FORMATS if suffix not in READ_ONLY]
BIG = pl.DataFrame({"a": pl.int_range(20_000, eager=True), "b": pl.int_range(20_000, eager=True).hash(7).cast(pl.String)})

KILLED = """
import os, signal, sys
from pathlib import Path
from discreet.convert import write_target
from discreet.convert.writing import atomic
from discreet.model.microdata import Microdata
import polars as pl

def kill(temporary, place, mode, **options):
    assert temporary.stat().st_size > 0
    os.kill(os.getpid(), signal.SIGKILL)

atomic._move_into_place = kill
write_target(Microdata(pl.DataFrame({"new": [1, 2, 3]})), sys.argv[1])
"""

FULL = """
import json, resource, sys
import polars as pl
from discreet.convert import convert, write_target
from discreet.errors import SourceError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

source = sys.argv[1]
frame = pl.read_parquet(source)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for line in sys.stdin:
    action, target = json.loads(line)
    message = ""
    try:
        if action == "convert":
            convert(source, target, Policy(), overwrite=True)
        else:
            write_target(Microdata(frame), target)
    except SourceError as error:
        message = str(error)
    print(json.dumps(message), flush=True)
"""


@pytest.fixture(scope="module")
def write_on_full_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, Path], str]]:
    """Writes a table in a process whose files cannot grow, the same for all formats; returns the error's sentence."""
    source = tmp_path_factory.mktemp("source") / "source.parquet"
    BIG.write_parquet(source)
    command = [sys.executable, "-c", FULL, str(source)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def write(action: str, target: Path) -> str:
            print(json.dumps([action, str(target)]), file=stdin, flush=True)
            answer = stdout.readline()
            assert answer, f"the process ended: {process.wait()}"
            return str(json.loads(answer))

        yield write


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx", ".sav"])
def test_a_killed_run_leaves_the_old_file(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"t{suffix}"
    write_target(Microdata(pl.DataFrame({"old": [1]})), target)
    before = target.read_bytes()
    done = subprocess.run([sys.executable, "-c", KILLED, str(target)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert target.read_bytes() == before


@pytest.mark.parametrize("suffix", [".csv", ".tsv.gz", ".parquet", ".arrow", ".jsonl", ".xlsx", ".sav", ".zsav", ".dta", ".xpt"])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, suffix: str, write_on_full_disk: Callable[[str, Path], str]
) -> None:
    target = tmp_path / f"t{suffix}"
    target.write_bytes(b"old")
    for action in ("write", "convert") if FORMATS[suffix].streams else ("write",):
        message = write_on_full_disk(action, target)
        assert str(target) in message
        assert "\n" not in message
        assert target.read_bytes() == b"old"
        assert [path.name for path in tmp_path.iterdir()] == [target.name]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError, MemoryError])
def test_an_exception_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    target = tmp_path / "t.csv"
    target.write_text("old")
    with pytest.raises(SourceError if issubclass(error, Exception) else error), replacing(target) as temporary:  # noqa: PT012
        temporary.write_text("half")
        raise error
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["t.csv"]


def test_permissions_are_those_of_the_old_file_or_of_the_umask(tmp_path: Path) -> None:
    write_text(tmp_path / "new", "x")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o666 & ~mask
    (tmp_path / "new").chmod(0o640)
    write_text(tmp_path / "new", "y")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_symbolic_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.parametrize(
    ("place", "message"), [("", "is a folder"), ("no/t.csv", "does not exist"), ("pipe.csv", "not a regular file")]
)
def test_a_target_that_cannot_be_a_file_is_a_clear_error(tmp_path: Path, place: str, message: str) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(SourceError, match=message):
        write_text(tmp_path / place, "x")
    if place:
        BIG.write_parquet(tmp_path / "s.parquet")
        with pytest.raises(SourceError, match=message):
            convert(tmp_path / "s.parquet", tmp_path / place, Policy())


def test_every_writable_format_can_be_overwritten(tmp_path: Path) -> None:
    for suffix in WRITABLE:
        for number in (1, 2):
            write_target(Microdata(pl.DataFrame({"a": [number]})), tmp_path / f"t{suffix}")
    assert len(os.listdir(tmp_path)) == len(WRITABLE)


def test_a_late_writer_thread_cannot_recreate_a_temporary_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"^\S+t\.csv: cannot be written: \S+t\.csv is full$"):  # noqa: PT012, SIM117
        with replacing(tmp_path / "t.csv") as temporary, in_work_folder(temporary) as place:
            place.write_text("half")
            raise ValueError(f"{place} is full")
    with pytest.raises(FileNotFoundError):
        place.write_text("the rest")
    assert list(tmp_path.iterdir()) == []


def test_the_file_of_the_work_folder_becomes_the_target(tmp_path: Path) -> None:
    target = tmp_path / "t.csv"
    with replacing(target) as temporary:
        with pytest.raises(ValueError, match="first"), in_work_folder(temporary) as place:  # noqa: PT012
            place.write_text("the first try")
            raise ValueError("first")
        with in_work_folder(temporary) as place:
            place.write_text("the second")
    assert target.read_text() == "the second"
    assert list(tmp_path.iterdir()) == [target]
