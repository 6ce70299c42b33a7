"""known_sets on Spark where the codes of all records fit on one machine: the codes, the numbers, and when they do not fit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.engine.encoding.columns import encode
from discreet.risks.known_sets import spark_gather
from discreet.testing import students, table

Spark = Callable[..., Any]
CELLS: dict[str, Any] = {
    "zip": st.sampled_from([None, "48201", "48202", "", "é"]),
    "age": st.integers(-3, 200),
    "pay": st.sampled_from([0.0, -0.0, 1.5, None]),
    "born": st.sampled_from([date(1970, 1, 1), date(2004, 2, 29), None]),
    "ill": st.booleans(),
    "grade": st.sampled_from(["high", "low", "middle"]),
}


@settings(deadline=None, max_examples=60)
@given(st.data(), st.integers(1, 4), st.integers(0, 30))
def test_merged_parts_have_the_codes_of_the_local_engine(draw: st.DataObject, partitions: int, size: int) -> None:
    """Values in another order in every part, nulls in some of them only, and an order that the policy gives."""
    content = {name: draw.draw(st.lists(cells, min_size=size, max_size=size)) for name, cells in CELLS.items()}
    kinds = {"zip": pl.String, "age": pl.Int64, "pay": pl.Float64, "born": pl.Date, "ill": pl.Boolean, "grade": pl.String}
    frame = pl.DataFrame(content, schema=kinds)
    policy = {"attributes": {"grade": {"role": "key", "order": ["low", "middle", "high"]}}}
    data = discreet.read(frame, policy)
    names = data.columns
    cut = [frame[begin::partitions] for begin in range(partitions)]
    stage = spark_gather.EncodeParts(tuple(names))
    batches = [batch for part in cut for batch in stage(part.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches())]
    schema = pa.schema([("records", pa.int64()), ("content", pa.binary())])
    gathered, records = spark_gather._merge(_as_spark(data), names, pa.Table.from_batches(batches, schema))
    expected = encode(data.replace(pl.concat(cut), np.arange(size)), names)
    assert records == size
    for column in expected:
        found = gathered[column.name]
        assert found.codes.tolist() == column.codes.tolist()
        assert found.values.to_list() == column.values.to_list()
        assert found.has_null == column.has_null


def _as_spark(data: discreet.Microdata) -> Any:
    """What the merge asks of a table on Spark."""
    shape = SimpleNamespace(frame=data.frame.head(0))
    return SimpleNamespace(shape=shape, attribute=data.attribute, cells={})


def test_a_part_whose_values_hardly_repeat_is_not_sent() -> None:
    texts = pl.DataFrame({"name": [f"person number {number:040d}" for number in range(30_000)]}).to_arrow()
    (batch,) = spark_gather.EncodeParts(("name",))(texts.cast(pa.schema([("name", pa.string())])).to_batches())
    assert batch.to_pylist() == [{"records": 30_000, "content": None}]


def test_many_texts_that_repeat_have_the_codes_of_the_local_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.engine.encoding import growing_columns

    monkeypatch.setattr(growing_columns, "MANY_VALUES", 50)
    texts = [None if number % 17 == 0 else f"text {number * 7919 % 400}" for number in range(2000)]
    data = discreet.read(pl.DataFrame({"text": texts}))
    schema = pa.schema([("text", pa.string())])
    stage = spark_gather.EncodeParts(("text",))
    parts = [data.frame[begin : begin + 500].to_arrow().cast(schema).to_batches() for begin in range(0, 2000, 500)]
    gathered, _ = spark_gather._merge(
        _as_spark(data), ["text"], pa.Table.from_batches([b for part in parts for b in stage(part)])
    )
    (expected,) = encode(data, ["text"])
    assert gathered["text"].codes.tolist() == expected.codes.tolist()
    assert gathered["text"].values.to_list() == expected.values.to_list()
    assert gathered["text"].has_null


def test_a_table_that_does_not_fit_is_not_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    assert spark_gather._fits(4_000_000, 27)
    assert not spark_gather._fits(400_000_000, 27)
    monkeypatch.setenv("DISCREET_MEMORY", "1GB")
    assert not spark_gather._fits(4_000_000, 27)


@pytest.mark.parametrize("partitions", [1, 5])
def test_gathered_students_have_the_numbers_of_the_local_engine(to_spark: Spark, partitions: int) -> None:
    data = students(2500, dense=True)
    found = discreet.risk(to_spark(data, partitions), "known_sets")["known_sets"]
    wanted = discreet.risk(data, "known_sets")["known_sets"]
    assert "counted on one machine" in found.notes[-1]
    for name, number in wanted.summary.items():
        assert found[name] == pytest.approx(number, rel=1e-9, abs=1e-12), name
    assert set(found.bounds) == set(wanted.bounds)
    for name, ends in wanted.bounds.items():
        assert found.bounds[name] == pytest.approx(ends, rel=1e-9, abs=1e-12), name


def test_values_that_hardly_repeat_are_counted_on_the_cluster(to_spark: Spark) -> None:
    """The workers themselves say so; the driver then has the cluster count."""
    names = [f"{number:0200d}" for number in range(6000)]
    content = {"name": names, "age": [number % 50 for number in range(6000)], "ill": ["Flu", "Cold"] * 3000}
    data = table(content, key=["name", "age"], confidential=["ill"], known={"name": 0.2, "age": 0.5}, sensitivity={"ill": 1.0})
    found = discreet.risk(to_spark(data, 1), "known_sets")["known_sets"]
    wanted = discreet.risk(data, "known_sets")["known_sets"]
    assert "shuffles" in found.notes[-1]
    assert found["mean"] == pytest.approx(wanted["mean"], rel=1e-9)
