"""Goals for large tables: a text key of millions of values, a large lattice, Spark, and a release by the web application.

python benchmarks/goals_large.py [texts | lattice | spark | web] [folder of real tables]

Each job runs in a process of its own with a time limit, and prints its rows; without arguments all of them run. The lattice needs
students_bench.parquet and students_hierarchies in the folder, or in the one that DISCREET_DATA names.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet
from discreet.testing import students

JOBS = {"texts": 300, "lattice": 400, "spark": 600, "web": 600}
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
    from discreet.engine.spark.session import session

    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", "--driver-memory 8g pyspark-shell")
    session("spark://local[2]")
    policy = students(5000).policy
    with tempfile.TemporaryDirectory() as folder:
        took: dict[str, float] = {}
        for size in (5000, records):  # first a small table, so that workers are up and kernels compiled
            path = Path(folder) / f"{size}.parquet"
            students(size).frame.write_parquet(path, row_group_size=250_000)
            for engine in ("local", "spark"):
                took[engine], _ = timed(
                    lambda p=path, e=engine: discreet.risk(discreet.read(p, policy, engine=e), "known_sets")["known_sets"]
                )
    ratio = took["spark"] / took["local"]
    print_row(
        f"known_sets, 111 sets, Spark local[2], {records:,} records, {took['spark']:.1f} s",
        f"local engine {took['local']:.1f} s", f"{ratio:.1f} times it", "at most 3",
    )  # fmt: skip


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
            line.append(timed(lambda: run("from discreet.cli import main; main()", *command))[0])
            web.append(timed(lambda: run(WEB_JOB, str(inputs)))[0])
    print_row(
        f"web: generate {records:,} x {len(data.columns)}, three steps, {min(web):.1f} s",
        f"mask --report --link on the command line {min(line):.1f} s", f"{min(web) / min(line):.2f} times it", "at most 1.3",
    )  # fmt: skip


def run(program: str, *arguments: str) -> None:
    finished = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, check=False, text=True)
    if finished.returncode not in (0, 1):
        raise SystemExit(finished.stderr[-2000:])


def run_all(folder: Path | None) -> None:
    """Each job in its own process, stopped at its time limit."""
    for job, seconds in JOBS.items():
        command = [sys.executable, __file__, job, *([] if folder is None else [str(folder)])]
        try:
            subprocess.run(command, check=False, timeout=seconds)
        except subprocess.TimeoutExpired:
            print_row(job, "", f"not in {seconds} s", "")


def main(*arguments: str) -> None:
    job = arguments[0] if arguments and arguments[0] in JOBS else None
    given = arguments[1 if job else 0 :]
    place = given[0] if given else os.environ.get("DISCREET_DATA")
    folder = Path(place) if place else None
    if job is None:
        run_all(folder)
    elif job == "lattice":
        lattice_goals(folder)
    else:
        {"texts": text_goals, "spark": spark_goals, "web": web_goals}[job]()


if __name__ == "__main__":
    main(*sys.argv[1:])
