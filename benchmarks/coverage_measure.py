"""Coverage against analyze on the same table: the ratio of their times. Goal: at most 3.

Run ``python benchmarks/coverage_measure.py [folder]``, the folder of census_income_kdd.parquet and diabetic_data.parquet;
without them, generated tables of like shape stand in for them.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

from discreet import verbs
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.risks.coverage.measure import Coverage


def generated(records: int, columns: int, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    made = {}
    for at in range(columns):
        kind = at % 4
        if kind == 0:
            made[f"code{at}"] = np.array([f"category {i}" for i in range(3 + at)])[rng.integers(0, 3 + at, records)]
        elif kind == 1:
            made[f"count{at}"] = rng.poisson(1 + at % 5, records)
        elif kind == 2:
            made[f"amount{at}"] = np.where(rng.random(records) < 0.6, 0, rng.integers(1, 9_999, records))
        else:
            made[f"flag{at}"] = rng.integers(0, 2, records)
    return pl.DataFrame(made)


def tables(folder: Path) -> list[tuple[str, pl.DataFrame]]:
    found = []
    for name, records, columns in (("census_income_kdd", 199_523, 42), ("diabetic_data", 101_766, 50)):
        file = folder / f"{name}.parquet"
        frame = pl.read_parquet(file) if file.exists() else generated(records, columns)
        found.append((name if file.exists() else f"like {name}", frame))
    return [*found, ("150 columns", generated(100_000, 150)), ("1,000,000 records", generated(1_000_000, 20))]


def masked(data: Microdata) -> Microdata:
    """Ten columns masked in ways that methods mask: blanked in part, shuffled, recoded; identifiers removed."""
    rng = np.random.default_rng(2)
    keys = [name for name in data.columns if data.attribute(name).role not in (Role.IDENTIFIER, Role.PERSON)][:10]
    changed = {}
    for at, name in enumerate(keys):
        column = data.frame[name]
        if at % 3 == 0:
            changed[name] = data.frame.select(pl.when(pl.Series(rng.random(len(data)) > 0.05)).then(pl.col(name)))[name]
        elif at % 3 == 1:
            changed[name] = column.gather(rng.permutation(len(data)))
        else:
            changed[name] = pl.Series(["*"] * len(data))
    return data.with_columns(changed).drop(data.named(Role.IDENTIFIER, Role.PERSON))


def main(folder: str = "../shared/data") -> None:
    print("| table | records | columns | analyze (s) | coverage (s) | ratio | goal |\n|---|---|---|---|---|---|---|")
    warm = Microdata(generated(2_000, 12))
    Coverage().measure(masked(warm), original=warm)
    for name, frame in tables(Path(folder)):
        started = time.perf_counter()
        profile = verbs.analyze(Microdata(frame))
        analyzed = time.perf_counter() - started
        data = Microdata(frame, profile.policy())
        release = masked(data)
        started = time.perf_counter()
        Coverage().measure(
            Microdata(release.frame, release.policy, records=release.records), original=Microdata(frame, data.policy)
        )
        covered = time.perf_counter() - started
        print(f"| {name} | {len(data):,} | {frame.width} | {analyzed:.2f} | {covered:.2f} | {covered / analyzed:.2f} | 3 |")


if __name__ == "__main__":
    main(*sys.argv[1:])
