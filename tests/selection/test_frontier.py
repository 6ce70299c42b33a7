"""The risk-utility map against its definition."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import DataError
from discreet.selection.frontier import MapPoint, compare, explain, frontier, hypervolume, mark_dominated
from discreet.testing import students

points = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


def map_points(pairs: list[tuple[int, int]]) -> list[MapPoint]:
    return [MapPoint(str(number), float(risk), float(loss)) for number, (risk, loss) in enumerate(pairs)]


@given(points)
@settings(deadline=None, max_examples=200)
def test_a_point_is_marked_as_dominated_exactly_if_another_beats_it(pairs: list[tuple[int, int]]) -> None:
    for point in (marked := mark_dominated(map_points(pairs))):
        beaten = any(
            other.risk <= point.risk and other.loss <= point.loss and (other.risk, other.loss) != (point.risk, point.loss)
            for other in marked
        )
        assert point.dominated == beaten


@given(points)
@settings(deadline=None, max_examples=200)
def test_hypervolume_is_the_area_that_some_point_dominates(pairs: list[tuple[int, int]]) -> None:
    cells = sum(any(risk <= x and loss <= y for risk, loss in pairs) for x in range(6) for y in range(6))
    assert hypervolume(map_points(pairs), (6.0, 6.0)) == cells


@given(points)
@settings(deadline=None, max_examples=100)
def test_along_the_frontier_loss_decreases_as_risk_increases(pairs: list[tuple[int, int]]) -> None:
    best = frontier(map_points(pairs))
    assert all(point.risk < other.risk and point.loss > other.loss for point, other in itertools.pairwise(best))
    assert bool(best) == bool(pairs)


def test_releases_are_compared_by_any_risk_and_loss() -> None:
    data = students(500)
    releases = {
        f"k={k}": discreet.mask(data, {"steps": [{"method": "generalization", "k": k, "algorithm": "partition"}]})
        for k in (2, 5, 20)
    }
    marked = compare(data, {"as it is": data, **releases}, risk="k_anonymity.k", loss="ncp.loss")
    assert marked[0].risk == -1  # more k is safer, so its sign is reversed
    assert marked[0].loss == 0
    assert [point.risk for point in marked] == sorted((point.risk for point in marked), reverse=True)
    assert not any(point.dominated for point in marked)
    sentences = explain(marked, "k=2")
    assert "It is not dominated" in sentences[1]
    assert "k=5" in sentences[2]
    with pytest.raises(DataError, match="is not a risk"):
        compare(data, releases, risk="ncp.loss")
    with pytest.raises(DataError, match="no release 'x'"):
        explain(marked, "x")


def test_the_explanation_of_a_dominated_release_names_those_that_dominate_it() -> None:
    points = [MapPoint("good", 0.1, 0.1), MapPoint("bad", 0.2, 0.2)]
    assert explain(points, "bad")[1] == "It is dominated: good has no more risk and no more loss, and less of one."
