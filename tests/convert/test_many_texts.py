"""Columns of texts that hardly repeat, compared with Polars' own sorting and ranking, and the memory that they need."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.assessment.measures import make_measures
from discreet.convert.reading.streamed import estimate_memory
from discreet.engine.encoding import growing_columns, text_numbers, text_order
from discreet.engine.encoding.columns import Column, encode_series
from discreet.engine.encoding.growing_columns import GrowingColumn
from discreet.engine.encoding.text_numbers import GrowingTexts
from discreet.model.attribute import Attribute
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

TEXTS = st.one_of(st.none(), st.text(max_size=3), st.text("ab", min_size=6, max_size=9), st.text("\0a\U0010ffff", max_size=12))


def check_column(column: Column, whole: pl.Series) -> None:
    """A column against a slow and obvious encoding."""
    values = sorted({text for text in whole.to_list() if text is not None}, key=lambda text: text.encode())
    code_of_text = {text: code for code, text in enumerate(values)}
    assert column.values.to_list() == values
    assert column.has_null == (whole.null_count() > 0)
    assert column.codes.tolist() == [code_of_text.get(text, len(values)) for text in whole.to_list()]


@settings(max_examples=80, deadline=None)
@given(
    parts=st.lists(st.lists(TEXTS, max_size=12), min_size=1, max_size=5),
    at_once=st.booleans(),
    threads=st.integers(1, 3),
    most_alike=st.sampled_from([1, 64]),
)
def test_texts_are_encoded_in_chunks_as_they_are_by_sorting(
    parts: list[list[str | None]], at_once: bool, threads: int, most_alike: int
) -> None:
    series = [pl.Series("x", part, dtype=pl.String) for part in parts]
    growing = GrowingColumn("x", 3)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(text_numbers, "_FEWEST_RECORDS", 1 if at_once else 1 << 20)
        changed.setattr(text_numbers, "_PROBED", 1)
        changed.setattr(growing_columns, "MANY_VALUES", 2)
        changed.setattr(growing_columns, "thread_count", lambda: threads)
        changed.setattr(text_order, "_MOST_ALIKE", most_alike)
        for part in series:
            growing.append(part)
        check_column(growing.finish(), pl.concat(series))


@settings(deadline=None)
@given(
    texts=st.sets(st.text("\0ab", min_size=5, max_size=12).map(lambda text: f"id-{text}"), max_size=20),
    most_alike=st.sampled_from([1, 2, 64]),
)
def test_texts_are_in_the_order_of_their_bytes_or_not_ordered(texts: set[str], most_alike: int) -> None:
    """Whatever they begin with, and with the same eight bytes behind that."""
    encoded = [text.encode() for text in texts]
    starts = np.cumsum([0, *map(len, encoded)]).astype(np.int64)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(text_order, "_MOST_ALIKE", most_alike)
        order = text_order.order_texts(np.frombuffer(b"".join(encoded) or b"?", dtype=np.uint8), starts)
    if order is None:
        assert most_alike < len(texts)
    else:
        assert [encoded[at] for at in order] == sorted(encoded)


def test_more_texts_than_fit_the_first_arrays_keep_their_numbers() -> None:
    random = np.random.default_rng(3)
    numbers = pl.Series("x", random.integers(0, 150_000, 400_000))
    whole = numbers.to_frame().select(x=pl.format("{}-{}", pl.col("x") % 977, "x")).to_series()
    whole = pl.concat([whole, pl.Series("x", ["", None, "ü" * 3_000_000, ""])])
    column = encode_series(whole)
    assert column.codes.dtype == np.uint32
    assert column.values.equals(whole.unique().drop_nulls().sort())
    assert column.values.gather(pl.Series(column.codes[column.codes < len(column.values)])).equals(whole.drop_nulls())
    growing = GrowingTexts(0, 2)
    growing.append(whole)
    codes, values, has_null = growing.finish("x")
    assert has_null
    assert values.equals(column.values)
    assert np.array_equal(codes, column.codes)


def test_an_order_of_the_policy_applies_to_many_texts() -> None:
    order = ("low", "mid", "high")
    growing = GrowingColumn("x", 0)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(text_numbers, "_FEWEST_RECORDS", 1)
        changed.setattr(text_numbers, "_PROBED", 1)
        growing.append(pl.Series("x", ["mid", "low", None, "high"]))
        column = growing.finish(Attribute(order=order))
    assert column.values.to_list() == list(order)
    assert column.codes.tolist() == [1, 0, 3, 2]


def test_the_memory_of_millions_of_texts_is_announced(tmp_path: Path) -> None:
    path = tmp_path / "texts.parquet"
    numbers = pl.Series("x", np.arange(100_000))
    pl.DataFrame(
        {"few": (numbers % 9).cast(pl.String), "many": pl.select(pl.format("person {}", numbers)).to_series()}
    ).write_parquet(path)
    policy = Policy.from_dict({"attributes": {"few": {"role": "key"}, "many": {"role": "key"}}})
    lazy = pl.scan_parquet(path)
    shape = Microdata(lazy.collect_schema().to_frame(), policy, str(path))
    measures = make_measures("risk", None, policy)
    few, many = (estimate_memory(lazy, shape, 10_000_000, [name], measures, 0) for name in ("few", "many"))
    assert many - few > 10_000_000 * (len("person 1234567") + 16)
