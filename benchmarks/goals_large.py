"""Goals for large tables: a text key of millions of values, a large lattice, Spark, and a release by the web application.

python benchmarks/goals_large.py [--rows texts,lattice,spark,web] [folder of real tables]

Each job runs in a process of its own and prints each row as it ends; one that takes too long is stopped, so that all of them
together end within 25 minutes. The lattice needs students_bench.parquet and students_hierarchies in the folder, or in the one
that DISCREET_DATA names.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet
from discreet.testing import students

JOBS = {"texts": 240, "lattice": 330, "spark": 480, "web": 420}
"""The jobs, and after how many seconds each is stopped."""
RECORDS, VALUES = 10_000_000, 5_000_000
KEYS = ["gender", "ethnicity", "age", "parish", "grade", "lunch", "language", "birth_year"]
MORE_KEYS = [*KEYS, "birth_month", "school"]
SPARK_RECORDS, WEB_RECORDS = 4_039_972, 1_009_993


def print_row(work: str, peer: str, measured: str, goal: str) -> None:
    print(f"| {work} | {peer} | {measured} | {goal} |", flush=True)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def text_goals(records: int = RECORDS, values: int = VALUES) -> None:
    random = np.random.default_rng(0)
    people = pl.Series("person", random.integers(0, values, records))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.parquet"
        frame = people.to_frame().select(code=pl.format("P{}-{}", pl.col("person") * 7919 % values, "person"))
        frame = frame.with_columns(illness=pl.Series(random.integers(0, 3, records).astype(np.int8)))
        frame.write_parquet(path)
        policy = {
            "attributes": {
                "code": {"role": "key", "known": 0.5},
                "illness": {"role": "confidential", "known": 0.01, "sensitivity": 1},
            },
            "risk": {"k_anonymity": {}, "known_sets": {}},
        }
        discreet.risk(discreet.read(frame.head(600_000), policy))  # the kernels are compiled
        counting, groups = timed(lambda: pl.scan_parquet(path).group_by("code").len().collect(engine="streaming"))
        announced: list[str] = []
        took, _ = timed(lambda: discreet.risk(discreet.scan(path, policy, notice=announced.append)))
    print_row(
        f"risk (k_anonymity, known_sets) of {records:,} rows with a text key of {len(groups):,} values, {took:.1f} s",
        f"Polars counting the column {counting:.1f} s", f"{took / counting:.1f} times it; {' '.join(announced) or 'no notice'}",
        "at most 3",
    )  # fmt: skip


def lattice_goals(folder: Path | None) -> None:
    from discreet.masking.generalization.full_domain import full_domain
    from discreet.masking.generalization.privacy_model import PrivacyModel

    if folder is None:
        print_row("full domain", "", "needs the folder of real tables", "120 s")
        return
    frame = pl.read_parquet(folder / "students_bench.parquet")
    hierarchies = folder / "students_hierarchies"
    attributes = {key: {"role": "key", "hierarchy": str(hierarchies / f"{key}.csv")} for key in MORE_KEYS}
    data = discreet.read(frame.head(2000).select(MORE_KEYS), {"attributes": attributes})
    full_domain(data, KEYS, PrivacyModel(k=5), [], limit=2000, loss="loss_metric")
    for keys, goal in ((KEYS, "at most 4.5 s"), (MORE_KEYS, "120 s, or a proven gap")):
        data = discreet.read(frame.select(keys), {"attributes": {key: attributes[key] for key in keys}})
        limit = math.floor(0.05 * len(data))
        took, found = timed(
            lambda d=data, k=keys, n=limit: full_domain(d, k, PrivacyModel(k=5), [], limit=n, loss="loss_metric", seconds=120)
        )
        outcome = "proven optimum" if found.is_optimal else found.describe_gap()
        print_row(
            f"full domain, {len(keys)} keys, {found.nodes:,} nodes, {len(data):,} records, k = 5, 5 % suppression",
            f"{found.counted:,} nodes evaluated", f"{took:.1f} s, loss {found.node.loss:.8f}, {outcome}", goal,
        )  # fmt: skip


def spark_goals(records: int = SPARK_RECORDS) -> None:
    """The session is started and its code compiled before; the floor is what Spark needs to hand the columns to Python at all."""
    from discreet.engine.spark.session import session

    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", "--driver-memory 8g pyspark-shell")
    spark = session("spark://local[2]")
    policy = students(5000).policy
    took: dict[tuple[str, int], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in (5000, records // 4, records):  # first a small table, so that workers are up and kernels compiled
            path = Path(folder) / f"{size}.parquet"
            students(size).frame.write_parquet(path, row_group_size=250_000)
            engines: dict[str, Callable[[], Any]] = {
                "local": lambda p=path: measure_known_sets(p, policy, "local"),
                "spark": lambda p=path: measure_known_sets(p, policy, "spark"),
                "floor": lambda p=path: spark.read.parquet(str(p)).mapInArrow(count_rows, "n long").collect(),
            }
            for engine, work in engines.items():
                took[engine, size] = min(timed(work)[0] for _ in range(2))
    measured, local, floor = took["spark", records], took["local", records], took["floor", records]
    print_row(
        f"known_sets, 111 sets, Spark local[2], {records:,} records, {measured:.1f} s",
        f"local engine {local:.1f} s", f"{measured / local:.1f} times it", "at most 3",
    )  # fmt: skip
    print_row(
        f"the same, floor: Spark reads the columns and hands them to Python, which counts the rows, {floor:.1f} s",
        f"local engine {local:.1f} s", f"{floor / local:.1f} times it; known_sets is {measured / floor:.1f} times the floor", "",
    )  # fmt: skip
    before = took["spark", records // 4]
    print_row(
        f"the same, growth from {records // 4:,} records", f"{before:.1f} s", f"{measured / before:.1f} times it", "at most 4"
    )


def measure_known_sets(path: Path, policy: Any, engine: str) -> Any:
    return discreet.risk(discreet.read(path, policy, engine=engine), "known_sets")["known_sets"]


def count_rows(batches: Any) -> Any:
    """The work of a Python worker that does nothing with its rows."""
    import pyarrow as pa

    yield pa.RecordBatch.from_arrays([pa.array([sum(batch.num_rows for batch in batches)])], names=["n"])


WEB_JOB = "import json, sys; from discreet.web.jobs import work; work.generate(json.load(open(sys.argv[1])), None)"


def web_goals(records: int = WEB_RECORDS) -> None:
    """The process of the web application's job against the command line, which assesses, reports and writes the link too."""
    import json

    import yaml

    data = students(records)
    steps = [
        {"method": "remove_identifiers"},
        {"method": "pram", "columns": ["lunch"], "retention": 0.8},
        {"method": "sampling", "fraction": 0.8},
    ]
    policy = data.policy.model_dump(mode="json", exclude_defaults=True) | {"plan": {"steps": steps}}
    policy["limits"] = {"k_anonymity.k": 1}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, policy_file, inputs = folder / "table.parquet", folder / "policy.yaml", folder / "inputs.json"
        data.frame.write_parquet(table)
        policy_file.write_text(yaml.safe_dump(policy), encoding="utf-8")
        content = {
            "project": {"name": "p", "id": 1, "table_name": "t"}, "policy": policy, "folder": str(folder), "name": "t",
            "dataset": {"name": "d", "file": table.name, "id": 1}, "by": "me", "home": str(folder / "home"), "parameters": {},
        }  # fmt: skip
        command = [
            "mask", str(table), str(folder / "out.parquet"), "--overwrite", "-p", str(policy_file), "--report",
            str(folder / "r.html"), "--link", str(folder / "link.parquet"),
        ]  # fmt: skip
        line, web = [], []
        for number in range(3):
            inputs.write_text(json.dumps(content | {"job": f"j{number}"}), encoding="utf-8")
            line.append(timed_processes(lambda: run("from discreet.cli import main; main()", *command)))
            web.append(timed_processes(lambda: run(WEB_JOB, str(inputs))))
    (web_clock, web_used), (line_clock, line_used) = (tuple(map(min, zip(*times, strict=True))) for times in (web, line))
    print_row(
        f"web: generate {records:,} x {len(data.columns)}, three steps, {web_clock:.1f} s, {web_used:.1f} s of processors",
        f"mask --report --link on the command line {line_clock:.1f} s, {line_used:.1f} s of processors",
        f"{web_clock / line_clock:.2f} times it by the clock, {web_used / line_used:.2f} by processors", "at most 1.3",
    )  # fmt: skip


def timed_processes(work: Callable[[], Any]) -> tuple[float, float]:
    """Seconds by the clock, and of processors that the processes which the work starts use until they end."""
    before = os.times()
    seconds, _ = timed(work)
    after = os.times()
    return seconds, after.children_user + after.children_system - before.children_user - before.children_system


def run(program: str, *arguments: str) -> None:
    finished = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, check=False, text=True)
    if finished.returncode not in (0, 1):
        raise SystemExit(finished.stderr[-2000:])


def run_all(folder: Path | None, jobs: Sequence[str] = tuple(JOBS)) -> None:
    """Each job in its own process, stopped at its time limit."""
    for job in jobs:
        command = [sys.executable, __file__, "--job", job, *([] if folder is None else [str(folder)])]
        try:
            subprocess.run(command, check=False, timeout=JOBS[job])
        except subprocess.TimeoutExpired:
            print_row(job, "", f"not in {JOBS[job]} s", "")


def main() -> None:
    parser = argparse.ArgumentParser(description="The goals for large tables as one table of ratios.")
    parser.add_argument("folder", nargs="?", default=os.environ.get("DISCREET_DATA"), help="where the real tables are")
    parser.add_argument("--rows", default=",".join(JOBS), help=f"which rows, of {','.join(JOBS)}")
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    folder = Path(chosen.folder) if chosen.folder else None
    if chosen.job == "lattice":
        lattice_goals(folder)
    elif chosen.job:
        {"texts": text_goals, "spark": spark_goals, "web": web_goals}[chosen.job]()
    else:
        rows = chosen.rows.split(",")
        if unknown := set(rows) - set(JOBS):
            parser.error(f"no rows are called {', '.join(sorted(unknown))}; there are {', '.join(JOBS)}")
        print("| work | peer or floor | measured | goal |\n|---|---|---|---|", flush=True)
        run_all(folder, rows)


if __name__ == "__main__":
    main()
