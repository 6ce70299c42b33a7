"""Several records per person: the partition against Mondrian by the same code, its growth, and the measure against DuckDB.

    python benchmarks/repeated_records.py [RECORDS]

Prints Markdown tables of ratios measured in this run, each the best of three.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import duckdb

from discreet.engine.draws.draw import KeyedDraw
from discreet.masking.balanced_partition.method import BalancedPartition
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.repeated_records.measure import RepeatedRecords
from discreet.testing import patients

KEYS = ["birth_year", "sex", "zip", "year", "admission", "days"]
CONFIDENTIAL = ["diagnosis", "medication"]
DRAW = KeyedDraw(0)
BALANCE = BalancedPartition(g=0.9, h=0.5)
RECORDS = BalancedPartition(criterion="records", k=10)


def stays(size: int) -> Microdata:
    """The generated patients with six keys and two confidential attributes."""
    data = patients(size)
    attributes = {name: data.policy.attributes[name] for name in ["patient", *KEYS, *CONFIDENTIAL]}
    return Microdata(data.frame.select(list(attributes)), Policy(attributes=attributes), data.source)


def best(work: Callable[[], Any]) -> float:
    taken = []
    for _ in range(3):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return min(taken)


def fresh(data: Microdata) -> Microdata:
    """The same table with nothing encoded yet."""
    return Microdata(data.frame, data.policy, data.source)


def group_by(data: Microdata) -> int:
    """One DuckDB GROUP BY of (keys, person)."""
    names = ", ".join([*KEYS, "patient"])
    records = data.frame.to_arrow()  # noqa: F841 - DuckDB finds it by name
    return len(duckdb.sql(f"select {names}, count(*) from records group by {names}").to_arrow_table())


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    one, four = stays(size), stays(4 * size)
    persons = one.frame["patient"].n_unique()
    BALANCE.mask(stays(2_000), KEYS, DRAW)  # compiled before anything is timed
    RepeatedRecords().measure(stays(2_000))
    records = best(lambda: RECORDS.mask(fresh(one), KEYS, DRAW))
    balance = best(lambda: BALANCE.mask(fresh(one), KEYS, DRAW))
    more = best(lambda: BALANCE.mask(fresh(four), KEYS, DRAW))
    measure = best(lambda: RepeatedRecords().measure(fresh(one)))
    duck = best(lambda: group_by(one))
    print(f"{size:,} records, {persons:,} persons, {len(KEYS)} keys, {len(CONFIDENTIAL)} confidential attributes\n")
    print("| job | seconds | beside | seconds | ratio |\n|---|---|---|---|---|")
    rows = [
        ("balanced_partition, g 0.9, h 0.5", balance, "criterion: records, k 10", records),
        (f"the same, {4 * size:,} records", more, f"{size:,} records", balance),
        ("repeated_records", measure, "DuckDB GROUP BY (keys, person)", duck),
    ]
    for job, ours, beside, theirs in rows:
        print(f"| {job} | {ours:.2f} | {beside} | {theirs:.2f} | {ours / theirs:.2f} |")


if __name__ == "__main__":
    main()
