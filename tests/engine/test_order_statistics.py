"""Order statistics of many numbers, against sorting them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.known_sets import order_statistics as module
from discreet.engine.known_sets.order_statistics import order_statistics

NUMBERS = st.one_of(
    st.floats(min_value=0.0),
    st.sampled_from([0.0, -0.0, -5e-324, 1.0, 1.0 + 2**-52, float("nan"), float("inf")]),
    st.floats(-1e-9, 1.0),
)


@settings(deadline=None)
@given(values=st.lists(NUMBERS, min_size=1, max_size=40), data=st.data())
def test_the_numbers_at_some_places_are_those_of_the_sorted_array(values: list[float], data: st.DataObject) -> None:
    """Negative numbers and gaps too; blocks of three, so that candidates come from several."""
    places = data.draw(st.lists(st.integers(0, len(values) - 1), max_size=5))
    array = np.array(values)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(module, "_MANY", 0)
        monkeypatch.setattr(module, "_BLOCK", 3)
        monkeypatch.setattr(module, "_WORTH", data.draw(st.sampled_from([0.25, 1.0])))
        selected = order_statistics(array, places)
    np.testing.assert_array_equal(selected, np.sort(np.array(values))[places])
    np.testing.assert_array_equal(array, np.array(values))
