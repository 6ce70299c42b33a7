"""Local suppression to k = 3 on eight keys: time and values lost against sdcMicro's kAnon, and growth with the records.

Prints one Markdown table. Without arguments on ``students(1,009,993)``; with a Parquet file on that. sdcMicro's figures were
measured on a machine like this one (2 cores, 24 GiB) on the first 10,000 records of a table of this shape.
"""

from __future__ import annotations

import sys
import time

import polars as pl

from discreet.engine.classes.groups import class_sizes
from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.encoding.columns import encode
from discreet.masking.local_suppression.method import LocalSuppression
from discreet.model.microdata import Microdata
from discreet.testing import students

KEYS = ["gender", "ethnicity", "age", "parish", "grade", "lunch", "language", "birth_month"]
SDCMICRO_SECONDS, SDCMICRO_VALUES = 206.0, 13_703


def main() -> None:
    frame = pl.read_parquet(sys.argv[1]) if len(sys.argv) > 1 else students(1_009_993).frame
    draw = KeyedDraw(1)
    LocalSuppression(k=3).mask(Microdata(frame.head(500)), KEYS, draw)
    print("| records | seconds | values | against | |\n|---|---|---|---|---|")
    first = 0.0
    for size in (10_000, 100_000, frame.height):
        data = Microdata(frame.head(size))
        took = []
        for _ in range(3 if size < 100_000 else 1):
            started = time.perf_counter()
            masked = LocalSuppression(k=3).mask(Microdata(data.frame), KEYS, draw)
            took.append(time.perf_counter() - started)
        values = sum(masked.frame[key].null_count() - data.frame[key].null_count() for key in KEYS)
        if size == 10_000:
            first = min(took)
            least = int(class_sizes(encode(masked, KEYS), size, wildcard=True).min())
            fewer = 1 - values / SDCMICRO_VALUES
            told = f"sdcMicro {SDCMICRO_SECONDS:.0f} s, {SDCMICRO_VALUES:,} values | "
            told += f"{SDCMICRO_SECONDS / first:.0f} times faster, {fewer:.0%} fewer values, k = {least}"
        else:
            told = f"10,000 records | {min(took) / first:.0f} times the time"
        print(f"| {size:,} | {min(took):.2f} | {values:,} | {told} |")


if __name__ == "__main__":
    main()
