"""Targeted generalization: cells that overlap agree, counted pair by pair on the release; no record stays above the threshold."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DataError, ParameterError
from discreet.losses.ncp.measure import Ncp
from discreet.masking.targeted_generalization import coarsening
from discreet.masking.targeted_generalization.method import TargetedGeneralization
from discreet.masking.targeted_suppression.method import TargetedSuppression
from discreet.model.cells import parse_interval
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.known_sets.measure import KnownSets
from discreet.testing import students, table

DRAW = KeyedDraw(7)
EPSILON = 0.01
GROUPS = [{"ab": ["a", "b"], "cd": ["c", "d"]}]
THRESHOLDS = st.sampled_from([0.0517, 0.2031, 0.4127, 0.7213, 1.0317])


@st.composite
def tables(draw: st.DrawFn) -> Microdata:
    height = draw(st.integers(1, 10))
    texts = st.sampled_from([None, "a", "a", "b", "c", "d"])
    columns = {
        "x": pl.Series([draw(texts) for _ in range(height)], dtype=pl.String),
        "y": pl.Series([draw(st.sampled_from([None, 1, 2, 3, 5, 9])) for _ in range(height)], dtype=pl.Int64),
        "z": pl.Series([draw(texts) for _ in range(height)], dtype=pl.String),
        "s": pl.Series([draw(st.sampled_from(["a", "b", None])) for _ in range(height)], dtype=pl.String),
    }
    chances = st.sampled_from([0.05, 0.3, 0.7, 1.0])
    attributes: dict[str, Any] = {
        "x": {"known": draw(chances), "hierarchy": {"groups": GROUPS}},
        "y": {"known": draw(chances), "hierarchy": {"widths": [2, 4]}},
        "z": {"known": draw(chances)},
        "s": {"sensitivity": 1.0, "values": {"a": 1.0, "b": 0.3}, "known": draw(st.sampled_from([0.0, 0.001]))},
    }
    if draw(st.booleans()):
        attributes["x"] |= {"sensitivity": 0.5, "values": {"a": 1.0, "b": 0.4, "c": 0.1}}
    return Microdata(pl.DataFrame(columns), Policy.from_dict({"attributes": attributes}))


def leaves(name: str, cell: Any) -> frozenset[Any]:
    """The original values that a cell may stand for, read from the text of the release."""
    everything = {"x": "abcd", "z": "abcd", "s": "ab", "y": range(12)}[name]
    if cell is None:
        return frozenset(everything)
    if name == "y":
        interval = parse_interval(str(cell))
        return frozenset(v for v in everything if v in interval) if interval else frozenset([int(cell)])
    return frozenset(cell) if name == "x" else frozenset([cell])


def brute(data: Microdata, frame: pl.DataFrame) -> list[float]:
    """Orooji & Knapp (2018a), eq. 1, with cells agreeing if they overlap; a coarse cell has the largest weight of its values."""
    names = list(data.policy.attributes)
    cells = [{name: leaves(name, row[name]) for name in names} for row in frame.to_dicts()]
    risks = []
    for cell, row in zip(cells, frame.to_dicts(), strict=True):
        weight = {}
        for name in names:
            attribute = data.attribute(name)
            values = [None] if row[name] is None else cell[name] & set(data.frame[name].drop_nulls())
            weight[name] = attribute.sensitivity * max(attribute.value_weight(value) for value in values)
        total = 0.0
        for size in range(len(names) + 1):
            for known in itertools.combinations(names, size):
                chance = math.prod(data.attribute(n).known for n in known)
                if not known or chance > EPSILON:
                    agree = sum(all(cell[n] & other_cell[n] for n in known) for other_cell in cells)
                    total += chance / agree * sum(weight[n] for n in names if n not in known)
        risks.append(total)
    return risks


def run(data: Microdata, **parameters: Any) -> Microdata:
    method = TargetedGeneralization(alpha=1, epsilon=EPSILON, **parameters)
    columns = method.choose(data)
    method.check(data, columns)
    return method.mask(data, columns, DRAW)


@settings(deadline=None, max_examples=30)
@given(tables(), THRESHOLDS, st.sampled_from([(), ("x",), ("y", "z")]))
def test_no_record_stays_above_the_threshold_except_those_listed(
    data: Microdata, threshold: float, protect: tuple[str, ...]
) -> None:
    masked = run(data, threshold=threshold, protect=protect)
    before, after = brute(data, data.frame), brute(data, masked.frame)
    outcome = masked.cache["targeted_generalization"]
    assert set(outcome.remaining) == {row for row, risk in enumerate(after) if risk > threshold * (1 + 1e-9)}
    for row, (old, new) in enumerate(zip(data.frame.to_dicts(), masked.frame.to_dicts(), strict=True)):
        changed = {name for name in old if str(old[name]) != str(new[name])}
        assert not changed & {*protect, "s"}
        assert not changed or before[row] > threshold * (1 - 1e-9)
        assert all(old[name] in leaves(name, new[name]) for name in changed)  # cells stay truthful
    for row in outcome.remaining:  # not even with everything suppressed that may be
        rows = masked.frame.cast(pl.String).to_dicts()
        rows[row] |= dict.fromkeys({"x", "y", "z"} - set(protect))
        if data.attribute("x").sensitivity == 0:
            trial = pl.DataFrame(rows, schema=dict.fromkeys(masked.columns, pl.String))
            assert brute(data, trial)[row] > threshold * (1 - 1e-9)


@settings(deadline=None, max_examples=30)
@given(tables(), THRESHOLDS, st.randoms())
def test_the_order_of_the_rows_does_not_matter(data: Microdata, threshold: float, random: Any) -> None:
    order = list(range(len(data)))
    random.shuffle(order)
    masked, moved = run(data, threshold=threshold), run(data.take(np.array(order)), threshold=threshold)
    assert moved.frame.equals(masked.frame[order])


def test_information_loss_is_lower_than_with_suppression() -> None:
    data, ncp = students(5000), Ncp()
    lost = {}
    for method in (TargetedGeneralization(threshold=2), TargetedSuppression(threshold=2, choose="fewest")):
        masked = method.mask(data, method.choose(data), DRAW)
        assert not len(masked.cache[method.name].remaining)
        lost[method.name] = ncp.measure(data, masked)["loss"]
    assert lost["targeted_generalization"] < 0.8 * lost["targeted_suppression"]


def test_numbers_without_a_hierarchy_become_quantile_intervals() -> None:
    rng = np.random.default_rng(3)
    data = table(
        {"age": rng.integers(0, 90, 400), "ill": ["y"] + ["n"] * 399},
        known={"age": 0.9}, sensitivity={"ill": 1.0},
    )  # fmt: skip
    masked = run(data, threshold=0.02)
    coarse = [cell for cell in masked.frame["age"].to_list() if parse_interval(cell or "") is not None]
    assert len(coarse) > 10


def test_fewer_levels_are_used_where_their_table_would_be_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    data = students(1000)
    monkeypatch.setattr(coarsening, "_MAX_TABLE_CELLS", 5000)
    method = TargetedGeneralization(threshold=10)
    masked = method.mask(data, method.choose(data), DRAW)
    assert not len(masked.cache["targeted_generalization"].remaining)
    monkeypatch.setattr(coarsening, "_MAX_TABLE_CELLS", 500)
    with pytest.raises(DataError, match="at most 22 attributes at once, but 10 occur"):
        method.mask(data, method.choose(data), DRAW)


def test_the_log_reports_what_was_done_and_which_records_remain() -> None:
    data = students(1000)
    method = TargetedGeneralization(threshold=0.01)
    columns = method.choose(data)
    masked = method.mask(data, columns, DRAW)
    notes = " ".join(method.notes(data, masked, columns))
    assert "more suppressed" in notes
    assert "cannot be brought below 0.01" in notes
    assert method.broken(data, masked, masked, columns) == []
    assert "changed by a later step" in method.broken(data, masked, data, columns)[0]
    assert method.notes(data, data, columns) == []


def test_impossible_parameters_are_errors() -> None:
    data = table({"a": [1, 2], "b": [1, 1]}, known={"a": 0.5}, sensitivity={"b": 1.0})
    with pytest.raises(ParameterError, match="weights names 'c', which is not a column"):
        TargetedGeneralization(weights={"c": 1}).check(data, ["a"])
    with pytest.raises(DataError, match="needs a column with known > epsilon that is not protected"):
        TargetedGeneralization(protect=("a",)).check(data, ["a"])
    empty = table({"a": pl.Series([], dtype=pl.Int64)}, known={"a": 0.5})
    assert len(TargetedGeneralization().mask(empty, ["a"], DRAW)) == 0


@settings(deadline=None, max_examples=30)
@given(tables(), THRESHOLDS, st.sampled_from(["category", "wildcard"]))
def test_known_sets_on_the_release_agrees_with_the_outcome_of_the_method(data: Microdata, threshold: float, missing: Any) -> None:
    """Regression: known_sets took labels for values of their own and counted too many high-risk records."""
    masked = run(data, threshold=threshold, missing=missing)
    outcome = masked.cache["targeted_generalization"]
    score = KnownSets(alpha=1, epsilon=EPSILON, threshold=threshold, missing=missing).measure(masked)
    assert score.summary["high_risk"] == len(outcome.remaining)
    assert all(cell != "*" for cell in masked.frame["y"].cast(pl.String) if missing == "wildcard")


def test_cells_that_overlap_already_are_refused_by_name() -> None:
    attributes = {"age": {"known": 0.9}, "ill": {"sensitivity": 1.0}}
    frame = pl.DataFrame({"age": ["20..30", "25", "31"], "ill": ["y"] * 3})
    with pytest.raises(DataError, match="cells of 'age' overlap already"):
        run(Microdata(frame, Policy.from_dict({"attributes": attributes})), threshold=0.1)
