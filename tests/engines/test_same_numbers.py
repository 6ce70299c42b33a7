"""Spark against the local engine on richer tables: any number of partitions, skew, nulls, wide attributes, tasks that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest
from compare_scores import same

import discreet
from discreet.engine.known_sets_spark import plan as known_plan
from discreet.engine.known_sets_spark import sums as known_sums
from discreet.engine.spark import collected
from discreet.engine.spark import value_counts as dictionaries
from discreet.errors import DataError
from discreet.risks.known_sets import spark_gather
from discreet.testing import patients, students, table

Spark = Callable[..., Any]


def test_students_have_the_same_risk_by_few_shuffles(to_spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_gather, "MOST_CELLS", 0)
    monkeypatch.setattr(known_plan, "LARGEST_TABLE", 2000)
    monkeypatch.setattr(known_sums, "ROWS_A_PARTITION", 300)
    data = students(1500, dense=True)
    score = discreet.risk(to_spark(data, 5), "known_sets")["known_sets"]
    same(score, discreet.risk(data, "known_sets")["known_sets"])
    assert int(score.notes[-1].split(" by ")[-1].split()[0]) <= 111 // 5, score.notes


def test_a_value_with_half_the_rows_does_not_stop_the_count(to_spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    """The heavy values do not move, a wide attribute has more values than a dictionary may, and the numbers stay the same."""
    monkeypatch.setattr(spark_gather, "MOST_CELLS", 0)
    monkeypatch.setattr(known_plan, "LARGEST_TABLE", 40)
    monkeypatch.setattr(known_plan, "MOST_ROWS", 20)
    monkeypatch.setattr(known_plan, "MOVED_FROM", 4)
    monkeypatch.setattr(known_sums, "ROWS_A_PARTITION", 50)
    monkeypatch.setattr(dictionaries, "MOST_VALUES", 30)
    data = skewed(400)
    seen: list[known_plan.Counting] = []
    plan = known_plan.plan
    monkeypatch.setattr(known_plan, "plan", lambda *given: seen.append(plan(*given)) or seen[-1])
    wanted = {"known_sets": {"alpha": 1, "epsilon": 0.001}}
    same(discreet.risk(to_spark(data, 3), wanted)["known_sets"], discreet.risk(data, wanted)["known_sets"])
    assert any(shuffle.heavy for shuffle in seen[0].shuffles), "nothing was heavy, so nothing was tested"


def skewed(rows: int) -> discreet.Microdata:
    random = np.random.default_rng(3)
    zips: list[Any] = random.integers(10_000, 10_120, rows).tolist()
    zips[: rows // 2] = [None] * (rows // 2)
    places = random.permutation(rows)
    content = {
        "zip": [zips[at] for at in places],
        "name": [f"person {at}" for at in random.integers(0, 3 * rows, rows)],
        "age": random.choice([20, 30, 40], rows, p=[0.9, 0.05, 0.05]).tolist(),
        "pay": np.round(random.normal(50, 20, rows), 1).tolist(),
        "ill": random.choice(["Flu", "Cold", "Cancer"], rows).tolist(),
    }
    known = {"zip": 0.5, "name": 0.2, "age": 0.6, "pay": 0.1}
    return table(content, key=list(known), confidential=["ill"], known=known, sensitivity={"ill": 1.0, "pay": 0.5})


@pytest.mark.parametrize("most_cells", [1 << 29, 0], ids=["on one machine", "on the cluster"])
def test_nothing_to_learn_one_row_and_no_row(to_spark: Spark, monkeypatch: pytest.MonkeyPatch, most_cells: int) -> None:
    monkeypatch.setattr(spark_gather, "MOST_CELLS", most_cells)
    data = students(40)
    for part in (data.replace(data.frame.head(1), data.records[:1]), data.replace(data.frame.head(0), data.records[:0])):
        same(discreet.risk(to_spark(part), "known_sets")["known_sets"], discreet.risk(part, "known_sets")["known_sets"])


def test_classes_and_persons_have_the_same_numbers(to_spark: Spark) -> None:
    data = patients(300)
    policy = data.policy.with_(
        risk={
            "l_diversity": {"c": 2.0},
            "t_closeness": {},
            "repeated_records": {"knows": "count"},
            "target_linkage": {"model": "empirical", "population": 5000},
            "k_anonymity": {},
            "decision": {"sensitivity": "phi1"},
        }
    )
    data = data.with_policy(policy)
    scores = discreet.risk(to_spark(data, 3))
    for name, score in discreet.risk(data).items():
        same(scores[name], score)


@pytest.mark.parametrize("missing", ["category", "wildcard", "ignore"])
def test_special_uniques_and_rare_combinations_are_those_of_one_machine(to_spark: Spark, missing: str) -> None:
    data = skewed(150)
    requested = {
        "special_uniques": {"max_size": 4, "missing": missing, "threshold": 3},
        "rare_combinations": {"sets": [["zip", "age"], ["pay"], ["age", "pay", "name"]], "missing": missing},
    }
    scores = discreet.risk(to_spark(data, 3), requested)
    for name, score in discreet.risk(data, requested).items():
        same(scores[name], score)


def test_dates_and_flags_are_keys_of_special_uniques_too(to_spark: Spark) -> None:
    days = [date(1950, 1, 1), date(1950, 1, 1), None, date(1990, 5, 6), date(1990, 5, 6)]
    content = {"born on": days, "owns": [True, False, True, None, True], "a b": ["x", "x", "y", "y", None]}
    data = table(content, key=list(content))
    requested = {"special_uniques": {}, "rare_combinations": {"dimension": 2, "threshold": 2}}
    scores = discreet.risk(to_spark(data, 2), requested)
    for name, score in discreet.risk(data, requested).items():
        same(scores[name], score)


def test_more_classes_than_one_machine_searches_are_refused_by_name(to_spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collected, "MOST_CLASSES", 20)
    data = to_spark(skewed(60))
    for name in ("special_uniques", "rare_combinations"):
        with pytest.raises(DataError, match=f"{name} cannot do more than 5,000,000 equivalence classes on Spark"):
            discreet.risk(data, name)


def test_the_other_intruders_of_repeated_records(to_spark: Spark) -> None:
    data = patients(120)
    on_spark = to_spark(data)
    linked = {"repeated_records": {"knows": "linked"}}
    same(discreet.risk(on_spark, linked)["repeated_records"], discreet.risk(data, linked)["repeated_records"])


def test_two_dictionaries_and_a_list_of_targets(to_spark: Spark, tmp_path: Any) -> None:
    data = skewed(120)
    book = data.frame.select("zip", pl.col("age").cast(pl.String)).head(70)
    book.write_csv(tmp_path / "book.csv")
    data.frame.select("age", "zip").sample(40, seed=1).write_parquet(tmp_path / "phone.parquet")
    files = [str(tmp_path / "book.csv"), str(tmp_path / "phone.parquet")]
    wanted = {
        "decision": {"dictionary": files, "prior": {files[0]: 0.25, files[1]: 0.75}, "sensitivity": "phi5"},
        "target_linkage": {"targets": files[1], "domain": {"age": 10}},
    }
    on_spark = to_spark(data, 3)
    for name, score in discreet.risk(data, wanted).items():
        same(discreet.risk(on_spark, {name: wanted[name]})[name], score)


def test_a_task_that_fails_is_run_again_and_changes_nothing(spark: Any, to_spark: Spark) -> None:
    import pyarrow as pa

    def unlucky(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import random

        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        if context.attemptNumber() == 0 and random.random() < 0.7:
            raise RuntimeError("the machine of this task is gone")
        yield from batches

    data = students(400, dense=True)
    frame = spark.createDataFrame(data.frame.to_arrow()).repartition(6)
    shaky = discreet.read(frame.mapInArrow(unlucky, frame.schema), data.policy)
    found = discreet.risk(shaky, ["known_sets", "k_anonymity"])
    for name, score in discreet.risk(data, ["known_sets", "k_anonymity"]).items():
        same(found[name], score, records=False)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_records_have_the_numbers_of_their_rows_however_a_file_is_cut(spark: Any, tmp_path: Any, suffix: str) -> None:
    from discreet.engine.spark.hidden_columns import RECORD

    frame = pl.DataFrame({"row": range(5000), "text": [f"some text {at % 7}" for at in range(5000)]})
    path = tmp_path / f"rows{suffix}"
    if suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.write_parquet(path, row_group_size=400)
    spark.conf.set("spark.sql.files.maxPartitionBytes", "4000")
    try:
        data: Any = discreet.read(path, engine="spark")
        rows = data.numbered.repartition(3).select("row", f"`{RECORD}`").collect()
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    assert len(rows) == 5000
    assert all(row[0] == row[1] for row in rows)
    assert data.to_polars().equals(frame)
