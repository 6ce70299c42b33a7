"""known_sets of tables that do not fit into memory: peak, time and what was told beforehand. Prints a Markdown table.

python benchmarks/larger_than_memory.py [records …]      (10,000,000 and 100,000,000 where none are named)

The tables have ten attributes of students in the proportions of the paper's table, are written in parts to a temporary folder,
and are deleted afterwards (half a gigabyte for 100 million records). Each is measured by a process of its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PART = 1_000_000
KNOWN = {
    "gender": 0.8, "ethnicity": 0.9, "age": 0.05, "parish": 0.6, "school": 0.3, "grade": 0.2, "lunch": 0.04, "birth_month": 0.04,
    "birth_year": 0.15, "dropout": 0.005,
}  # fmt: skip
CHILD = """
import json, re, resource, sys, time
from discreet import verbs
from discreet.convert.reading import streamed
streamed.WORTH_TELLING = 0
told, started = [], time.perf_counter()
data = verbs.scan(sys.argv[1], sys.argv[2], ["known_sets"], told.append)
read = time.perf_counter() - started
score = verbs.risk(data, ["known_sets"])["known_sets"]
usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"told": told[0], "read": read, "seconds": time.perf_counter() - started, "sets": score["sets"],
                  "processor": usage.ru_utime + usage.ru_stime,
                  # VmHWM is this program's own; ru_maxrss would begin at what the process that started it held
                  "peak": 1024 * int(re.search(r"VmHWM:\\s*([0-9]+)", open("/proc/self/status").read())[1])}))
"""


def falling(number: int) -> list[float]:
    """Shares that fall slowly."""
    weights = 1 / np.arange(1, number + 1) ** 0.7
    return list(weights / weights.sum())


def part(size: int, seed: int) -> pa.Table:
    """Some students: schools lie in parishes and go with grades, age follows grade, the year of birth follows age."""
    random = np.random.default_rng(seed)

    def pick(shares: Sequence[float]) -> np.ndarray:
        return np.searchsorted(np.cumsum(shares)[:-1], random.random(size, dtype=np.float32)).astype(np.int32)

    def words(codes: np.ndarray, names: Sequence[str]) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(list(names)))

    parish, grade, month = pick(falling(64)), random.integers(0, 14, size, dtype=np.int32), random.integers(1, 13, size)
    ethnicity = (pick([0.45, 0.42, 0.06, 0.04, 0.02, 0.007, 0.003]) + (parish % 3 == 0) * (random.random(size) < 0.3)) % 7
    age = grade + 4 + pick([0.05, 0.7, 0.18, 0.05, 0.02])
    parishes = [f"Parish {at:02d}" for at in range(64)]
    return pa.table(
        {
            "gender": words(random.integers(0, 2, size), ["F", "M"]),
            "ethnicity": words(ethnicity, ["Asian", "Black", "Hispanic", "Multiple", "Native", "Pacific", "White"]),
            "age": pa.array(age.astype(np.int64)),
            "parish": words(parish, parishes),
            "school": words(
                parish * 25 + grade // 5 * 8 + pick(falling(8)), [f"{parishes[at // 25]} School {at % 25}" for at in range(1600)]
            ),
            "grade": words(grade, ["PK", "K", *map(str, range(1, 13))]),
            "lunch": words(pick([0.5, 0.1, 0.4]), ["free", "reduced", "paid"]),
            "birth_month": pa.array(month),
            "birth_year": pa.array((2000 + pick([0.2] * 5) - age - (month > 9)).astype(np.int64)),
            "dropout": words(random.random(size) < 0.015, ["no", "yes"]),
        }
    )


def write(path: Path, records: int) -> None:
    """A Parquet file, a row group a part; the texts are plain to whoever reads it."""
    schema = part(1, 0).schema
    with pq.ParquetWriter(path, schema, compression="zstd", compression_level=1, store_schema=False) as writer:
        for seed, begin in enumerate(range(0, records, PART)):
            writer.write_table(part(min(PART, records - begin), seed), row_group_size=PART)


def policy(path: Path, everyone: bool) -> Path:
    """Something is to be learnt of the 1.5 % who dropped out, or of everyone."""
    attributes: dict[str, Any] = {name: {"role": "key", "known": known} for name, known in KNOWN.items()}
    attributes["dropout"].update({"role": "confidential", "sensitivity": 1.0, "values": {"yes": 1.0, "no": 0.2 * everyone}})
    path.write_text(json.dumps({"attributes": attributes, "risk": {"known_sets": {"epsilon": 0.01}}}))  # JSON is YAML
    return path


def main(sizes: Sequence[int] = (10_000_000, 100_000_000)) -> None:
    print("| records | who holds something sensitive | told beforehand | peak | told / peak | wall (reading) | processor |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            table = Path(folder) / "students.parquet"
            write(table, size)
            for everyone in (False, True):
                said = policy(Path(folder) / "policy.yaml", everyone)
                run = subprocess.run([sys.executable, "-c", CHILD, table, said], capture_output=True, text=True, check=True)
                found = json.loads(run.stdout)
                number, unit = found["told"].split("about ")[1].split()[:2]
                told = float(number) * {"GB": 1e9, "MB": 1e6}[unit]
                print(
                    f"| {size:,} | {'all' if everyone else '1.5 %'} | {told / 1e9:.2f} GB | {found['peak'] / 1e9:.2f} GB | "
                    f"{told / found['peak']:.2f} | {found['seconds']:.0f} s ({found['read']:.0f} s) | "
                    f"{found['processor']:.0f} s |",
                    flush=True,
                )
            table.unlink()
    print(f"\n{found['sets']} known sets of {len(KNOWN)} attributes; this process held {_own_peak():.1f} GB")


def _own_peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


if __name__ == "__main__":
    started = time.perf_counter()
    main([int(argument.replace(",", "")) for argument in sys.argv[1:]] or (10_000_000, 100_000_000))
    print(f"{time.perf_counter() - started:.0f} s in all")
