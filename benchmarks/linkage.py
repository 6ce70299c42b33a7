"""Linkage against the tools one would use instead, in one run: a join in DuckDB, a k-d tree in SciPy."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import polars as pl
from scipy.spatial import cKDTree

from discreet.model.attribute import Attribute, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.record_linkage.measure import RecordLinkage
from discreet.risks.target_linkage.measure import TargetLinkage

KEYS = {"gender": 2, "ethnicity": 7, "age": 18, "parish": 64, "grade": 14, "lunch": 3, "language": 12, "birth_month": 12}


def timed(work: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    best, made = float("inf"), None
    for _ in range(times):
        started = time.perf_counter()
        made = work()
        best = min(best, time.perf_counter() - started)
    return best, made


def line(job: str, peer: str, mine: float, theirs: float) -> str:
    return f"| {job} | {peer} | {mine:.2f} s | {theirs:.2f} s | {mine / theirs:.2f} |"


def students(size: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame({name: (rng.integers(0, n, size) * rng.random(size)).astype(np.int64) for name, n in KEYS.items()})


def exact(size: int) -> str:
    """Targets and records on 8 keys: the count of agreeing records and the first of them, and all of (4.10) on top."""
    policy = Policy(attributes={name: Attribute(role=Role.KEY) for name in KEYS})
    left, right = students(size, 1), students(size, 2)

    def ours() -> Any:  # fresh tables each time, so that nothing encoded before is used again
        return TargetLinkage(sampling_fraction=0.5).measure(Microdata(right, policy), original=Microdata(left, policy))

    def theirs() -> Any:
        with duckdb.connect() as connection:
            connection.register("l", left.with_row_index().to_arrow())
            connection.register("r", right.with_row_index().to_arrow())
            condition = " and ".join(f"l.{name} = r.{name}" for name in KEYS)
            query = f"select l.index, count(r.index) n, min(r.index) best from l left join r on {condition} group by l.index"
            return connection.sql(query).to_arrow_table()

    ours()
    mine, score = timed(ours)
    yours, joined = timed(theirs)
    assert int(np.sum(joined["n"].to_numpy())) == int(score.per_record["candidates"].sum())
    return line(f"exact agreement, {size:,} x {size:,}, 8 keys", "DuckDB join, counted", mine, yours)


def nearest(size: int) -> str:
    """Masked records with noise against their originals on 5 numbers: ranks up to 10, control and interval disclosure too."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(size, 5)) @ rng.normal(size=(5, 5))
    noisy = values + rng.normal(scale=0.3, size=values.shape) * values.std(axis=0)
    names = list("abcde")
    policy = Policy(attributes={name: Attribute(role=Role.KEY) for name in names})
    original, masked = (pl.DataFrame(table, schema=names) for table in (values, noisy))

    def ours() -> Any:
        return RecordLinkage().measure(Microdata(masked, policy), original=Microdata(original, policy))

    scale = values.std(axis=0)

    def theirs() -> Any:
        return cKDTree(values / scale).query(noisy / scale)[1]

    ours()
    mine, score = timed(ours)
    yours, found = timed(theirs)
    assert abs(score["correct"] - (found == np.arange(size)).sum()) < 0.5
    return line(f"distance linkage, {size:,} x {size:,}, 5 numbers", "SciPy cKDTree, nearest one", mine, yours)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--points", type=int, default=100_000)
    asked = parser.parse_args()
    print("| job | peer | discreet | peer's time | ratio |\n|---|---|---|---|---|")
    print(exact(asked.records))
    print(nearest(asked.points))


if __name__ == "__main__":
    main()
