"""known_sets of tables that do not fit into memory: estimated memory, peak and time. Prints a Markdown table.

python benchmarks/larger_than_memory.py [records …]      (default: 10,000,000 and 100,000,000)

The tables have ten attributes of students in the proportions of the paper's table, are written to a temporary folder, and
are deleted afterwards (half a gigabyte for 100 million records). Each is measured by a separate process.
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

ROW_GROUP_SIZE = 1_000_000
KNOWN = {
    "gender": 0.8, "ethnicity": 0.9, "age": 0.05, "parish": 0.6, "school": 0.3, "grade": 0.2, "lunch": 0.04, "birth_month": 0.04,
    "birth_year": 0.15, "dropout": 0.005,
}  # fmt: skip
CHILD = """
import json, re, resource, sys, time
from discreet import verbs
from discreet.convert.reading import streamed
streamed.MIN_NOTICE_BYTES = 0
notices, started = [], time.perf_counter()
data = verbs.scan(sys.argv[1], sys.argv[2], ["known_sets"], notices.append)
read = time.perf_counter() - started
score = verbs.risk(data, ["known_sets"])["known_sets"]
usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"notice": notices[0], "read": read, "seconds": time.perf_counter() - started, "sets": score["sets"],
                  "processor": usage.ru_utime + usage.ru_stime,
                  # VmHWM is the peak of this program alone; ru_maxrss starts at the peak of the process that started it
                  "peak": 1024 * int(re.search(r"VmHWM:\\s*([0-9]+)", open("/proc/self/status").read())[1])}))
"""


def decreasing_shares(number: int) -> list[float]:
    """Shares in proportion to 1 / rank^0.7."""
    weights = 1 / np.arange(1, number + 1) ** 0.7
    return list(weights / weights.sum())


def generate_students(size: int, seed: int) -> pa.Table:
    """Students: schools lie in parishes and go with grades, age follows grade, the year of birth follows age."""
    random = np.random.default_rng(seed)

    def pick(shares: Sequence[float]) -> np.ndarray:
        return np.searchsorted(np.cumsum(shares)[:-1], random.random(size, dtype=np.float32)).astype(np.int32)

    def dictionary_column(codes: np.ndarray, names: Sequence[str]) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(list(names)))

    parish, grade, month = pick(decreasing_shares(64)), random.integers(0, 14, size, dtype=np.int32), random.integers(1, 13, size)
    ethnicity = (pick([0.45, 0.42, 0.06, 0.04, 0.02, 0.007, 0.003]) + (parish % 3 == 0) * (random.random(size) < 0.3)) % 7
    age = grade + 4 + pick([0.05, 0.7, 0.18, 0.05, 0.02])
    parishes = [f"Parish {index:02d}" for index in range(64)]
    return pa.table(
        {
            "gender": dictionary_column(random.integers(0, 2, size), ["F", "M"]),
            "ethnicity": dictionary_column(ethnicity, ["Asian", "Black", "Hispanic", "Multiple", "Native", "Pacific", "White"]),
            "age": pa.array(age.astype(np.int64)),
            "parish": dictionary_column(parish, parishes),
            "school": dictionary_column(
                parish * 25 + grade // 5 * 8 + pick(decreasing_shares(8)),
                [f"{parishes[index // 25]} School {index % 25}" for index in range(1600)],
            ),
            "grade": dictionary_column(grade, ["PK", "K", *map(str, range(1, 13))]),
            "lunch": dictionary_column(pick([0.5, 0.1, 0.4]), ["free", "reduced", "paid"]),
            "birth_month": pa.array(month),
            "birth_year": pa.array((2000 + pick([0.2] * 5) - age - (month > 9)).astype(np.int64)),
            "dropout": dictionary_column(random.random(size) < 0.015, ["no", "yes"]),
        }
    )


def write_table(path: Path, records: int) -> None:
    """Write a Parquet file in row groups; the texts are stored without Arrow's dictionary type."""
    schema = generate_students(1, 0).schema
    with pq.ParquetWriter(path, schema, compression="zstd", compression_level=1, store_schema=False) as writer:
        for seed, begin in enumerate(range(0, records, ROW_GROUP_SIZE)):
            writer.write_table(generate_students(min(ROW_GROUP_SIZE, records - begin), seed), row_group_size=ROW_GROUP_SIZE)


def write_policy(path: Path, everyone: bool) -> Path:
    """Only the 1.5 % who dropped out have a sensitive value, or everyone has."""
    attributes: dict[str, Any] = {name: {"role": "key", "known": known} for name, known in KNOWN.items()}
    attributes["dropout"].update({"role": "confidential", "sensitivity": 1.0, "values": {"yes": 1.0, "no": 0.2 * everyone}})
    path.write_text(json.dumps({"attributes": attributes, "risk": {"known_sets": {"epsilon": 0.01}}}))  # JSON is YAML
    return path


def main(sizes: Sequence[int] = (10_000_000, 100_000_000)) -> None:
    print("| records | with a sensitive value | estimated | peak | estimated / peak | wall (reading) | processor |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            table = Path(folder) / "students.parquet"
            write_table(table, size)
            for everyone in (False, True):
                policy_path = write_policy(Path(folder) / "policy.yaml", everyone)
                run = subprocess.run(
                    [sys.executable, "-c", CHILD, table, policy_path], capture_output=True, text=True, check=True
                )
                result = json.loads(run.stdout)
                number, unit = result["notice"].split("about ")[1].split()[:2]
                estimate = float(number) * {"GB": 1e9, "MB": 1e6}[unit]
                print(
                    f"| {size:,} | {'all' if everyone else '1.5 %'} | {estimate / 1e9:.2f} GB | {result['peak'] / 1e9:.2f} GB | "
                    f"{estimate / result['peak']:.2f} | {result['seconds']:.0f} s ({result['read']:.0f} s) | "
                    f"{result['processor']:.0f} s |",
                    flush=True,
                )
            table.unlink()
    print(f"\n{result['sets']} known sets of {len(KNOWN)} attributes; this process used {_own_peak():.1f} GB")


def _own_peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


if __name__ == "__main__":
    started = time.perf_counter()
    main([int(argument.replace(",", "")) for argument in sys.argv[1:]] or (10_000_000, 100_000_000))
    print(f"{time.perf_counter() - started:.0f} s in all")
