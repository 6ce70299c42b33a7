"""The search for agreeing records goes in turns, between which a deadline can stop it; the turns change no number."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.runtime.progress import OutOfTimeError, progress_listener, stop_after
from discreet.masking.generalization.method import Generalization
from discreet.model.microdata import Microdata
from discreet.risks.target_linkage import agreement, bit_rows
from discreet.risks.target_linkage.measure import TargetLinkage
from discreet.testing import table


@pytest.fixture(scope="module")
def tables() -> tuple[Microdata, Microdata]:
    rng = np.random.default_rng(3)
    columns: dict[str, Any] = {"age": rng.integers(0, 60, 500).tolist(), "size": rng.integers(0, 40, 500).tolist()}
    original = table(columns, key=["age", "size"])
    return original, Generalization(k=3, algorithm="partition").mask(original, ["age", "size"], KeyedDraw(7))


@pytest.mark.parametrize("way", ["tree", "bits", "compiled bits"])
def test_turns_change_no_number(tables: tuple[Microdata, Microdata], way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original, masked = tables
    monkeypatch.setattr(agreement, "is_quicker_by_bits", lambda *_: way != "tree")
    monkeypatch.setattr(bit_rows, "_is_few", lambda *_: way == "bits")
    at_once = TargetLinkage().measure(masked, original=original).summary
    monkeypatch.setattr(agreement, "_QUERIES_PER_TURN", 7)
    monkeypatch.setattr(bit_rows, "_QUERIES_PER_TURN", 7)
    monkeypatch.setattr(bit_rows, "_BLOCK", 1 << 10)
    reports: list[str] = []
    with progress_listener(lambda what, *_: reports.append(what)):
        in_turns = TargetLinkage().measure(masked, original=original).summary
    assert in_turns == at_once
    assert len(reports) > 20


def test_a_measurement_stops_when_its_time_is_over(tables: tuple[Microdata, Microdata]) -> None:
    """On 299,285 records it took 9 seconds in which nothing looked at the clock."""
    original, masked = tables
    with pytest.raises(OutOfTimeError), stop_after(time.monotonic() - 1):
        TargetLinkage().measure(masked, original=original)


@pytest.mark.parametrize("size", range(2, 40))
def test_the_largest_probability_of_classes_of_k_records_is_exactly_one_in_k(size: int) -> None:
    """As 0.20000000000000004 it missed the limit 0.2, so that no plan with classes of five met it on the table of employees."""
    records = 311 // size * size
    rng = np.random.default_rng(size)
    other = rng.integers(0, 3, records // size)
    columns: dict[str, Any] = {
        "class": np.repeat(np.arange(records // size), size).tolist(),
        "other": np.repeat(other, size).tolist(),
    }
    data = table(columns, key=["class", "other"])
    for model in ("independent", "empirical"):
        assert TargetLinkage(model=model).measure(data, original=data)["max"] == 1 / size
