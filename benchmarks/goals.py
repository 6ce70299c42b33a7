"""The goals for speed as one table of ratios: every record sensitive, real tables, small tables cold and warm.

python benchmarks/goals.py [--rows start,classes,dense,fine,tolerance,diabetic,census,large] [--records N] [folder of real tables]

Each ratio compares with a peer or a floor measured in the same run. Real tables are read from the folder, or from the one that
DISCREET_DATA names; rows that need them are left out without it. On a machine of 2 cores that does nothing else all rows take
about four minutes: fine (smaller epsilons) and tolerance are the longest, census ends after its 60 s of narrowing; large (text
keys, the lattice, Spark, the web application) takes up to half an hour more.
"""

from __future__ import annotations

import argparse
import os
import time
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
from goals_large import run_all as run_large_goals
from goals_start import print_start_goals
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
ROWS = ("start", "classes", "dense", "fine", "tolerance", "diabetic", "census", "large")


def print_row(work: str, peer: str, measured: str, goal: str) -> None:
    print(f"| {work} | {peer} | {measured} | {goal} |", flush=True)


def measure_plain(data: Microdata) -> float:
    """The seconds of the plain measure with everything encoded and compiled, which other rows are compared with."""
    encode(data, data.columns)
    KnownSets().measure(data)
    return seconds(lambda: KnownSets().measure(data))


def dense_goals(data: Microdata) -> None:
    sets = sets_of(data)
    keys = sorted({name for names, _ in sets for name in names})
    coded = data.frame.select(keys).select(pl.all().rank("dense").cast(pl.UInt32))
    ours = measure_plain(data)
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


def fine_goals(data: Microdata) -> None:
    cost = measure_plain(data) / KnownSets().measure(data)["sets"]
    for epsilon in (1e-4, 1e-5):
        started = time.perf_counter()
        number = KnownSets(epsilon=epsilon).measure(data)["sets"]
        fine = time.perf_counter() - started
        print_row(f"epsilon {epsilon:g}, {number:,} sets, {fine:.2f} s", "one set at epsilon 0.01",
                  f"a set costs {fine / number / cost:.2f} times as much", "below 1")  # fmt: skip


def tolerance_goals(data: Microdata) -> None:
    ours, started = measure_plain(data), time.perf_counter()
    score = KnownSets(tolerance=0.05).measure(data)
    took = time.perf_counter() - started
    left = next((note.split(" intervals")[0] for note in score.notes if "wider than requested" in note), "0")
    print_row(f"tolerance 0.05, {took:.1f} s, {left} intervals wider, widest {score['widest']:.2g}", "the plain run",
              f"{took / ours:.0f} times it", "at most 10")  # fmt: skip


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


def decide_goals(path: Path, epsilons: Sequence[float], most: int) -> None:
    """The plain run, the first smaller epsilon that leaves few records undecided, and ``decide``, with the proposed policy."""
    policy = discreet.analyze(discreet.read(path)).policy()
    data, settings = discreet.read(path, policy), dict(policy.risk["known_sets"])
    plain = KnownSets(**settings)
    score = plain.measure(data)
    plain_seconds = seconds(partial(plain.measure, data), 1)
    print_row(f"{path.stem}, {score['sets']:,} sets", "", f"{plain_seconds:.2f} s, {score['undecided']:,} undecided", "")
    fine, peer = None, "no epsilon with at most a million sets leaves under 1 % undecided"
    for epsilon in epsilons:
        measure = KnownSets(**(settings | {"epsilon": epsilon}))
        undecided = measure.measure(data)["undecided"]
        if undecided < UNDECIDED * len(data):
            fine = seconds(partial(measure.measure, data), 1)
            peer = f"epsilon {epsilon:g}, {fine:.1f} s, {undecided:,} undecided"
            break
    started = time.perf_counter()
    score = KnownSets(**settings, decide=True).measure(data)
    took = time.perf_counter() - started
    ratio = "" if fine is None else f", {took / fine:.1f} times it"
    print_row(f"decide on {path.stem}, {score['undecided']:,} undecided", peer, f"{took:.1f} s{ratio}",
              f"at most {most} s, 3 times it")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="The goals for speed as one table of ratios.")
    parser.add_argument("folder", nargs="?", default=os.environ.get("DISCREET_DATA"), help="where the real tables are")
    parser.add_argument("--rows", default=",".join(ROWS), help=f"which rows, of {','.join(ROWS)}")
    parser.add_argument("--records", type=int, default=1_009_993, help="records of the generated table")
    chosen = parser.parse_args()
    rows = chosen.rows.split(",")
    if unknown := set(rows) - set(ROWS):
        parser.error(f"no rows are called {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    print("| work | peer or floor | measured | goal |\n|---|---|---|---|")
    if "start" in rows:
        print_start_goals(print_row)
    generated = {"classes": class_goals, "dense": dense_goals, "fine": fine_goals, "tolerance": tolerance_goals}
    if set(rows) & set(generated):
        data = students(chosen.records, dense=True)
        for name in [name for name in generated if name in rows]:
            generated[name](data)
    if chosen.folder and "diabetic" in rows:
        decide_goals(Path(chosen.folder) / "diabetic_data.parquet", (1e-3, 1e-4, 1e-5), 10)
    if chosen.folder and "census" in rows:
        decide_goals(Path(chosen.folder) / "census_income_kdd.parquet", (), 60)
    if "large" in rows:
        run_large_goals(Path(chosen.folder) if chosen.folder else None)


if __name__ == "__main__":
    main()
