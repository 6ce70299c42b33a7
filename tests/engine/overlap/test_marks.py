"""Whether a column holds marks of cells, against trying the pattern on every text."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.overlap import columns
from discreet.engine.overlap.columns import MARKS

TEXTS = st.one_of(st.none(), st.text(" .[(<>!{*ab\n", max_size=4), st.text(max_size=3))


@settings(deadline=None, max_examples=300)
@given(texts=st.lists(TEXTS, max_size=8))
def test_a_mark_is_noticed_wherever_the_pattern_matches(texts: list[str | None]) -> None:
    """Also where two texts beside each other make one together, and in a later block."""
    values = pl.Series(texts, dtype=pl.String)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(columns, "_MARKED_BLOCK", 3)
        assert columns._is_marked(values) == bool(values.str.contains(MARKS).any())
