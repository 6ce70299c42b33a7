"""A file that was rewritten at the same path is measured anew on Spark, and nothing stays in the cluster's memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet
from discreet import verbs

POLICY = {
    "attributes": {
        "person": {"role": "person"},
        "age": {"role": "key", "known": 0.5},
        "town": {"role": "key", "known": 0.5},
        "ill": {"role": "confidential", "sensitivity": 1.0, "default": 1.0},
        "pay": {"role": "confidential"},
    }
}
MEASURES = ["l_diversity", "t_closeness", "repeated_records", "k_anonymity", "known_sets", "decision", "target_linkage"]
PER_RECORD = ("l_diversity", "repeated_records", "known_sets", "target_linkage")


def people(shift: int) -> pl.DataFrame:
    """Two tables of one shape; the second has other values in every class."""
    rows = range(40)
    return pl.DataFrame(
        {
            "person": [f"p{at // (1 + shift)}" for at in rows],
            "age": [30 + at % (2 + shift) for at in rows],
            "town": ["A" if at % 4 < 2 + shift else "B" for at in rows],
            "ill": [("Flu", "Cold", "Cancer")[(at if shift else at // 4) % 3] for at in rows],
            "pay": [float(1000 + (at * 37 if shift else at % 5)) for at in rows],
        }
    )


def kept_by(spark: Any) -> int:
    return int(spark.sparkContext._jsc.getPersistentRDDs().size())


@pytest.mark.parametrize(("suffix", "measures"), [("parquet", MEASURES), ("csv", MEASURES[:1])], ids=["parquet", "csv"])
def test_a_file_rewritten_at_the_same_path_is_measured_anew(
    interpreting_spark: Any, tmp_path: Path, suffix: str, measures: list[str]
) -> None:
    """Finding 11: l, t and g were those of the file that was there before."""
    spark, place = interpreting_spark, tmp_path / f"people.{suffix}"
    before = kept_by(spark)  # other tests share the session
    found: list[dict[str, Any]] = []
    for shift in (0, 1):
        frame = people(shift)
        frame.write_parquet(place) if suffix == "parquet" else frame.write_csv(place)
        there = verbs.risk(discreet.read(place, POLICY, engine="spark"), measures)
        here = verbs.risk(discreet.read(place, POLICY), measures)
        for name in measures:
            numbers = {k: v for k, v in here[name].to_dict().items() if isinstance(v, int | float)}
            same = {k: v for k, v in there[name].to_dict().items() if k in numbers}
            assert same == pytest.approx(numbers, rel=1e-9), name
        found.append({name: score.to_dict() for name, score in there.items()})
    for name in measures[:3]:
        assert found[0][name] != found[1][name], "the two files would not tell whether the first was taken for the second"
    assert kept_by(spark) == before
    if suffix == "parquet":
        assert_nothing_stays_after_the_records(spark, {name: there[name] for name in PER_RECORD}, tmp_path / "records.parquet")


def assert_nothing_stays_after_the_records(spark: Any, scores: dict[str, Any], place: Path) -> None:
    """Ask for the records of some measures and have them written; nothing of it is left in the cluster's memory."""
    before = kept_by(spark)
    for name, score in scores.items():
        assert score.per_record is not None, name
    assert kept_by(spark) == before
    next(iter(scores.values())).write_all(scores, str(place))
    assert kept_by(spark) == before


def test_a_frame_that_somebody_keeps_does_not_answer_for_a_rewritten_file(spark: Any, tmp_path: Path) -> None:
    place = tmp_path / "people.parquet"
    people(0).write_parquet(place)
    old = spark.read.parquet(str(place)).persist()
    assert old.count() == 40
    try:
        people(1).head(30).write_parquet(place)
        assert len(discreet.read(place, POLICY, engine="spark")) == 30
    finally:
        old.unpersist()
