"""known_sets on Spark, local[2]: against one GROUP BY per set in Spark SQL, and the local engine; growth and shuffles.

Run with the numbers of records to grow over: ``python benchmarks/spark.py 1,009,993 4,039,972``. ``--no-sql`` leaves out Spark
SQL, which takes longer than all the rest. ``--cluster`` counts on the cluster even where all codes fit on one machine, as a
table that does not fit is counted. Times are by the clock and, as that is worth little on a busy machine, by the
processors: all that this process, Spark and its workers used.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import psutil

import discreet
from discreet.engine.known_sets.family import family
from discreet.engine.known_sets.sums import attributes
from discreet.risks.known_sets import spark_gather
from discreet.testing import students

SETS_BY_SQL = 6
"""How many of the sets the plain way counts; its time for all is reckoned from theirs."""


class Taken(NamedTuple):
    clock: float
    processors: float

    def __str__(self) -> str:
        return f"{self.clock:.1f} s ({self.processors:.1f} s of processors)"


def processors() -> float:
    """Seconds that this process and all below it have used."""
    here = psutil.Process()
    total = 0.0
    for one in [here, *here.children(recursive=True)]:
        try:
            times = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
        if one != here:
            total += times.children_user + times.children_system
    return total


def measured(job: Callable[[], Any]) -> tuple[Taken, Any]:
    begun, used = time.perf_counter(), processors()
    made = job()
    return Taken(time.perf_counter() - begun, processors() - used), made


def shuffled(spark: Any) -> int:
    """The bytes that all tasks so far wrote for shuffles, as Spark's own record of them says, a moment later."""
    time.sleep(1)
    executors = spark.sparkContext._jsc.sc().statusStore().executorList(False)
    return sum(executors.apply(at).totalShuffleWrite() for at in range(executors.size()))


def plain_sum(frame: Any, sets: list[tuple[tuple[str, ...], float]]) -> float:
    """The same sum as anybody would write it: one GROUP BY per set, joined back."""
    from pyspark.sql import functions as f

    total: Any = f.lit(0.0)
    for at, (names, chance) in enumerate(sets):
        counts = frame.groupBy(*names).agg(f.count(f.lit(1)).alias(f"n{at}"))
        frame = frame.join(counts, list(names))
        total = total + f.lit(chance) / f.col(f"n{at}")
    return float(frame.agg(f.sum(total)).collect()[0][0])


def known(data: Any) -> list[tuple[tuple[str, ...], float]]:
    names = attributes(data)
    tree = family([data.attribute(name).known for name in names], 0.01, 1_000_000)
    return [(tuple(names[at] for at in tree.members(node)), float(tree.chance[node])) for node in range(1, len(tree))]


def written(folder: Path, size: int) -> Path:
    path = folder / f"students{size}.parquet"
    students(size).frame.write_parquet(path, row_group_size=250_000)
    return path


def main(*sizes: int, sql: bool = True) -> None:
    sizes = sizes or (1_009_993, 4_039_972)
    from discreet.engine.spark.session import session

    # the plain way needs more than Java's default on a machine of 24 GiB
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", "--driver-memory 8g pyspark-shell")
    started, spark = measured(lambda: session("spark://local[2]"))
    print(f"a session starts in {started}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="discreet-spark-"))
    small = students(5000)
    policy, sets = small.policy, known(small)

    def risk(path: Path, engine: str) -> Any:
        return discreet.risk(discreet.read(path, policy, engine=engine), "known_sets")["known_sets"]

    for engine in ("spark", "local"):
        risk(written(folder, 5000), engine)  # Python's workers are up, the kernels compiled
    first = written(folder, sizes[0])
    taken, moved, shuffles = {}, 0, 0
    local, _ = measured(lambda: risk(first, "local"))
    print(f"{sizes[0]:,} records, local engine: {local}", flush=True)
    for size in sizes:
        path = first if size == sizes[0] else written(folder, size)
        before = shuffled(spark)
        taken[size], score = measured(lambda path=path: risk(path, "spark"))
        note = score.notes[-1]
        moved, shuffles = shuffled(spark) - before, int(note.split(" by ")[-1].split()[0]) if "shuffles" in note else 0
        a_set = moved / size / (len(sets) + 1)
        print(f"{size:,} records: {taken[size]}, {a_set:.2f} bytes shuffled per record and set, {note}", flush=True)
        if size == sizes[0] and sql:
            plain, part = by_sql(spark, first, sets)
    ours = taken[sizes[0]]
    print(f"\nstudents({sizes[0]:,}), {len(sets) + 1} sets, local[2]: {ours}; a session starts in {started}\n")
    print("| work | peer | by the clock | by the processors | goal |\n|---|---|---|---|---|")

    def row(work: str, peer: str, one: Taken, two: Taken, goal: str, word: str = "times it") -> None:
        print(f"| {work} | {peer} | {one.clock / two.clock:.2f} {word} | {one.processors / two.processors:.2f} {word} | {goal} |")

    if sql:
        row("risk of every record", f"Spark SQL, one GROUP BY per set, {plain}, {part}", plain, ours, "15", "times faster")
    both = Taken(local.clock + started.clock, local.processors + started.processors)
    all_of_it = Taken(ours.clock + started.clock, ours.processors + started.processors)
    row("file to numbers, session start with it", f"local engine {local} and session start", all_of_it, both, "at most 8")
    row("the same without session start", "local engine", ours, local, "")
    for one, two in pairwise(sizes):
        row(f"{two:,} records", f"{one:,}", taken[two], taken[one], f"at most {1.125 * two / one:.1f}")
    print(f"| shuffles | {len(sets) + 1} sets | {shuffles} | | at most {math.floor((len(sets) + 1) / 5)} |")
    print(f"| bytes shuffled | per record and set | {moved / sizes[-1] / (len(sets) + 1):.2f} | | |")


def by_sql(spark: Any, path: Path, sets: list[tuple[tuple[str, ...], float]]) -> tuple[Taken, str]:
    """The plain way's time for all sets, from some of them."""
    frame = spark.read.parquet(str(path)).select(*sorted({name for names, _ in sets for name in names})).persist()
    frame.count()
    some = sets[:: max(1, len(sets) // SETS_BY_SQL)]
    taken, _ = measured(lambda: plain_sum(frame, some))
    frame.unpersist()
    print(f"{len(some)} of the sets by Spark SQL: {taken}", flush=True)
    scale = len(sets) / len(some)
    return Taken(taken.clock * scale, taken.processors * scale), f"reckoned from {len(some)} of the sets"


if __name__ == "__main__":
    if "--cluster" in sys.argv:
        spark_gather.MOST_CELLS = 0
    given = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    main(*(int(argument.replace(",", "")) for argument in given), sql="--no-sql" not in sys.argv)
