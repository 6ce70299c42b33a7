"""The summary of benchmarks/selection.py counts what its rows say."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import load_script

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def test_a_blank_key_counts_as_avoided_by_hand_where_the_plan_by_hand_blanks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    script = load_script(BENCHMARKS / "selection.py")

    def row(blank: float, by_hand: float | None) -> object:
        return script.Comparison([], True, by_hand is not None, None, blank, by_hand, 0, 10, True)

    rows = [row(0.77, 0.0), row(0.9, 0.5), row(0.9, 1.0), row(0.9, None), row(0.1, 0.0)]
    assert "cases with a key more than 60 % blank: 4 of 5; of these a plan by hand avoids it in 2" in script.summarize(rows)
