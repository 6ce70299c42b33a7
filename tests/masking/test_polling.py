"""Long computations of masking methods look at the deadline: a search that promised a time can stop them."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.runtime.progress import OutOfTimeError, progress_listener, stop_after
from discreet.masking.balanced_partition.method import BalancedPartition
from discreet.masking.generalization import mondrian_kernels
from discreet.masking.generalization.method import Generalization
from discreet.masking.local_suppression.method import LocalSuppression
from discreet.masking.microaggregation.method import Microaggregation
from discreet.model.microdata import Microdata
from discreet.testing import table


def records(number: int) -> Microdata:
    rng = np.random.default_rng(1)
    return table(
        {"age": rng.integers(0, 90, number).tolist(), "income": rng.integers(0, 9000, number).tolist()}, key=["age", "income"]
    )


METHODS = [
    pytest.param(Generalization(k=3, algorithm="partition"), id="Mondrian"),
    pytest.param(BalancedPartition(criterion="records", k=3), id="balanced_partition"),
    pytest.param(Microaggregation(size=3, how="mdav", exact_up_to=200), id="mdav"),
    pytest.param(Microaggregation(size=3), id="univariate"),
    pytest.param(LocalSuppression(k=3, blanks="category"), id="local_suppression"),
]


@pytest.mark.parametrize("method", METHODS)
def test_a_method_stops_when_its_time_is_over(method: Any) -> None:
    with pytest.raises(OutOfTimeError), stop_after(time.monotonic() - 1):
        method.mask(records(1500), ["age", "income"], KeyedDraw(7))


def test_parts_that_are_grouped_by_mdav_report_one_by_one() -> None:
    """On 299,285 records the groups took 14 seconds in which nothing looked at the clock."""
    reports: list[str] = []
    with progress_listener(lambda what, *_: reports.append(what)):
        Microaggregation(size=3, how="mdav", exact_up_to=100).mask(records(1500), ["age", "income"], KeyedDraw(7))
    assert reports.count("grouping records") > 10


def test_mondrian_in_turns_gives_the_same_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    data = records(900)
    method = Generalization(k=3, algorithm="partition")
    at_once = method.mask(data, ["age", "income"], KeyedDraw(7))
    monkeypatch.setattr(mondrian_kernels, "_ROWS_PER_TURN", 10)
    reports: list[int] = []
    with progress_listener(lambda what, done, _: reports.append(done) if what == "cutting the table" else None):
        in_turns = method.mask(data, ["age", "income"], KeyedDraw(7))
    assert in_turns.frame.equals(at_once.frame)
    assert len(reports) > 20
    assert reports == sorted(reports)
