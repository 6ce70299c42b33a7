"""Keys of texts of one width against the texts' own order."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.encoding.columns import encode_series
from discreet.engine.encoding.fixed_width import fixed_width_keys


@settings(deadline=None, max_examples=150)
@given(texts=st.integers(0, 3).flatmap(lambda width: st.lists(st.text(min_size=width, max_size=width), max_size=12)))
def test_fixed_width_keys_are_distinct_and_ordered_as_the_texts(texts: list[str]) -> None:
    made = fixed_width_keys(pl.Series(texts, dtype=pl.String), 1 << 31)
    widths = {len(text.encode()) for text in texts}
    if len(widths) != 1 or widths == {0}:
        assert made is None
        return
    if made is None:  # too many keys
        places = list(zip(*(text.encode() for text in texts), strict=True))
        assert np.prod([max(place) - min(place) + 1.0 for place in places]) > 1 << 31
        return
    keys, span = made
    assert max(keys) < span
    for one, first in zip(texts, keys, strict=True):
        for other, second in zip(texts, keys, strict=True):
            assert (one < other, one == other) == (first < second, first == second)


@pytest.mark.parametrize("values", [range(1), range(7, 90), range(40_000), range(0, 4_000_000, 61)], ids=len)
@pytest.mark.parametrize("form", ["P{:08d}", "{:07d}", "é{:07d}ß", "{:d}"])
@pytest.mark.parametrize("nulls", [False, True])
def test_many_codes_are_encoded_as_a_dictionary_would(values: range, form: str, nulls: bool) -> None:
    rng = np.random.default_rng(5)
    words = np.array([form.format(value) for value in values])
    drawn = pl.Series("x", words[rng.integers(0, len(words), 150_000)])
    if nulls:
        drawn = pl.select(pl.when(pl.Series(rng.random(len(drawn)) < 0.8)).then(drawn)).to_series().alias("x")
    column = encode_series(drawn)
    expected = drawn.drop_nulls().unique().sort()
    codes = drawn.cast(pl.Enum(expected)).to_physical().fill_null(len(expected)).to_numpy()
    assert column.values.equals(expected, check_dtypes=True, check_names=True)
    assert column.has_null == nulls
    assert np.array_equal(column.codes, codes)
    size = len(expected)
    assert column.codes.dtype == (np.uint8 if size < 1 << 8 else np.uint16 if size < 1 << 16 else np.uint32)
