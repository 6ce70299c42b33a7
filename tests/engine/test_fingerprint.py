"""The fingerprint of a table and the context of a release: the same on any engine, different after any change."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.engine.draws import mixing, mixing_kernels
from discreet.engine.draws.context import derive_draw_key
from discreet.engine.draws.fingerprint import column_kinds, column_sums, combine_sums, table_fingerprint
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

SECRET = bytes(range(32))
CELLS: dict[str, Any] = {
    "integer": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(allow_nan=False),
    "text": st.text(max_size=40),
    "boolean": st.booleans(),
    "date": st.dates(dt.date(1500, 1, 1), dt.date(2500, 1, 1)),
    "datetime": st.datetimes(dt.datetime(1500, 1, 1), dt.datetime(2500, 1, 1)),
    "duration": st.timedeltas(dt.timedelta(-100_000), dt.timedelta(100_000)),
    "time": st.times(),
}
TYPES = {
    "integer": pl.Int64, "float": pl.Float64, "text": pl.String, "boolean": pl.Boolean, "date": pl.Date,
    "datetime": pl.Datetime("us"), "duration": pl.Duration("us"), "time": pl.Time,
}  # fmt: skip


def fingerprint(frame: pl.DataFrame, records: np.ndarray | None = None) -> bytes:
    return table_fingerprint(Microdata(frame, records=records), SECRET)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", CELLS)
def test_any_changed_value_changes_the_fingerprint_and_no_order_or_partition_does(kind: str) -> None:
    @given(st.lists(st.none() | CELLS[kind], min_size=1, max_size=12), st.data())
    def check(values: list[Any], data: st.DataObject) -> None:
        frame = pl.DataFrame({"a": pl.Series(values, dtype=TYPES[kind])})
        records = np.arange(len(values))
        own = fingerprint(frame)
        order = np.array(data.draw(st.permutations(range(len(values)))))
        assert fingerprint(frame[order], records[order]) == own
        cut = data.draw(st.integers(0, len(values)))
        parts = [column_sums(frame[:cut], records[:cut], SECRET), column_sums(frame[cut:], records[cut:], SECRET)]
        total = [sum(sums) % 2**64 for sums in zip(*parts, strict=True)]
        assert combine_sums(column_kinds(frame.schema), total, len(values), SECRET) == own
        row, new_value = data.draw(st.integers(0, len(values) - 1)), data.draw(st.none() | CELLS[kind])
        changed = frame.with_columns(a=pl.Series([new_value if n == row else v for n, v in enumerate(values)], dtype=TYPES[kind]))
        assert (fingerprint(changed) == own) == changed.equals(frame)
        assert fingerprint(frame.rename({"a": "b"})) != own

    check()


@settings(max_examples=40)
@given(st.lists(st.none() | st.text(max_size=30), max_size=30), st.lists(st.none() | st.integers(0, 2**64 - 1), max_size=30))
def test_plain_and_compiled_sums_agree(texts: list[str | None], numbers: list[int | None]) -> None:
    key = np.arange(4, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    encoded = [(text or "").encode("utf-8", "replace") for text in texts]
    offsets = np.concatenate([[0], np.cumsum([len(text_bytes) for text_bytes in encoded])]).astype(np.int64)
    letters = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    nulls, records = np.array([text is None for text in texts], dtype=np.bool_), np.arange(len(texts)) - 5
    plain = mixing._sum_cells(mixing._fold_texts(offsets, letters, key), nulls, records, key)
    assert plain == mixing_kernels.sum_texts(offsets, letters, nulls, records, key)
    words, blank = np.array([n or 0 for n in numbers], dtype=np.uint64), np.array([n is None for n in numbers], dtype=np.bool_)
    number_records = np.arange(len(numbers))
    assert mixing._sum_cells(words, blank, number_records, key) == mixing_kernels.sum_words(words, blank, number_records, key)


def test_the_width_of_a_type_does_not_matter_but_its_kind_does() -> None:
    frame = pl.DataFrame({"a": [1, 2, None]})
    assert fingerprint(frame) == fingerprint(frame.cast(pl.Int8)) != fingerprint(frame.cast(pl.Float64))
    assert fingerprint(frame.cast(pl.Float32)) == fingerprint(frame.cast(pl.Float64))
    assert fingerprint(frame.cast(pl.Float64)) != fingerprint(frame.cast(pl.String))
    moments = pl.DataFrame({"a": [dt.datetime(2020, 1, 2, 3, 4), None]})
    assert len({fingerprint(moments.cast(pl.Datetime(unit))) for unit in ("ms", "us", "ns")}) == 1
    words = pl.DataFrame({"a": ["x", "y", "x"]})
    assert fingerprint(words) == fingerprint(words.cast(pl.Categorical))
    assert fingerprint(pl.DataFrame({"a": [0.0]})) == fingerprint(pl.DataFrame({"a": [-0.0]}))


POLICY = {
    "attributes": {"age": {"role": "key", "known": 0.3, "hierarchy": {"file": "ages.csv"}}},
    "risk": {"known_sets": {"alpha": 100}},
    "limits": {"k_anonymity.k": 5},
    "plan": {"steps": [{"method": "noise", "columns": ["age"], "level": 2}, {"method": "sampling", "fraction": 0.5}]},
}


def context(**changes: Any) -> bytes:
    policy = Policy.from_dict({**POLICY, **changes})
    return derive_draw_key(SECRET, policy, policy.plan, b"table")


def test_everything_that_a_step_may_read_changes_all_draws_and_nothing_else_does() -> None:
    own, plan = context(), POLICY["plan"]
    assert context(limits={}) == context(loss={"ncp": {}}) == own
    attribute = {"role": "key", "known": 0.3, "hierarchy": {"file": "elsewhere/ages.csv"}, "reason": "by hand"}
    assert context(attributes={"age": attribute}) == own
    assert context(risk={"known_sets": {"alpha": 100.0}}) == own
    assert context(plan=plan | {"key": "k1"}) == own  # the key is in the secret
    steps = plan["steps"]
    others = [
        context(risk={}), context(attributes={"age": {**attribute, "known": 0.4}}), context(plan=plan | {"release": 2}),
        context(plan=plan | {"order": "kept"}), context(plan={"steps": steps[:1]}), context(plan={"steps": steps[::-1]}),
        context(plan={"steps": [{**steps[0], "level": 3}, steps[1]]}), context(plan={"steps": [{**steps[0], "enabled": False}]}),
        derive_draw_key(SECRET, Policy.from_dict(POLICY), Policy.from_dict(POLICY).plan, b"other table"),
        derive_draw_key(bytes(32), Policy.from_dict(POLICY), Policy.from_dict(POLICY).plan, b"table"),
    ]  # fmt: skip
    assert len({own, *others}) == 1 + len(others)


@given(st.integers(1, 40), st.integers(0, 39), st.integers(1, 5))
def test_exchanged_values_change_the_fingerprint(rows: int, row: int, distance: int) -> None:
    assume(row < rows and (row + distance) % rows != row)
    values = list(range(rows))
    moved = list(values)
    moved[row], moved[(row + distance) % rows] = moved[(row + distance) % rows], moved[row]
    assert fingerprint(pl.DataFrame({"a": values})) != fingerprint(pl.DataFrame({"a": moved}))
