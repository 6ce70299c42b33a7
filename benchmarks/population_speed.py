"""Time and memory of the measures of population risk on a generated table of 1,000,000 records and 8 keys; needs no data.

    python benchmarks/population_speed.py [individual_risk] [two-way] [auto] [known_sets]

Each row is measured in a process of its own; the first of its two runs compiles. The row ``known_sets`` compares
``population: model`` with the plain run on a million students and 111 sets. Default: all rows.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time

import numpy as np
from population_known_sets import print_times

from discreet.risks.individual_risk.measure import IndividualRisk
from discreet.risks.population_uniqueness.measure import PopulationUniqueness
from discreet.testing import table

KEYS = (40, 12, 10, 8, 6, 4, 3, 2)
RUNS = {
    "individual_risk": (IndividualRisk, {}),
    "two-way": (PopulationUniqueness, {"model": "log_linear", "terms": "two_way"}),
    "auto": (PopulationUniqueness, {"model": "auto"}),
}


def measure_speed(name: str) -> tuple[float, float, float, float]:
    """Seconds and processor seconds of a second run, and the process's peak memory before and after both, in MB."""
    generator = np.random.default_rng(1)
    latent = generator.random(1_000_000)
    columns = {
        f"key{place}": np.minimum((latent + generator.random(len(latent)) ** 2) / 2 * values, values - 1)
        .astype(np.int64)
        .tolist()
        for place, values in enumerate(KEYS)
    }
    data = table(columns, key=list(columns))
    measure, parameters = RUNS[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for _ in range(2):
        began, processor = time.perf_counter(), time.process_time()
        measure.model_validate({**parameters, "sampling_fraction": 0.05}).measure(data)
        seconds = time.perf_counter() - began, time.process_time() - processor
    return *seconds, before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    named = sys.argv[1:] or [*RUNS, "known_sets"]
    print("| 1,000,000 records x 8 keys | seconds | processor seconds | peak memory with the table | before |")
    print("|---|---|---|---|---|")
    for name in RUNS:
        if name not in named:
            continue
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            seconds, processor, before, after = pool.apply(measure_speed, (name,))
        print(f"| {name} | {seconds:.2f} | {processor:.2f} | {after:,.0f} MB | {before:,.0f} MB |", flush=True)
    if "known_sets" in named:
        print_times(1_000_000)


if __name__ == "__main__":
    main()
