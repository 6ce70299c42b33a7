"""Special uniques: time at 100,000 and 1,000,000 records against sdcMicro's suda2, growth to 4M, more keys and larger sets.

    python benchmarks/special_uniques.py [RECORDS]

RECORDS (default 4,000,000): larger tables are left out. Prints a Markdown table; each time is the best of three on a table not
encoded before, with the processor time of that run. Then suppression by score, and the memory of streaming all minimal sets of
each record to a file, for twice as many records with hundreds of sets each. The times of sdcMicro are constants from another run
on two cores, with 8 keys of another generated table; its suda2 always searches sets of all sizes.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from discreet.engine.draws.draw import KeyedDraw
from discreet.masking.targeted_suppression.method import TargetedSuppression
from discreet.model.attribute import Attribute, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.special_uniques.measure import SpecialUniques

SDCMICRO_SECONDS = {100_000: 2.1, 1_000_000: 29.0}
CARDINALITIES = (2, 5, 10, 20, 50, 8, 100, 30, 4, 6, 12, 3, 15, 40, 7)


def survey(records: int, keys: int) -> pl.DataFrame:
    """Keys with few to a hundred values, of which the first ones are the most frequent."""
    random = np.random.default_rng(20_080_216)
    return pl.DataFrame(
        {
            f"k{key}": np.minimum(cardinality - 1, random.exponential(cardinality / 4, records)).astype(np.int32)
            for key, cardinality in enumerate(CARDINALITIES[:keys])
        }
    )


def best_of_three(frame: pl.DataFrame, measure: SpecialUniques) -> tuple[float, float, int]:
    """Seconds, processor seconds of that run, and the number of minimal sample uniques."""
    policy = Policy(attributes={name: Attribute(role=Role.KEY) for name in frame.columns})
    seconds, minimal_uniques = [], 0
    for _ in range(3):
        data = Microdata(frame, policy)
        started, processor = time.perf_counter(), time.process_time()
        minimal_uniques = measure.measure(data)["minimal_uniques"]
        seconds.append((time.perf_counter() - started, time.process_time() - processor))
    return (*min(seconds), minimal_uniques)


def suppress(records: int) -> tuple[float, int, int]:
    """Seconds, records above the threshold before, and values suppressed, at a threshold that few records exceed."""
    frame = survey(records, 8)
    policy = Policy(attributes={name: Attribute(role=Role.KEY) for name in frame.columns})
    data = Microdata(frame, policy)
    threshold = 5.0  # the score of one set of three keys
    above = SpecialUniques(threshold=threshold).measure(data)["high_risk"]
    step = TargetedSuppression(risk="special_uniques", threshold=threshold, missing="wildcard")
    started = time.perf_counter()
    masked = step.mask(data, frame.columns, KeyedDraw(1))
    seconds = time.perf_counter() - started
    left = SpecialUniques(threshold=threshold, missing="wildcard").measure(masked)["high_risk"]
    if left:
        raise SystemExit(f"{left} records are still above the threshold")
    return seconds, above, int(masked.frame.null_count().sum_horizontal()[0])


def stream(records: int, folder: Path) -> tuple[float, int, float]:
    """Seconds, minimal sets written, and the peak memory in MB of a process that writes those of 15 keys of 200 values."""
    random = np.random.default_rng(20_080_217)
    pl.DataFrame({f"k{key}": random.integers(0, 200, records) for key in range(15)}).write_parquet(folder / "table.parquet")
    roles = "".join(f"  k{key}: {{role: key}}\n" for key in range(15))
    (folder / "policy.yaml").write_text(f"attributes:\n{roles}risk:\n  special_uniques: {{}}\n")
    words = ["risk", "table.parquet", "-p", "policy.yaml", "--records", "records.csv", "--overwrite"]
    started = time.perf_counter()
    # not getrusage, whose peak a process inherits from the one that starts it
    program = (
        "import re, sys; from discreet.cli import main; code = 0\n"
        "try: main()\nexcept SystemExit as stop: code = stop.code or 0\n"
        "peak = int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) / 1024\n"
        "print(code, peak, file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", program, *words], cwd=folder, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - started
    code, memory = run.stderr.split()[-2:]
    if code != "0":
        raise SystemExit(run.stderr)
    sets = pl.scan_csv(folder / "records.csv").select(pl.col("special_uniques.minimal_uniques").sum()).collect().item()
    return seconds, sets, float(memory)


def main() -> None:
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000_000
    best_of_three(survey(50_000, 8), SpecialUniques())  # compiles or loads the kernels
    cases = [(size, 8, 3) for size in (100_000, 1_000_000, 4_000_000)] + [(100_000, 8, 8), (1_000_000, 8, 8), (1_000_000, 15, 3)]
    seconds: dict[tuple[int, int, int], float] = {}
    processor: dict[tuple[int, int, int], float] = {}
    print("| records | keys | max_size | minimal sample uniques | seconds | processor seconds | times sdcMicro |")
    print("|---|---|---|---|---|---|---|")
    for case in cases:
        records, keys, max_size = case
        if records > largest:
            continue
        seconds[case], processor[case], minimal_uniques = best_of_three(survey(records, keys), SpecialUniques(max_size=max_size))
        peer = SDCMICRO_SECONDS.get(records) if keys == 8 else None
        faster = f"{peer / seconds[case]:.1f}" if peer else ""
        times = f"{seconds[case]:.2f} | {processor[case]:.2f}"
        print(f"| {records:,} | {keys} | {max_size} | {minimal_uniques:,} | {times} | {faster} |", flush=True)
    if (4_000_000, 8, 3) in seconds:
        growth = [times[4_000_000, 8, 3] / times[1_000_000, 8, 3] for times in (seconds, processor)]
        print(f"\ngrowth from 1M to 4M records: {growth[0]:.2f} times, in processor time {growth[1]:.2f} times")
    print(f"\npeak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB", flush=True)
    taken, above, suppressed = suppress(min(largest, 1_000_000))
    print(f"\nsuppression by score: {above:,} records above, {suppressed:,} values suppressed, {taken:.1f} s", flush=True)
    with TemporaryDirectory() as folder:
        for records in (50_000, 100_000):
            taken, sets, memory = stream(records, Path(folder))
            print(f"\n{sets:,} minimal sets of {records:,} records streamed to a file: {taken:.1f} s, {memory:,.0f} MB")


if __name__ == "__main__":
    main()
