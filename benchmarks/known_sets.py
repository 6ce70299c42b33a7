"""known_sets against Polars, DuckDB and a floor, on the table of the paper's size. Prints a Markdown table of ratios.

python benchmarks/known_sets.py [records]
"""

from __future__ import annotations

import math
import resource
import sys
import time
import tracemalloc
from collections.abc import Callable

import duckdb
import numpy as np
import polars as pl

from discreet.engine.cells.hierarchies import hierarchy_of, leaf_codes
from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.encoding.columns import encode
from discreet.engine.known_sets.family import family
from discreet.engine.known_sets.sums import known_sets
from discreet.masking.targeted_generalization.method import TargetedGeneralization
from discreet.model.microdata import Microdata
from discreet.risks.known_sets.measure import KnownSets
from discreet.testing import students


def seconds(job: Callable[[], object], times: int = 3) -> float:
    """The best of a few runs: what the machine can do when nobody disturbs it."""
    best = math.inf
    for _ in range(times):
        started = time.perf_counter()
        job()
        best = min(best, time.perf_counter() - started)
    return best


def sets_of(data: Microdata) -> list[tuple[list[str], float]]:
    names = list(data.policy.attributes)
    tree = family([data.attribute(name).known for name in names], 0.01, 1000)
    return [([names[at] for at in tree.members(node)], float(tree.chance[node])) for node in range(len(tree))]


def polars_sum(frame: pl.DataFrame, sets: list[tuple[list[str], float]]) -> pl.DataFrame:
    """The sum of the likelihoods per record: one window per set."""
    parts = [chance / (pl.len().over(names) if names else pl.len()) for names, chance in sets]
    return frame.lazy().select(pl.sum_horizontal(parts)).collect()


def duckdb_sum(frame: pl.DataFrame, sets: list[tuple[list[str], float]]) -> float:
    """One GROUP BY per set, joined back and summed; only the total, no number per record is kept."""
    connection = duckdb.connect()
    connection.register("given", frame.to_arrow())
    connection.execute("create table t as select * from given")
    total = 0.0
    for names, chance in sets:
        if not names:
            total += chance
            continue
        keys = ", ".join(names)
        query = f"select sum({chance} / n) from t join (select {keys}, count(*) n from t group by {keys}) using ({keys})"
        total += connection.execute(query).fetchone()[0]  # type: ignore[index]
    return total


def memory(data: Microdata) -> float:
    """Bytes per record at the peak above the encoded table."""
    tracemalloc.start()
    known_sets(data, epsilon=0.01, max_sets=1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / len(data)


def generalized(data: Microdata, share: float = 0.1, each: float = 0.4) -> Microdata:
    """The table with a share of its records generalized: each of their keys, with a chance, to a level of its hierarchy."""
    rng = np.random.default_rng(1)
    chosen = rng.random(len(data)) < share
    changed = {}
    for name in data.columns:
        if data.attribute(name).hierarchy is None:
            continue
        column, tree = encode(data, [name])[0], hierarchy_of(data, name)
        leaves = leaf_codes(column, tree)
        labels = pl.Series([tree.labels[level][leaf] for level in range(tree.height) for leaf in leaves])
        level = np.where(chosen & (rng.random(len(data)) < each), rng.integers(1, max(tree.height, 2), len(data)), 0)
        level = np.minimum(level, tree.height - 1)
        changed[name] = labels.gather(pl.Series(level * len(leaves) + column.codes))
    return data.with_columns(changed)


def targeted(data: Microdata, records: int = 300) -> Microdata:
    """The table after targeted_generalization of about so many of its riskiest records."""
    risk = np.sort(KnownSets(missing="wildcard").measure(data).per_record["risk"].to_numpy())
    method = TargetedGeneralization(threshold=float(risk[-records]))
    return method.mask(data, method.choose(data), KeyedDraw(7))


def overlapping(data: Microdata, plain: float) -> None:
    """Coarse cells that agree by overlap against the plain run, with the memory that they take."""
    for words, made, missing in (
        ("a tenth of the records generalized", generalized(data), "category"),
        ("after targeted_generalization of 300 records", targeted(data), "wildcard"),
    ):
        encode(made, made.columns)
        KnownSets(missing=missing).measure(made)
        tracemalloc.start()
        KnownSets(missing=missing).measure(made)
        peak = tracemalloc.get_traced_memory()[1] / len(made)
        tracemalloc.stop()
        took = seconds(lambda made=made, missing=missing: KnownSets(missing=missing).measure(made))  # type: ignore[misc]
        print(f"| {words} | plain | {took / plain:.1f} times it ({took:.2f} s, {peak:.0f} bytes per record) | at most 6 |")


def main(records: int = 1_009_993) -> None:
    data = students(records)
    sets = sets_of(data)
    keys = sorted({name for names, _ in sets for name in names})
    KnownSets().measure(data)  # compiled and encoded
    ours = seconds(lambda: KnownSets().measure(data))
    dense = students(records, dense=True)
    KnownSets().measure(dense)
    ours_dense = seconds(lambda: KnownSets().measure(dense))
    codes = np.random.default_rng(0).integers(0, 20_000, records)
    floor = seconds(lambda: np.bincount(codes, minlength=20_000)) * len(sets)
    plain = data.frame.select(keys)
    polars = seconds(lambda: polars_sum(plain, sets), 1)
    duck = seconds(lambda: duckdb_sum(plain, sets), 1)
    codes_frame = plain.select(pl.all().rank("dense").cast(pl.UInt32))
    polars_codes = seconds(lambda: polars_sum(codes_frame, sets), 1)
    fine = known_sets(data, epsilon=1e-5, max_sets=1_000_000)
    fine_seconds = seconds(lambda: known_sets(data, epsilon=1e-5, max_sets=1_000_000), 1)
    narrow = seconds(lambda: KnownSets(tolerance=0.05).measure(data), 1)
    several = students(4 * records)
    encode(several, several.columns)
    KnownSets().measure(several)
    four = seconds(lambda: KnownSets().measure(several), 2)
    print(f"students({records:,}), {len(sets)} sets, {ours:.3f} s (dense: {ours_dense:.3f} s)\n")
    print("| work | peer | ratio | goal |\n|---|---|---|---|")
    print(f"| risk of every record | Polars windows {polars:.2f} s | {polars / ours:.1f} times faster | 24 |")
    print(
        f"| the same | Polars windows on columns already coded {polars_codes:.2f} s | {polars_codes / ours:.1f} times faster | |"
    )
    print(f"| the same | DuckDB GROUP BY and join {duck:.2f} s | {duck / ours:.1f} times faster | 8 |")
    print(f"| the same, floor | np.bincount {floor:.3f} s on one core | {ours / floor:.2f} times it | at most 4 |")
    print(f"| most records sensitive | Polars windows | {polars / ours_dense:.1f} times faster | |")
    print(f"| tolerance 0.05 | epsilon 0.01 | {narrow / ours:.0f} times it ({narrow:.1f} s) | at most 40 |")
    print(f"| {4 * records:,} records | {records:,} | {four / ours:.2f} times it | at most 4.4 |")
    a_set = fine_seconds / len(fine.tree) / (ours / len(sets))
    print(
        f"| epsilon 1e-5, {len(fine.tree):,} sets, time per set | time per set at epsilon 0.01 | {a_set:.2f} times it | below 1 |"
    )
    overlapping(data, ours)
    print(f"| memory above the encoded table | | {memory(data):.0f} bytes per record | under 40 |")
    print(f"\npeak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB")


if __name__ == "__main__":
    main(*(int(argument.replace(",", "")) for argument in sys.argv[1:]))
