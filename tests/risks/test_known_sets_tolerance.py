"""Intervals narrowed for all records at once, against the sum over all sets as the definition reads."""

from __future__ import annotations

import itertools
import math
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.encoding.columns import encode
from discreet.engine.known_sets.sums import known_sets
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.known_sets import measure
from discreet.risks.known_sets.large import size as large_size
from discreet.risks.known_sets.requirements import Requirements
from discreet.risks.known_sets.tolerance import narrow
from discreet.risks.known_sets.tolerance.minor import split_places
from discreet.testing import students

CELLS = {2: ["n", "n", "n", "y"], 3: ["n", "n", "y", "z"], 4: [None, "n", "n", "y", "z"]}


@st.composite
def tables_with_flags(draw: st.DrawFn, most_flags: int) -> Microdata:
    height = draw(st.integers(2, 14))
    binary = draw(st.booleans())
    columns: dict[str, Any] = {}
    attributes: dict[str, Any] = {}
    for kind, number in (("key", draw(st.integers(1, 4))), ("flag", draw(st.integers(0, most_flags)))):
        for at in range(number):
            name = f"{kind}{at}"
            cells = ["a", "a", "b", "c", None] if kind == "key" else CELLS[2 if binary else draw(st.sampled_from([2, 3, 4]))]
            columns[name] = pl.Series([draw(st.sampled_from(cells)) for _ in range(height)], dtype=pl.String)
            known = draw(st.sampled_from([0.03, 0.2, 0.6, 1.0] if kind == "key" else [0.001, 0.005, 0.02]))
            attributes[name] = {"known": known, "sensitivity": draw(st.sampled_from([0.0, 1.0, 1.0]))}
            if draw(st.booleans()):
                attributes[name] |= {"values": {"y": 1.0, "a": 0.3}, "default": draw(st.sampled_from([0.0, 0.2]))}
    columns["secret"], attributes["secret"] = pl.Series(["x"] * height), {"known": 0.0, "sensitivity": 0.7}
    return Microdata(pl.DataFrame(columns), Policy.from_dict({"attributes": attributes}))


def true_sums(data: Microdata) -> list[float]:
    """The sum over all sets, set by set and record by record (alpha 1)."""
    names = list(data.columns)
    known = [name for name in names if data.attribute(name).known > 0]
    rows = data.frame.to_dicts()
    totals = []
    for row in rows:
        weight = {name: data.attribute(name).sensitivity * data.attribute(name).value_weight(row[name]) for name in names}
        total = 0.0
        for size in range(len(known) + 1):
            for chosen in itertools.combinations(known, size):
                count = sum(all(other[name] == row[name] for name in chosen) for other in rows)
                learnt = sum(weight[name] for name in names if name not in chosen)
                total += math.prod(data.attribute(name).known for name in chosen) * learnt / count
        totals.append(total)
    return totals


def narrowed(data: Microdata, tolerance: float, is_past: Any = None, max_sets: int = 10_000) -> tuple[Any, Any, Any]:
    sums = known_sets(data, epsilon=0.5, max_sets=10_000)
    required = Requirements(tolerance, [])
    lower, upper = sums.per_record.lower, sums.per_record.upper
    with mock.patch.object(Requirements, "is_past", is_past or (lambda _: False)):
        return sums.slots, *narrow.narrow_many(data, sums, lower, upper, alpha=1.0, required=required, max_sets=max_sets)


@settings(max_examples=150)
@given(tables_with_flags(most_flags=2))
def test_sums_with_up_to_two_minor_attributes_are_exact(data: Microdata) -> None:
    with mock.patch.object(narrow, "_choose_paired", lambda shares, *_: np.arange(len(shares))):
        slots, lower, upper = narrowed(data, 1e-13)
    truth = np.array(true_sums(data))[slots]
    np.testing.assert_allclose(lower, truth, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(upper, truth, rtol=1e-9, atol=1e-15)


@settings(max_examples=150)
@given(tables_with_flags(most_flags=5), st.sampled_from([0.5, 0.05, 0.001]), st.integers(1, 40), st.integers(0, 60))
def test_intervals_hold_the_truth_whatever_is_counted(data: Microdata, tolerance: float, max_sets: int, steps: int) -> None:
    left = iter(range(steps))
    slots, lower, upper = narrowed(data, tolerance, lambda _: next(left, None) is None, max_sets)
    truth = np.array(true_sums(data))[slots]
    assert (lower <= truth * (1 + 1e-9) + 1e-15).all()
    assert (upper >= truth * (1 - 1e-9) - 1e-15).all()


@settings(max_examples=60)
@given(tables_with_flags(most_flags=4), st.sampled_from([0.2, 0.01]))
def test_the_measure_of_a_large_table_keeps_the_tolerance(data: Microdata, tolerance: float) -> None:
    with (
        mock.patch.object(large_size, "LARGE_TABLE", 0),
        mock.patch.object(narrow, "_FEW_RECORDS", -1),
        mock.patch.object(narrow, "narrow_many", wraps=narrow.narrow_many) as called,
    ):
        score = measure.KnownSets(epsilon=0.5, tolerance=tolerance).measure(data)
    assert called.called
    for truth, one in zip(true_sums(data), score.per_record.to_dicts(), strict=True):
        assert one["lower"] <= truth * 100 * (1 + 1e-9) + 1e-13
        assert one["upper"] >= truth * 100 * (1 - 1e-9) - 1e-13
        assert one["upper"] - one["lower"] <= tolerance * one["lower"] * (1 + 1e-9) + 1e-13


def test_little_memory_is_said_and_leaves_the_intervals_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_MEMORY", "1MB")
    monkeypatch.setattr(large_size, "LARGE_TABLE", 0)
    monkeypatch.setattr(narrow, "_FEW_RECORDS", -1)
    data = students(30, dense=True)
    score = measure.KnownSets(epsilon=0.5, tolerance=1e-9, max_sets=40).measure(data)
    assert any("needs about" in note and "1 MB are free" in note for note in score.notes)
    assert any("wider than requested" in note for note in score.notes)
    monkeypatch.delenv("DISCREET_MEMORY")
    exact = measure.KnownSets(epsilon=1e-7).measure(data).per_record
    assert (score.per_record["lower"] <= exact["upper"] * (1 + 1e-9)).all()
    assert (score.per_record["upper"] >= exact["lower"] * (1 - 1e-9)).all()


def test_flags_are_minor_and_likely_or_long_attributes_are_not() -> None:
    size = 60
    frame = pl.DataFrame({
        "age": list(range(size)), "code": list(range(size)), "flag": [0, 1] * (size // 2), "sex": [0, 1] * (size // 2),
    })  # fmt: skip
    known = {"age": 0.6, "code": 0.01, "flag": 0.01, "sex": 0.3}
    data = Microdata(frame, Policy.from_dict({"attributes": {name: {"known": chance} for name, chance in known.items()}}))
    assert split_places(encode(data, list(known)), list(known.values())) == ([0, 1, 3], [2])
