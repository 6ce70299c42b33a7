"""The goals for speed as one table of ratios: every record sensitive, real tables, small tables cold and warm.

python benchmarks/goals.py [folder of real tables]

Each ratio compares with a peer or a floor measured in the same run. Real tables are read from the folder, or from the one that
DISCREET_DATA names; rows that need them are left out without it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
from known_sets import polars_sum, seconds, sets_of

import discreet
from discreet.engine.encoding.columns import encode
from discreet.model.microdata import Microdata
from discreet.risks.k_anonymity.measure import KAnonymity
from discreet.risks.known_sets.measure import KnownSets
from discreet.risks.l_diversity.measure import LDiversity
from discreet.testing import students

KEYS = ("gender", "ethnicity", "age", "parish", "grade", "lunch", "language", "birth_month")
UNDECIDED = 0.01


def print_row(work: str, peer: str, measured: str, goal: str) -> None:
    print(f"| {work} | {peer} | {measured} | {goal} |", flush=True)


def known_sets_goals(data: Microdata) -> None:
    sets = sets_of(data)
    keys = sorted({name for names, _ in sets for name in names})
    coded = data.frame.select(keys).select(pl.all().rank("dense").cast(pl.UInt32))
    encode(data, data.columns)
    KnownSets().measure(data)
    ours = seconds(lambda: KnownSets().measure(data))
    polars = seconds(lambda: polars_sum(coded, sets), 2)
    codes = np.random.default_rng(0).integers(0, 20_000, len(data))
    floor = seconds(lambda: np.bincount(codes, minlength=20_000)) * len(sets) / 2
    print_row(f"every record sensitive, {len(sets)} sets, {ours:.2f} s", f"Polars on codes {polars:.2f} s",
              f"{polars / ours:.1f} times faster", "at least 10")  # fmt: skip
    print_row("the same", f"a bincount per set on two cores {floor:.3f} s", f"{ours / floor:.1f} times it", "at most 5")
    tracemalloc.start()
    KnownSets().measure(data)
    peak = tracemalloc.get_traced_memory()[1] / len(data)
    tracemalloc.stop()
    print_row("the same, memory above the codes", "", f"{peak:.0f} bytes per record", "at most 60")
    for epsilon in (1e-4, 1e-5):
        number = KnownSets(epsilon=epsilon).measure(data)["sets"]
        fine = seconds(partial(KnownSets(epsilon=epsilon).measure, data), 1)
        print_row(f"epsilon {epsilon:g}, {number:,} sets, {fine:.2f} s", "a set at epsilon 0.01",
                  f"a set costs {fine / number / (ours / len(sets)):.2f} times as much", "below 1")  # fmt: skip
    narrow = seconds(lambda: KnownSets(tolerance=0.05).measure(data), 1)
    print_row(f"tolerance 0.05, {narrow:.1f} s", "the plain run", f"{narrow / ours:.0f} times it", "at most 10")


def fetch(connection: duckdb.DuckDBPyConnection, query: str) -> object:
    return connection.execute(query).fetchall()


def class_goals(data: Microdata) -> None:
    connection = duckdb.connect()
    coded = data.frame.select(*KEYS, "disability").select(pl.all().rank("dense").cast(pl.UInt32))
    connection.register("given", coded.to_arrow())
    connection.execute("create table t as select * from given")
    keys = ", ".join(KEYS)
    jobs: tuple[tuple[str, Callable[[], object], str], ...] = (
        ("k_anonymity", lambda: KAnonymity(keys=KEYS).measure(data), "count(*)"),
        ("l_diversity", lambda: LDiversity(keys=KEYS, sensitive=("disability",)).measure(data), "count(distinct disability)"),
    )
    for name, job, aggregate in jobs:
        job()
        ours = seconds(job)
        query = f"select min(n), count(*) from (select {aggregate} n from t group by {keys})"
        duck = seconds(partial(fetch, connection, query))
        print_row(
            f"{name}, 8 keys, {len(data):,}, {ours:.3f} s", f"DuckDB GROUP BY {duck:.3f} s", f"{ours / duck:.2f} times it", "1.2"
        )


def decide_goals(folder: Path) -> None:
    for name, epsilons, most in (("diabetic_data", (1e-3, 1e-4, 1e-5), 10), ("census_income_kdd", (), 60)):
        path = folder / f"{name}.parquet"
        policy = discreet.analyze(discreet.read(path)).policy()
        data, settings = discreet.read(path, policy), dict(policy.risk["known_sets"])
        plain = KnownSets(**settings)
        score = plain.measure(data)
        print_row(
            f"{name}, {score['sets']:,} sets",
            "",
            f"{seconds(partial(plain.measure, data), 1):.2f} s, {score['undecided']:,} undecided",
            "",
        )
        fine = None
        for epsilon in epsilons:
            measure = KnownSets(**(settings | {"epsilon": epsilon}))
            if measure.measure(data)["undecided"] < UNDECIDED * len(data):
                fine = seconds(partial(measure.measure, data), 1)
                break
        if fine is None:  # no epsilon that was tried decides enough records: not run to the end, which takes many minutes
            continue
        started = time.perf_counter()
        score = KnownSets(**settings, decide=True).measure(data)
        took = time.perf_counter() - started
        print_row(
            f"decide on {name}, {score['undecided']:,} undecided",
            f"epsilon {epsilon:g}, {fine:.1f} s",
            f"{took:.1f} s, {took / fine:.1f} times it",
            f"at most {most} s, 3 times it",
        )


def run_quietly(*arguments: object, cache: Path | None = None) -> None:
    """Run the command line, with a folder for compiled code that may be empty."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    if cache is not None:
        environment["XDG_CACHE_HOME"] = str(cache)
    command = [sys.executable, "-c", "from discreet.cli import main; main()", *map(str, arguments)]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def start_goals() -> None:
    with tempfile.TemporaryDirectory() as folder:
        table, policy = Path(folder) / "table.csv", Path(folder) / "policy.yaml"
        data = students(1000, dense=True)
        data.frame.select(data.columns[:20]).write_csv(table)
        run_quietly("analyze", table, "-o", policy)
        first = "  - {method: remove_identifiers}\n"
        more = "  - {method: pram, columns: [lunch], retention: 0.8}\n  - {method: sampling, fraction: 0.8}\n"
        policy.write_text(policy.read_text(encoding="utf-8").replace(first, first + more), encoding="utf-8")
        start = seconds(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))
        for name, targets, warm_goal, cold_goal in (
            ("risk", (), 1.0, 2.5),
            ("mask", (Path(folder) / "out.csv", "--overwrite"), 1.2, 4.0),
        ):
            job = (name, table, *targets, "-p", policy)
            cold = seconds(partial(run_quietly, *job, cache=Path(folder) / f"cache-{name}"), 1)
            warm = seconds(partial(run_quietly, *job))
            print_row(
                f"{name}, 1,000 x 20, first run ever", f"python's start {start:.2f} s", f"{cold:.2f} s", f"under {cold_goal} s"
            )
            print_row(f"{name}, 1,000 x 20, warm", f"python's start {start:.2f} s", f"{warm:.2f} s", f"under {warm_goal} s")


def main(folder: str | None = None, records: int = 1_009_993) -> None:
    print("| work | peer or floor | measured | goal |\n|---|---|---|---|")
    start_goals()
    data = students(records, dense=True)
    class_goals(data)
    known_sets_goals(data)
    tables = folder or os.environ.get("DISCREET_DATA")
    if tables:
        decide_goals(Path(tables))


if __name__ == "__main__":
    main(*sys.argv[1:2])
