"""Nothing is overwritten by accident: no source, no other target, and no existing file without --overwrite."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import discreet
from discreet.convert import convert
from discreet.convert.writing import atomic
from discreet.convert.writing.atomic import replacing
from discreet.convert.writing.destinations import locate
from discreet.errors import SourceError
from discreet.model.policy import Policy
from discreet.testing import hospital

Run = Callable[..., subprocess.CompletedProcess[str]]
POLICY = """\
attributes:
  age: {role: key, known: 0.3, hierarchy: ages.csv}
  sex: {role: key, known: 0.3}
risk: {k_anonymity: {}}
limits: {k_anonymity.k: 1}
plan: {seed: 7, steps: [{method: rounding, columns: [age], base: 10}]}
select: {trials: 2}
"""


@pytest.fixture
def cli(quick_cli: Run) -> Run:
    return quick_cli


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "ages.csv").write_text("".join(f"{age};{age // 10 * 10};*\n" for age in (31, 32, 38, 39, 30, 40)))
    pl.DataFrame({"age": [31, 32, 38, 39] * 5, "sex": ["f", "m"] * 10}).write_csv(tmp_path / "a.csv")
    pl.DataFrame({"age": [30, 40] * 10, "sex": ["f", "m"] * 10}).write_csv(tmp_path / "m.csv")
    os.link(tmp_path / "a.csv", tmp_path / "hard.csv")
    (tmp_path / "soft.csv").symlink_to("a.csv")
    (tmp_path / "report.html").write_text("somebody's")
    (tmp_path / "d").mkdir()
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


PLAN = ["-p", "policy.yaml"]
SAME = [
    ["mask", "a.csv", "a.csv", *PLAN],
    ["mask", "a.csv", "d/../a.csv", *PLAN],
    ["mask", "a.csv", "soft.csv", *PLAN],
    ["mask", "a.csv", "hard.csv", *PLAN],
    ["mask", "a.csv", "policy.yaml", *PLAN],
    ["mask", "a.csv", "ages.csv", *PLAN],
    ["mask", "a.csv", "r.csv", *PLAN, "--report", "a.csv"],
    ["mask", "a.csv", "r.csv", *PLAN, "--report", "r.csv"],
    ["mask", "a.csv", "r.csv", *PLAN, "--report", "policy.yaml"],
    ["mask", "a.csv", "r.csv", *PLAN, "--link", "soft.csv"],
    ["mask", "a.csv", "r.csv", *PLAN, "--link", "./r.csv"],
    ["convert", "a.csv", "hard.csv"],
    ["convert", "a.csv", "policy.yaml.csv", "-p", "policy.yaml", "--policy", "policy.yaml.csv"],
    ["analyze", "a.csv", "-o", "a.csv"],
    ["analyze", "a.csv", "-o", "policy.yaml", *PLAN],
    ["risk", "a.csv", *PLAN, "--records", "a.csv"],
    ["risk", "m.csv", *PLAN, "--original", "a.csv", "--records", "a.csv"],
    ["assess", "a.csv", "m.csv", *PLAN, "--records", "m.csv"],
    ["select", "a.csv", *PLAN, "-o", "policy.yaml"],
    ["select", "a.csv", *PLAN, "-o", "c.yaml", "--report", "c.yaml"],
    ["select", "a.csv", *PLAN, "-o", "c.yaml", "--resume", "a.csv"],
    ["select", "a.csv", *PLAN, "-o", "c.yaml", "--resume", "c.yaml"],
    ["report", "a.csv", "m.csv", *PLAN, "-o", "m.csv"],
    ["report", "a.csv", "m.csv", *PLAN, "-o", "r.html", "--json", "r.html"],
]


@pytest.mark.parametrize("arguments", SAME, ids=" ".join)
def test_a_target_that_is_a_source_or_another_target_is_refused_even_with_overwrite(
    folder: Path, cli: Run, arguments: list[str]
) -> None:
    if "policy.yaml.csv" in arguments:
        (folder / "policy.yaml.csv").write_text(POLICY)
    before = contents(folder)
    done = cli(*arguments, "--overwrite")
    assert done.returncode == 2, done.stderr
    assert "would overwrite" in done.stderr or "are one target" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert contents(folder) == before


EXISTING = [
    ["convert", "a.csv", "m.csv"],
    ["mask", "a.csv", "m.csv", *PLAN],
    ["mask", "a.csv", "r.csv", *PLAN, "--report", "report.html"],
    ["mask", "a.csv", "r.csv", *PLAN, "--link", "m.csv"],
    ["analyze", "a.csv", "-o", "policy.yaml"],
    ["risk", "a.csv", *PLAN, "--records", "m.csv"],
    ["assess", "a.csv", "m.csv", *PLAN, "--records", "report.html"],
    ["select", "a.csv", *PLAN, "-o", "report.html"],
    ["select", "a.csv", *PLAN, "-o", "c.yaml", "--report", "report.html"],
    ["report", "a.csv", "m.csv", *PLAN, "-o", "report.html"],
]


@pytest.mark.parametrize("arguments", EXISTING, ids=" ".join)
def test_a_target_that_exists_needs_overwrite(folder: Path, cli: Run, arguments: list[str]) -> None:
    before = contents(folder)
    done = cli(*arguments)
    assert done.returncode == 2, done.stderr
    assert "exists; add --overwrite to replace it" in done.stderr
    assert contents(folder) == before


def test_an_existing_description_of_cells_needs_overwrite_too(folder: Path, cli: Run) -> None:
    (folder / "r.csv.cells.yaml").write_text("cells: {}\n")
    before = contents(folder)
    done = cli("mask", "a.csv", "r.csv", *PLAN)
    assert done.returncode == 2
    assert "r.csv.cells.yaml exists; add --overwrite" in done.stderr
    with pytest.raises(SourceError, match=r"r\.csv\.cells\.yaml exists"):
        discreet.write(hospital(20), folder / "r.csv")
    assert contents(folder) == before


def test_with_overwrite_an_existing_target_is_replaced(folder: Path, cli: Run) -> None:
    done = cli("convert", "a.csv", "m.csv", "--overwrite")
    assert done.returncode == 0, done.stderr
    assert (folder / "m.csv").read_text() == (folder / "a.csv").read_text()


@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
def test_tables_of_one_database_file_are_distinguished_and_an_existing_one_needs_overwrite(
    folder: Path, cli: Run, system: str
) -> None:
    url = f"{system}:///t.db"
    assert cli("convert", "a.csv", f"{url}#one").returncode == 0
    assert cli("convert", f"{url}#one", f"{url}#two").returncode == 0
    again = cli("convert", "m.csv", f"{url}#one")
    assert again.returncode == 2
    assert f"{url}#one exists; add --overwrite to replace it" in again.stderr
    assert cli("convert", "m.csv", f"{url}#one", "--overwrite").returncode == 0
    for arguments in (
        [f"{url}#two", f"{url}#TWO"],
        [f"{url}#two", f"{url}#main.two"],
        [f"{url}#two", f"{system}:///d/../t.db#two"],
    ):
        done = cli("convert", *arguments, "--overwrite")
        assert done.returncode == 2
        assert "would overwrite" in done.stderr
    done = cli("mask", f"{url}#two", "r.csv", *PLAN, "--report", "t.db", "--overwrite")
    assert done.returncode == 2
    assert "would overwrite" in done.stderr


def test_the_python_functions_never_overwrite_the_source_of_the_data(folder: Path) -> None:
    data = discreet.read(folder / "a.csv", folder / "policy.yaml")
    release = discreet.mask(data)
    before = contents(folder)
    for target in ("a.csv", "soft.csv", "hard.csv"):
        for write in (lambda place: discreet.write(data, place, overwrite=True),
                      lambda place: discreet.write(release, place, overwrite=True),
                      lambda place: discreet.write_link(release, place, overwrite=True)):  # fmt: skip
            with pytest.raises(SourceError, match="would overwrite"):
                write(folder / target)
    for write in (discreet.write, discreet.write_link):
        with pytest.raises(SourceError, match=r"m\.csv exists; add --overwrite"):
            write(release, folder / "m.csv")
    assert contents(folder) == before
    discreet.write(release, folder / "m.csv", overwrite=True)
    assert contents(folder)["m.csv"] != before["m.csv"]


def test_write_never_overwrites_the_database_table_that_the_data_were_read_from(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/t.db#people"
    discreet.write(hospital(20), url)
    with pytest.raises(SourceError, match="would overwrite"):
        discreet.write(discreet.mask(discreet.read(url), {"steps": []}), url, overwrite=True)


def test_of_two_concurrent_writers_the_second_gets_an_error(tmp_path: Path) -> None:
    target = tmp_path / "t.csv"
    with pytest.raises(SourceError, match=r"another program wrote it first"), replacing(target, overwrite=False) as temporary:  # noqa: PT012
        temporary.write_text("the second")
        target.write_text("the first")
    assert target.read_text() == "the first"
    assert list(tmp_path.iterdir()) == [target]


def test_without_hard_links_a_new_target_is_still_claimed_exclusively(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(atomic.os, "link", refuse)
    with replacing(tmp_path / "t.csv", overwrite=False) as temporary:
        temporary.write_text("new")
    assert (tmp_path / "t.csv").read_text() == "new"
    with pytest.raises(SourceError, match="wrote it first"), replacing(tmp_path / "u.csv", overwrite=False):
        (tmp_path / "u.csv").write_text("old")
    assert (tmp_path / "u.csv").read_text() == "old"


def test_a_frame_in_memory_is_converted_to_a_new_file(tmp_path: Path) -> None:
    assert convert(pl.DataFrame({"a": [1]}), tmp_path / "t.csv", Policy()) == (1, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("postgresql://a:x@localhost/db#t", "postgres://b@127.0.0.1:5432/db#public.t", True),
        ("postgresql://h/db#t", "postgresql://h/db#u", False),
        ("postgresql://h/db#t", "postgresql://H/db#t", True),
        ("postgresql://h/db#t", "postgresql://h:5433/db#t", False),
        ("postgresql://h/db#t", "postgresql://h/db#T", False),
        ("mysql://h/db#t", "mariadb://h:3306/db#DB.T", True),
        ("mysql://h/db#t", "postgresql://h/db#t", False),
        ("spark://h:1?record=a#t", "spark://h:1#T", True),
    ],
)
def test_addresses_are_compared_by_their_location(first: str, second: str, *, same: bool) -> None:
    assert locate(first).overlaps(locate(second)) is same


def test_files_of_the_key_ring_are_no_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from discreet.cli.app import app
    from discreet.keys.ring import KeyRing

    monkeypatch.setenv("DISCREET_HOME", str(tmp_path / "home"))
    key = KeyRing().add(b"a" * 32)
    file = tmp_path / "home" / "keys" / f"{key.id}.json"
    content = file.read_bytes()
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    (tmp_path / "link.json").symlink_to(file)
    policy = tmp_path / "p.yaml"
    policy.write_text("attributes: {a: {role: key}}\n")
    for target in (file, tmp_path / "link.json", file.with_name("new.json")):
        words = [
            "mask",
            str(tmp_path / "t.csv"),
            str(tmp_path / "o.csv"),
            "-p",
            str(policy),
            "--report",
            str(target),
            "--overwrite",
        ]
        done = CliRunner().invoke(app, words)
        assert isinstance(done.exception, SourceError)
        assert "is in the folder of the key ring" in str(done.exception)
        with pytest.raises(SourceError, match="key ring"), replacing(target):
            pass
    assert file.read_bytes() == content
    assert not (tmp_path / "o.csv").exists()
