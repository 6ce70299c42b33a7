"""The risk in excess of a control, its interval, and the distances of people to released cells."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.engine.attacks.distances import add_distances, compare_column, distinct_rows, threshold_of_nearest
from discreet.engine.attacks.people import gather_people
from discreet.engine.attacks.rates import Rates, excess
from discreet.engine.statistics.wilson import wilson_interval
from discreet.errors import DataError
from discreet.model.cells import ColumnCells
from discreet.model.microdata import Microdata
from discreet.testing import table

_RATE = st.floats(0, 1)


@given(st.integers(0, 40), st.integers(1, 40), st.integers(0, 40), st.integers(0, 40))
def test_the_interval_is_that_of_the_corners_of_both_rates(hits: int, number: int, control_hits: int, controls: int) -> None:
    hits, control_hits = min(hits, number), min(control_hits, controls)
    rates = Rates(
        np.repeat([1.0, 0.0], [hits, number - hits]), np.repeat([1.0, 0.0], [control_hits, controls - control_hits]), 0.3, 0.9
    )
    risk, lower, upper = rates.risk_interval()
    assert 0 <= lower <= upper <= 1
    if controls:
        ends = wilson_interval(hits, number, 0.95), wilson_interval(control_hits, controls, 0.95)
        corners = [excess(a, c) for a, c in itertools.product(*ends)]
        assert (lower, upper) == (min(corners), max(corners))
        assert risk == excess(hits / number, control_hits / controls)
    else:
        assert (lower, upper) == tuple(excess(end, 0.3) for end in wilson_interval(hits, number, 0.9))


@given(_RATE, _RATE)
def test_the_excess_is_a_share(rate: float, baseline: float) -> None:
    assert 0 <= excess(rate, baseline) <= 1
    assert excess(baseline, baseline) == 0


_CELL = st.one_of(
    st.none(),
    st.integers(0, 6).map(str),
    st.tuples(st.integers(0, 5), st.integers(1, 3)).map(lambda pair: f"{pair[0]}..{pair[0] + pair[1]}"),
)


def _slow_number_distance(truth: int | None, cell: str | None, low: float, high: float) -> float:
    if truth is None:
        return 0.0
    width = (high - low) or 1.0
    if cell is None:
        first, last = low, high
    elif ".." in cell:
        first, last = (min(max(float(end), low), high) for end in cell.split(".."))
    else:
        return abs(truth - float(cell)) / width
    points = np.linspace(first, last, 20_001)
    return float(np.abs(truth - points).mean()) / width


@given(st.lists(st.tuples(st.none() | st.integers(0, 6), _CELL), min_size=2, max_size=6))
def test_distances_to_cells_of_numbers_are_means_over_what_the_cell_may_stand_for(
    rows: list[tuple[int | None, str | None]],
) -> None:
    truths = [truth for truth, _ in rows]
    present = [truth for truth in truths if truth is not None]
    if not present:
        return
    original = table({"age": pl.Series(truths, dtype=pl.Int64)}, key=["age"])
    masked = Microdata(pl.DataFrame({"age": pl.Series([cell for _, cell in rows], dtype=pl.String)}), original.policy)
    masked = masked.with_cells({"age": ColumnCells(kind="number")})
    column = compare_column(masked, original, original.frame, "age")
    distinct = distinct_rows([column], len(rows))
    distances = add_distances([column], distinct.codes, np.arange(len(rows)))
    for person, record in itertools.product(range(len(rows)), repeat=2):
        slow = _slow_number_distance(truths[person], rows[record][1], min(present), max(present))
        assert distances[person, distinct.of[record]] == pytest.approx(slow, abs=2e-4)


def test_a_set_that_contains_the_truth_is_nearer_the_smaller_it_is() -> None:
    original = table({"city": ["a", "b", "c", "d"]}, key=["city"])
    masked = Microdata(pl.DataFrame({"city": ["a", "{a|b}", "{b|c}", None]}), original.policy).with_cells(
        {"city": ColumnCells(kind="text")}
    )
    column = compare_column(masked, original, original.frame, "city")
    distinct = distinct_rows([column], 4)
    distances = add_distances([column], distinct.codes, np.arange(4))
    assert distances[0][distinct.of].tolist() == [0.0, 0.5, 1.0, 0.75]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), min_size=1, max_size=8), st.integers(1, 12))
def test_the_distance_of_the_kth_nearest_record_counts_equal_records(rows: list[tuple[int, int]], neighbours: int) -> None:
    distances = np.array([[distance for distance, _ in rows]], dtype=np.float32)
    counts = np.array([count for _, count in rows])
    everybody = sorted(distance for distance, count in rows for _ in range(count))
    expected = everybody[min(neighbours, len(everybody)) - 1]
    assert threshold_of_nearest(distances, counts, neighbours)[0] == expected


def test_people_without_a_released_record_are_the_control() -> None:
    original = table({"age": list(range(10))}, key=["age"])
    released = original.take(np.array([7, 2, 5]))
    people = gather_people(released, original, ["age"], "test", "all")
    assert people.members == 3
    assert people.frame["age"].to_list() == [2, 5, 7, 0, 1, 3, 4, 6, 8, 9]
    assert people.rows.tolist() == [1, 2, 0]
    few = gather_people(released, original, ["age"], "test", 2, pl.DataFrame({"age": [100, 101, 102]}))
    assert (few.members, few.frame.height) == (2, 6)
    with pytest.raises(DataError, match="the control table has no column 'age'"):
        gather_people(released, original, ["age"], "test", 2, pl.DataFrame({"alter": [100]}))
