"""kill -9 at any moment: every target holds its old content or its whole new content, and nothing is told that is not done."""

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
    """Two tables that differ in a column that says which is which."""
    folder, made = tmp_path_factory.mktemp("sources"), []
    for version in (1, 2):
        rows = pl.int_range(ROWS, eager=True)
        frame = pl.DataFrame({"version": [version] * ROWS, "age": rows % 80, "town": (rows % 7).cast(pl.String), "pay": rows})
        made.append(folder / f"version_{version}.parquet")
        frame.write_parquet(made[-1])
    (folder / "policy.yaml").write_text(POLICY)
    return made


def version(target: str) -> int:
    """Which table a target holds, whole."""
    frame = read_source(target, Policy()).frame
    assert frame.height == ROWS
    assert frame["version"].n_unique() == 1
    assert frame["pay"].n_unique() >= ROWS // 10 + 1 or frame["pay"].n_unique() == ROWS
    return int(frame["version"][0])


def left_behind(folder: Path, targets: set[str]) -> list[str]:
    """Files that are no targets and not called temporary either."""
    return [path.name for path in folder.iterdir() if path.name not in targets and not TEMPORARY.fullmatch(path.name)]


def targets_in(folder: Path, *servers: str) -> dict[str, str]:
    files = {f"t{suffix}": str(folder / f"t{suffix}") for suffix in FILES}
    databases = {f"t.{system}": f"{system}:///{folder}/t.{system}#people" for system in ("sqlite", "duckdb")}
    return {**files, **databases, **{url.partition(":")[0]: f"{url}#killed" for url in servers}}


def kill_often(
    killer: Any, sources: list[Path], targets: dict[str, str], times: int, call: Callable[[Path, str], list[str]], *, each: bool
) -> None:
    """Write one table over the other, and stop it on the way; ``each`` measures every target's time, else the first's does."""
    folder = Path(targets["t.sqlite"].removeprefix("sqlite:///")).parent
    holds = dict.fromkeys(targets, 1)
    for what, target in targets.items():
        write_target(read_source(sources[0], Policy()), target)
        if each or not killer.lasted:
            killer.run(what, *call(sources[0], target))
        killer.lasted.setdefault(what, next(iter(killer.lasted.values())))
    for number in range(times):
        what = list(targets)[number] if number < len(targets) else killer.chance.choice(list(targets))
        wanted = 3 - holds[what]
        done = killer.kill(what, *call(sources[wanted - 1], targets[what]))
        found = version(targets[what])
        assert found == wanted or not done, f"{what}: said to be done, but holds the old table"
        holds[what] = found
        assert left_behind(folder, set(targets)) == []
    for what, target in targets.items():
        write_target(read_source(sources[2 - holds[what]], Policy()), target)
        assert version(target) == 3 - holds[what]
    assert sorted(path.name for path in folder.iterdir()) == sorted(name for name in targets if "." in name)


@pytest.mark.servers
@pytest.mark.trust("Nothing lost", "A killed `convert` leaves the old table or the whole new one, in files and databases")
def test_convert_can_be_killed(
    killer: Any, sources: list[Path], tmp_path: Path, request: pytest.FixtureRequest, effort: Any, record_property: Any
) -> None:
    long = effort(0, 1) == 1
    targets = targets_in(tmp_path, *(str(request.getfixturevalue(one)) for one in ("postgresql", "mysql")[: 1 + long]))
    if not long:  # in a hurry: a few of the files, and the databases that are at hand
        targets = {what: targets[what] for what in ("t.csv", "t.xlsx", "t.sqlite", "t.duckdb", "postgresql")}
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


@pytest.mark.trust("Nothing lost", "A killed `mask` leaves the old release or the whole new one")
def test_mask_can_be_killed(killer: Any, sources: list[Path], tmp_path: Path, effort: Any, record_property: Any) -> None:
    targets, long = targets_in(tmp_path), effort(0, 1) == 1
    if not long:
        targets = {what: targets[what] for what in ("t.parquet", "t.sqlite")}
    policy = str(sources[0].with_name("policy.yaml"))
    kill_often(
        killer, sources, targets, effort(2, 60), lambda one, out: ["mask", str(one), out, "-p", policy, "--overwrite"], each=long
    )
    record_property("runs killed", killer.killed)
    record_property("runs that ended first", killer.finished)


@pytest.mark.trust("Nothing lost", "A killed `select` goes on from its journal and ends where an uninterrupted search ends")
def test_select_can_be_killed_and_goes_on(
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
    wanted = (tmp_path / "whole.yaml").read_text()
    while killer.killed < effort(2, 30):
        journal, chosen = tmp_path / f"j{killer.finished}", tmp_path / f"chosen{killer.finished}.yaml"
        if killer.kill("select", *call, "-o", str(chosen), "--resume", str(journal)):
            assert chosen.read_text() == wanted
        elif chosen.exists():
            assert load_policy(chosen).plan.steps
    journal, chosen = tmp_path / f"j{killer.finished}", tmp_path / f"chosen{killer.finished}.yaml"
    killer.run("select", *call, "-o", str(chosen), "--resume", str(journal))
    assert chosen.read_text() == wanted
    assert not [path.name for path in tmp_path.iterdir() if TEMPORARY.fullmatch(path.name) and chosen.stem in path.name]
    record_property("runs killed", killer.killed)
    record_property("searches that ended", killer.finished + 1)
