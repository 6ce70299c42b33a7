"""kill -9 at any moment: every target has its old content or its complete new content, and no success is reported falsely."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet.convert import load_policy, read_source, write_target
from discreet.model.policy import Policy

ROWS = 20_000
FILES = [".csv", ".tsv.gz", ".parquet", ".arrow", ".jsonl", ".xlsx", ".sav", ".dta", ".xpt"]
TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.part\..+|\..+\.lock|.+(-journal|\.wal)")
POLICY = """
attributes: {age: {role: key}, town: {role: key}, pay: {role: confidential}}
limits: {k_anonymity.k: 2}
plan: {seed: 5, steps: [{method: rounding, columns: [pay], base: 10}]}
"""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two tables that differ in the column 'version'."""
    folder, paths = tmp_path_factory.mktemp("sources"), []
    for version in (1, 2):
        rows = pl.int_range(ROWS, eager=True)
        frame = pl.DataFrame({"version": [version] * ROWS, "age": rows % 80, "town": (rows % 7).cast(pl.String), "pay": rows})
        paths.append(folder / f"version_{version}.parquet")
        frame.write_parquet(paths[-1])
    (folder / "policy.yaml").write_text(POLICY)
    return paths


def read_version(target: str) -> int:
    """The version of the table in a target; asserts that it is complete."""
    frame = read_source(target, Policy()).frame
    assert frame.height == ROWS
    assert frame["version"].n_unique() == 1
    assert frame["pay"].n_unique() >= ROWS // 10 + 1 or frame["pay"].n_unique() == ROWS
    return int(frame["version"][0])


def unexpected_files(folder: Path, targets: set[str]) -> list[str]:
    """Files that are neither targets nor named as temporary files."""
    return [path.name for path in folder.iterdir() if path.name not in targets and not TEMPORARY.fullmatch(path.name)]


def targets_in(folder: Path, *servers: str) -> dict[str, str]:
    files = {f"t{suffix}": str(folder / f"t{suffix}") for suffix in FILES}
    databases = {f"t.{system}": f"{system}:///{folder}/t.{system}#people" for system in ("sqlite", "duckdb")}
    return {**files, **databases, **{url.partition(":")[0]: f"{url}#killed" for url in servers}}


def kill_often(
    killer: Any, sources: list[Path], targets: dict[str, str], times: int, call: Callable[[Path, str], list[str]], *, each: bool
) -> None:
    """Overwrite one table with the other and kill the process; ``each`` times every target, not only the first."""
    folder = Path(targets["t.sqlite"].removeprefix("sqlite:///")).parent
    holds = dict.fromkeys(targets, 1)
    for target_name, target in targets.items():
        write_target(read_source(sources[0], Policy()), target)
        if each or not killer.lasted:
            killer.run(target_name, *call(sources[0], target))
        killer.lasted.setdefault(target_name, next(iter(killer.lasted.values())))
    for number in range(times):
        target_name = list(targets)[number] if number < len(targets) else killer.chance.choice(list(targets))
        next_version = 3 - holds[target_name]
        done = killer.kill(target_name, *call(sources[next_version - 1], targets[target_name]))
        current = read_version(targets[target_name])
        assert current == next_version or not done, f"{target_name}: reported success, but has the old table"
        holds[target_name] = current
        assert unexpected_files(folder, set(targets)) == []
    for target_name, target in targets.items():
        write_target(read_source(sources[2 - holds[target_name]], Policy()), target)
        assert read_version(target) == 3 - holds[target_name]
    assert sorted(path.name for path in folder.iterdir()) == sorted(name for name in targets if "." in name)


@pytest.mark.servers
@pytest.mark.trust("Nothing lost", "A killed `convert` leaves the old table or the complete new one, in files and databases")
def test_a_killed_convert_leaves_a_complete_table(
    killer: Any, sources: list[Path], tmp_path: Path, request: pytest.FixtureRequest, effort: Any, record_property: Any
) -> None:
    long = effort(0, 1) == 1
    targets = targets_in(tmp_path, *(str(request.getfixturevalue(server)) for server in ("postgresql", "mysql")[: 1 + long]))
    if not long:  # quick run: a few of the files and databases
        targets = {name: targets[name] for name in ("t.csv", "t.xlsx", "t.sqlite", "t.duckdb", "postgresql")}
    kill_often(
        killer,
        sources,
        targets,
        effort(6, 120),
        lambda source, target: ["convert", str(source), target, "--overwrite"],
        each=long,
    )
    record_property("runs killed", killer.killed)
    record_property("runs that ended first", killer.finished)


@pytest.mark.trust("Nothing lost", "A killed `mask` leaves the old release or the complete new one")
def test_a_killed_mask_leaves_a_complete_table(
    killer: Any, sources: list[Path], tmp_path: Path, effort: Any, record_property: Any
) -> None:
    targets, long = targets_in(tmp_path), effort(0, 1) == 1
    if not long:
        targets = {name: targets[name] for name in ("t.parquet", "t.sqlite")}
    policy = str(sources[0].with_name("policy.yaml"))
    kill_often(
        killer,
        sources,
        targets,
        effort(2, 60),
        lambda source, target: ["mask", str(source), target, "-p", policy, "--overwrite"],
        each=long,
    )
    record_property("runs killed", killer.killed)
    record_property("runs that ended first", killer.finished)


@pytest.mark.trust("Nothing lost", "A killed `select` resumes from its journal and gives the result of an uninterrupted search")
def test_a_killed_select_resumes_from_its_journal(
    killer: Any, sources: list[Path], tmp_path: Path, effort: Any, record_property: Any
) -> None:
    pl.read_parquet(sources[0]).head(200).write_parquet(tmp_path / "small.parquet")
    shutil.copy(sources[0].with_name("policy.yaml"), tmp_path)
    call = [
        "select",
        str(tmp_path / "small.parquet"),
        "-p",
        str(tmp_path / "policy.yaml"),
        "--trials",
        "6",
        "--seed",
        "4",
        "--overwrite",
    ]
    killer.run("select", *call, "-o", str(tmp_path / "whole.yaml"), "--resume", str(tmp_path / "whole.journal"))
    expected = (tmp_path / "whole.yaml").read_text()
    while killer.killed < effort(2, 30):
        journal, chosen = tmp_path / f"j{killer.finished}", tmp_path / f"chosen{killer.finished}.yaml"
        if killer.kill("select", *call, "-o", str(chosen), "--resume", str(journal)):
            assert chosen.read_text() == expected
        elif chosen.exists():
            assert load_policy(chosen).plan.steps
    journal, chosen = tmp_path / f"j{killer.finished}", tmp_path / f"chosen{killer.finished}.yaml"
    killer.run("select", *call, "-o", str(chosen), "--resume", str(journal))
    assert chosen.read_text() == expected
    assert not [path.name for path in tmp_path.iterdir() if TEMPORARY.fullmatch(path.name) and chosen.stem in path.name]
    record_property("runs killed", killer.killed)
    record_property("searches that ended", killer.finished + 1)
