"""The excess of a record's risk over that of a class of so many: D - s D1, above 0 exactly where the class is smaller."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.engine.known_sets.excess import excess_over, level_of, share_of
from discreet.engine.known_sets.risk_sums import RecordSums
from discreet.model.threshold import Among


@given(st.floats(1.5, 1e6))
def test_the_share_is_one_in_so_many_with_room_for_rounding(among: float) -> None:
    share = share_of(Among(among=among))
    assert 1 / among < share < 1 / among * (1 + 1e-9)
    assert level_of(Among(among=among), 100.0) == 0.0


def test_a_risk_as_a_threshold_has_no_share_and_is_compared_before_alpha() -> None:
    assert (share_of(40.0), level_of(40.0, 100.0), level_of(0.5, 1.0)) == (0.0, 0.4, 0.5)


@given(st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9), st.floats(0, 1)), max_size=5), st.integers(0, 9))
def test_the_excess_is_the_risk_of_non_empty_sets_minus_the_share_of_their_mass(
    rows: list[tuple[float, float, float]], records: int
) -> None:
    risk, mass, consequence = (np.array([row[part] for row in rows], dtype=float) for part in range(3))
    sums = replace(RecordSums.empty(len(rows)), risk=risk, kept_mass=mass)
    share = share_of(Among(among=4))
    expected = [r - c / max(records, 1) - share * m for r, m, c in zip(risk, mass, consequence, strict=True)]
    assert excess_over(share, sums, consequence, records).risk.tolist() == pytest.approx(expected)
    assert excess_over(0.0, sums, consequence, records) is sums
