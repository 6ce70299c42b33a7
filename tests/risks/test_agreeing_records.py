"""The number of records that agree with each on all attributes, against comparing them one by one."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.encoding.columns import encode
from discreet.engine.known_sets import threads
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.known_sets.large import agreeing_records
from discreet.risks.known_sets.large.agreeing_records import count_agreeing_records


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 4),
    st.lists(st.tuples(*[st.sampled_from([None, "a", "a", "b", "c"])] * 4), max_size=40),
    st.sampled_from([1, 40]),
)
def test_every_record_is_counted_with_those_that_have_the_same_codes(
    width: int, rows: list[tuple[str | None, ...]], copies: int
) -> None:
    """Forty copies of the attributes need more bits than a word has."""
    columns = {
        f"x{at}_{copy}": pl.Series([row[at] for row in rows], dtype=pl.String) for at in range(width) for copy in range(copies)
    }
    data = Microdata(pl.DataFrame(columns), Policy.from_dict({"attributes": {name: {"known": 0.5} for name in columns}}))
    counts = Counter(row[:width] for row in rows)
    measured = count_agreeing_records(encode(data, list(columns)), len(rows))
    assert measured.tolist() == [counts[row[:width]] for row in rows]


@pytest.mark.parametrize("small", [1, 1 << 16])
def test_keys_of_many_parts_and_long_runs_of_equal_records_are_counted(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "SMALL", small)  # so small that the records are shared out
    monkeypatch.setattr(agreeing_records, "thread_count", lambda: 3)
    monkeypatch.setattr(agreeing_records, "_BLOCK", 100)
    values = [at % 700 if at % 3 else 1 for at in range(5000)]
    data = Microdata(pl.DataFrame({"x": values}), Policy.from_dict({"attributes": {"x": {"known": 0.5}}}))
    counts = Counter(values)
    assert count_agreeing_records(encode(data, ["x"]), 5000).tolist() == [counts[value] for value in values]
