"""CSV to Parquet, 1,009,993 x 27: discreet convert against Polars doing the same, in turns, in one run."""

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
    print(f"{ROWS:,} x {frame.width}, CSV to Parquet, median of {ROUNDS} rounds in turns\n")
    print("| table | way | seconds | ratio to the faster Polars |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "t.csv", Path(folder) / "t.parquet"
        for kind, table in (("as generated", frame), ("integer codes", codes)):
            table.write_csv(source)
            ways: dict[str, Callable[[], object]] = {
                "discreet convert": lambda: convert(source, target, Policy(), overwrite=True),
                "Polars scan_csv, sink_parquet": lambda: pl.scan_csv(source).sink_parquet(target),
                "Polars read_csv, write_parquet": lambda: pl.read_csv(source).write_parquet(target),
            }
            taken: dict[str, list[float]] = {way: [] for way in ways}
            for number in range(ROUNDS + 1):
                for way, run in ways.items():
                    spent = seconds(run)
                    if number:  # the first round warms the threads and the page cache
                        taken[way].append(spent)
            middle = {way: statistics.median(spent) for way, spent in taken.items()}
            peer = min(spent for way, spent in middle.items() if way.startswith("Polars"))
            for way, spent in middle.items():
                print(f"| {kind} | {way} | {spent:.2f} | {spent / peer:.2f} |")


if __name__ == "__main__":
    main()
