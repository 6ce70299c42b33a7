"""Special uniques: time at 100,000 and 1,000,000 records against sdcMicro's suda2, growth to 4M, more keys and larger sets.

    python benchmarks/special_uniques.py [RECORDS]

RECORDS (default 4,000,000): larger tables are left out. Prints a Markdown table; each time is the best of three on a table not
encoded before. The times of sdcMicro are constants from another run on two cores, with 8 keys of another generated table; its
suda2 always searches sets of all sizes.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
import polars as pl

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


def best_of_three(frame: pl.DataFrame, measure: SpecialUniques) -> tuple[float, int]:
    """Seconds, and the number of minimal sample uniques."""
    policy = Policy(attributes={name: Attribute(role=Role.KEY) for name in frame.columns})
    seconds, minimal_uniques = [], 0
    for _ in range(3):
        data = Microdata(frame, policy)
        started = time.perf_counter()
        minimal_uniques = measure.measure(data)["minimal_uniques"]
        seconds.append(time.perf_counter() - started)
    return min(seconds), minimal_uniques


def main() -> None:
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000_000
    best_of_three(survey(50_000, 8), SpecialUniques())  # compiles or loads the kernels
    cases = [(size, 8, 3) for size in (100_000, 1_000_000, 4_000_000)] + [(1_000_000, 15, 3), (1_000_000, 8, 8)]
    seconds: dict[tuple[int, int, int], float] = {}
    print("| records | keys | max_size | minimal sample uniques | seconds | times sdcMicro |")
    print("|---|---|---|---|---|---|")
    for case in cases:
        records, keys, max_size = case
        if records > largest:
            continue
        seconds[case], minimal_uniques = best_of_three(survey(records, keys), SpecialUniques(max_size=max_size))
        peer = SDCMICRO_SECONDS.get(records) if keys == 8 and max_size == 3 else None
        faster = f"{peer / seconds[case]:.1f}" if peer else ""
        print(f"| {records:,} | {keys} | {max_size} | {minimal_uniques:,} | {seconds[case]:.2f} | {faster} |")
    if (4_000_000, 8, 3) in seconds:
        print(f"\ngrowth from 1M to 4M records: {seconds[4_000_000, 8, 3] / seconds[1_000_000, 8, 3]:.2f} times")
    print(f"\npeak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main()
