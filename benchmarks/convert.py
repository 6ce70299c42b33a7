"""CSV to Parquet, 1,009,993 x 27: discreet convert compared with Polars, alternating, in one run."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl

from discreet.convert import convert
from discreet.model.policy import Policy
from discreet.testing import students

ROWS = 1_009_993
ROUNDS = 7


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> None:
    frame = students(ROWS).frame
    codes = frame.with_columns(pl.col(name).rank("dense").cast(pl.Int64) - 1 for name in frame.columns)
    print(f"{ROWS:,} x {frame.width}, CSV to Parquet, median of {ROUNDS} alternating rounds\n")
    print("| table | method | seconds | ratio to the faster Polars |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "t.csv", Path(folder) / "t.parquet"
        for table_name, table in (("as generated", frame), ("integer codes", codes)):
            table.write_csv(source)
            methods: dict[str, Callable[[], object]] = {
                "discreet convert": lambda: convert(source, target, Policy(), overwrite=True),
                "Polars scan_csv, sink_parquet": lambda: pl.scan_csv(source).sink_parquet(target),
                "Polars read_csv, write_parquet": lambda: pl.read_csv(source).write_parquet(target),
            }
            timings: dict[str, list[float]] = {method: [] for method in methods}
            for round_number in range(ROUNDS + 1):
                for method, run in methods.items():
                    spent = seconds(run)
                    if round_number:  # the first round warms the threads and the page cache
                        timings[method].append(spent)
            medians = {method: statistics.median(spent) for method, spent in timings.items()}
            fastest_polars = min(spent for method, spent in medians.items() if method.startswith("Polars"))
            for method, spent in medians.items():
                print(f"| {table_name} | {method} | {spent:.2f} | {spent / fastest_polars:.2f} |")


if __name__ == "__main__":
    main()
