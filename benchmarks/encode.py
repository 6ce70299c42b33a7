"""Encoding columns, compared with Polars reading the same file and ranking each column densely. Prints the ratio."""

from __future__ import annotations

import math
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

from discreet.engine.encoding.columns import encode
from discreet.model.microdata import Microdata
from discreet.testing import students


def main(records: int = 1_009_993) -> None:
    with tempfile.TemporaryDirectory() as folder:
        print("| table | discreet: read and encode | Polars: read and rank | ratio | goal |\n|---|---|---|---|---|")
        data = students(records)
        codes = data.frame.select(pl.all().rank("dense").cast(pl.Int64))
        for name, frame in (("text and integers", data.frame), ("integer codes", codes)):
            file = Path(folder) / "table.parquet"
            frame.write_parquet(file)
            discreet_seconds = polars_seconds = math.inf
            for _ in range(5):
                started = time.perf_counter()
                table = Microdata(pl.read_parquet(file))
                encode(table, table.columns)
                discreet_seconds = min(discreet_seconds, time.perf_counter() - started)
                started = time.perf_counter()
                pl.read_parquet(file).select(pl.all().rank("dense"))
                polars_seconds = min(polars_seconds, time.perf_counter() - started)
            print(
                f"| {name}, {records:,} x 27 | {discreet_seconds:.3f} s | {polars_seconds:.3f} s | "
                f"{discreet_seconds / polars_seconds:.2f} | at most 1.5 |"
            )


if __name__ == "__main__":
    main(*(int(argument.replace(",", "")) for argument in sys.argv[1:]))
