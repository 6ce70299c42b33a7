"""The risk-utility map against its definition."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import DataError
from discreet.selection.frontier import Placed, compare, explain, frontier, hypervolume, place
from discreet.testing import students

points = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


def placed(pairs: list[tuple[int, int]]) -> list[Placed]:
    return [Placed(str(at), float(risk), float(loss)) for at, (risk, loss) in enumerate(pairs)]


@given(points)
@settings(deadline=None, max_examples=200)
def test_dominated_is_as_defined(pairs: list[tuple[int, int]]) -> None:
    for one in (made := place(placed(pairs))):
        beaten = any(
            other.risk <= one.risk and other.loss <= one.loss and (other.risk, other.loss) != (one.risk, one.loss)
            for other in made
        )
        assert one.dominated == beaten


@given(points)
@settings(deadline=None, max_examples=200)
def test_hypervolume_is_the_area_that_some_point_dominates(pairs: list[tuple[int, int]]) -> None:
    cells = sum(any(risk <= x and loss <= y for risk, loss in pairs) for x in range(6) for y in range(6))
    assert hypervolume(placed(pairs), (6.0, 6.0)) == cells


@given(points)
@settings(deadline=None, max_examples=100)
def test_the_frontier_falls_in_loss_as_it_rises_in_risk(pairs: list[tuple[int, int]]) -> None:
    edge = frontier(placed(pairs))
    assert all(one.risk < other.risk and one.loss > other.loss for one, other in itertools.pairwise(edge))
    assert bool(edge) == bool(pairs)


def test_releases_are_compared_by_any_risk_and_loss() -> None:
    data = students(500)
    releases = {
        f"k={k}": discreet.mask(data, {"steps": [{"method": "generalization", "k": k, "algorithm": "partition"}]})
        for k in (2, 5, 20)
    }
    found = compare(data, {"as it is": data, **releases}, risk="k_anonymity.k", loss="ncp.loss")
    assert found[0].risk == -1  # a risk where more is better is turned round
    assert found[0].loss == 0
    assert [one.risk for one in found] == sorted((one.risk for one in found), reverse=True)
    assert not any(one.dominated for one in found)
    told = explain(found, "k=2")
    assert "Nothing dominates it" in told[1]
    assert "k=5" in told[2]
    with pytest.raises(DataError, match="is not a risk"):
        compare(data, releases, risk="ncp.loss")
    with pytest.raises(DataError, match="no release 'x'"):
        explain(found, "x")


def test_a_dominated_release_is_told_what_beats_it() -> None:
    found = [Placed("good", 0.1, 0.1), Placed("bad", 0.2, 0.2)]
    assert explain(found, "bad")[1] == "It is dominated: good has no more risk and no more loss, and less of one."
