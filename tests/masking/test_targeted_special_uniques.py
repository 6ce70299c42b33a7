"""Suppression that targets special uniques: the passes by their definition, and no record left above the threshold."""

from __future__ import annotations

from itertools import combinations
from math import ceil, factorial
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet import registry
from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DataError, ParameterError
from discreet.masking.targeted_suppression.method import TargetedSuppression
from discreet.risks.special_uniques.measure import SpecialUniques
from discreet.testing import check_masking, table

Rows = list[tuple[Any, ...]]
ROWS = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.sampled_from([None, 1, 2, 3])] * width), min_size=1, max_size=10)
)


def _data(rows: Rows) -> Any:
    columns = {f"k{key}": pl.Series([row[key] for row in rows], dtype=pl.Int64) for key in range(len(rows[0]))}
    return table(columns, key=list(columns))


def _rows(data: Any) -> Rows:
    return list(data.frame.iter_rows())


def _agrees(one: Any, other: Any, missing: str) -> bool:
    if missing == "wildcard" and (one is None or other is None):
        return True
    return one == other and not (missing == "ignore" and one is None)


def _minimal_sets(rows: Rows, record: int, max_size: int, missing: str) -> list[tuple[int, ...]]:
    usable = [key for key, value in enumerate(rows[record]) if missing == "category" or value is not None]
    others = [row for index, row in enumerate(rows) if index != record]

    def is_alone(keys: tuple[int, ...]) -> bool:
        return not any(all(_agrees(rows[record][key], other[key], missing) for key in keys) for other in others)

    sets = [keys for size in range(1, max_size + 1) for keys in combinations(usable, size) if is_alone(keys)]
    return [keys for keys in sets if not any(set(part) < set(keys) for part in sets)]


def _scores(rows: Rows, max_size: int, missing: str) -> list[int]:
    keys = len(rows[0])
    return [
        sum(factorial(keys - len(part)) for part in _minimal_sets(rows, record, max_size, missing)) for record in range(len(rows))
    ]


def _suppress_slowly(rows: Rows, threshold: float, max_size: int, missing: str, allowed: list[bool], costs: list[float]) -> Rows:
    """The passes of wildcard and ignore, one record and one set at a time."""
    rows, width, number = list(rows), len(rows[0]), 0
    while True:
        turn = []
        for record, score in enumerate(_scores(rows, max_size, missing)):
            sets = _minimal_sets(rows, record, max_size, missing)
            gains = [sum(factorial(width - len(part)) for part in sets if key in part) * allowed[key] for key in range(width)]
            if score > threshold and any(gains):
                best = max(range(width), key=lambda key: (gains[key] / costs[key], -key))
                order = tuple(4 if value is None else value for value in rows[record])
                turn.append((-score, order, record, best))
        if not turn:
            return rows
        for _, _, record, key in sorted(turn)[: ceil(len(turn) * min(1, 2**number / 64))]:
            rows[record] = (*rows[record][:key], None, *rows[record][key + 1 :])
        number += 1


@settings(max_examples=150)
@given(ROWS, st.sampled_from([0, 1, 2, 6]), st.integers(1, 4), st.sampled_from(["wildcard", "ignore"]), st.data())
def test_the_value_with_the_largest_contribution_for_its_cost_is_suppressed_in_turns(
    rows: Rows, threshold: float, max_size: int, missing: Any, draw: st.DataObject
) -> None:
    data, width = _data(rows), len(rows[0])
    costs = draw.draw(st.lists(st.sampled_from([1.0, 2.0, 8.0]), min_size=width, max_size=width))
    allowed = draw.draw(st.lists(st.booleans(), min_size=width, max_size=width).filter(any))
    step = TargetedSuppression(
        risk="special_uniques", threshold=threshold, max_size=max_size, missing=missing, scores="factorial",
        weights={f"k{key}": cost for key, cost in enumerate(costs)},
        protect=tuple(f"k{key}" for key in range(width) if not allowed[key]),
    )  # fmt: skip
    masked = step.mask(data, data.columns, KeyedDraw(1))
    assert _rows(masked) == _suppress_slowly(rows, threshold, max_size, missing, allowed, costs)


@settings(max_examples=200)
@given(ROWS, st.sampled_from([0, 1, 2, 6]), st.integers(1, 4), st.sampled_from(["category", "wildcard", "ignore"]))
def test_no_record_is_left_above_the_threshold_and_only_nulls_are_new(
    rows: Rows, threshold: float, max_size: int, missing: Any
) -> None:
    data = _data(rows)
    step = TargetedSuppression(
        risk="special_uniques", threshold=threshold, max_size=max_size, missing=missing, scores="factorial"
    )
    masked = step.mask(data, data.columns, KeyedDraw(1))
    released = _rows(masked)
    assert all(
        new in (old, None) for before, after in zip(rows, released, strict=True) for old, new in zip(before, after, strict=True)
    )
    scores = _scores(released, max_size, missing)
    if len(rows) > 1 or missing != "category":
        assert max(scores) <= threshold
    if max(_scores(rows, max_size, missing)) <= threshold:
        assert released == rows
    measure = SpecialUniques(max_size=max_size, missing=missing, scores="factorial", threshold=threshold)
    outcome = masked.cache["targeted_suppression"]
    assert len(outcome.remaining) == measure.measure(masked)["high_risk"]
    assert outcome.values_changed == sum(row.count(None) for row in released) - sum(row.count(None) for row in rows)


@settings(max_examples=60)
@given(ROWS, st.sampled_from(["category", "wildcard", "ignore"]), st.randoms(use_true_random=False))
def test_the_order_of_the_records_does_not_change_the_released_key_values(rows: Rows, missing: Any, random: Any) -> None:
    step = TargetedSuppression(risk="special_uniques", missing=missing, max_size=2)
    shuffled = list(rows)
    random.shuffle(shuffled)
    released = [_rows(step.mask(_data(part), _data(part).columns, KeyedDraw(1))) for part in (rows, shuffled)]
    assert sorted(map(repr, released[0])) == sorted(map(repr, released[1]))


def test_one_pass_suppresses_one_value_of_each_record_above() -> None:
    rows = [(1, 1, 9), (1, 1, 1), (1, 1, 1), (2, 8, 1), (2, 2, 1), (2, 2, 1)]
    step = TargetedSuppression(risk="special_uniques", passes=1, missing="wildcard", max_size=3)
    masked = step.mask(_data(rows), ["k0", "k1", "k2"], KeyedDraw(1))
    assert [row.count(None) for row in _rows(masked)] == [1, 0, 0, 1, 0, 0]
    assert _rows(masked)[0] == (1, 1, None)


def test_a_step_takes_the_parameters_of_the_measure_from_the_policy() -> None:
    random = np.random.default_rng(5)
    frame = pl.DataFrame({name: random.integers(0, 9, 60) for name in ("a", "b", "c", "d")})
    policy = {
        "attributes": {name: {"role": "key"} for name in frame.columns},
        "risk": {"special_uniques": {"max_size": 2, "threshold": 1.5, "scores": "factorial", "keys": ["a", "b", "c"]}},
        "limits": {"special_uniques.high_risk": 0},
        "plan": {"steps": [{"method": "targeted_suppression", "risk": "special_uniques"}]},
    }
    data = discreet.read(frame, policy)
    before = discreet.risk(data)["special_uniques"]
    release = discreet.mask(data)
    assert before["high_risk"] > 0
    assert discreet.risk(release.masked)["special_uniques"]["high_risk"] == 0
    _, method = registry.resolve_step(data.policy.plan.steps[0], data.policy)
    assert (
        method.parameters | {"max_size": 2, "threshold": 1.5, "keys": ("a", "b", "c"), "missing": "category"} == method.parameters
    )
    assert release.masked.frame["d"].null_count() == 0
    assert [verdict.status for verdict in discreet.assess(data, release).verdicts] == ["met"]
    assert 0 < discreet.loss(data, release, "ncp")["ncp"]["loss"] < 0.5


def test_a_written_release_has_no_record_above_the_threshold(tmp_path: Any) -> None:
    random = np.random.default_rng(8)
    frame = pl.DataFrame({name: random.exponential(3, 300).astype(int) for name in ("a", "b", "c", "d", "e")})
    for missing in ("category", "wildcard", "ignore"):
        policy = {
            "attributes": {name: {"role": "key"} for name in frame.columns},
            "risk": {"special_uniques": {"missing": missing, "threshold": 7}},
            "plan": {"steps": [{"method": "targeted_suppression", "risk": "special_uniques"}]},
        }
        release = discreet.mask(discreet.read(frame, policy))
        discreet.write(release, tmp_path / f"{missing}.csv")
        again = discreet.read(tmp_path / f"{missing}.csv", policy)
        assert discreet.risk(again)["special_uniques"]["high_risk"] == 0


def test_later_steps_that_break_the_guarantee_are_named() -> None:
    rows = [(1, 1, 9), (1, 1, 1), (1, 1, 1), (2, 2, 1), (2, 2, 1), (2, 2, 1)]
    data = _data(rows)
    step = TargetedSuppression(risk="special_uniques", missing="wildcard", max_size=3)
    masked = step.mask(data, data.columns, KeyedDraw(1))
    assert step.broken(data, masked, masked, data.columns) == []
    changed = masked.with_columns({"k1": pl.Series([1, 7, 1, 2, 2, 2])})
    assert step.broken(data, masked, changed, data.columns) == [
        "1 records are above the score 0 in the final table, 0 after this step"
    ]


def test_what_cannot_be_reached_is_reported_with_scores() -> None:
    data = _data([(1, 5), (1, 6), (2, 5), (2, 6)])
    step = TargetedSuppression(risk="special_uniques", missing="wildcard", protect=("k0", "k1"), max_size=2)
    with pytest.raises(DataError, match="needs a column that is a key and not protected"):
        step.mask(data, data.columns, KeyedDraw(1))
    data = _data([(1, 5), (1, 5), (2, 5), (3, 6)])
    step = TargetedSuppression(risk="special_uniques", missing="wildcard", protect=("k0",), max_size=2)
    masked = step.mask(data, data.columns, KeyedDraw(1))
    notes = step.notes(data, masked, data.columns)
    assert notes[-1].startswith("2 records stay above the score 0, with scores of 1 to 1: source records 3, 4")


def test_parameters_of_the_other_risk_are_refused() -> None:
    for parameters, message in (
        ({"risk": "special_uniques", "alpha": 3}, "alpha does not apply to risk: special_uniques"),
        ({"risk": "special_uniques", "choose": "fewest"}, "choose does not apply to risk: special_uniques"),
        ({"max_size": 2}, "max_size does not apply to risk: known_sets"),
        ({"risk": "special_uniques", "threshold": {"among": 5}}, "needs a threshold that is a score"),
        ({"missing": "ignore"}, "missing: ignore needs risk: special_uniques"),
    ):
        with pytest.raises(ParameterError, match=message):
            registry.create("masking", "targeted_suppression", parameters)


def test_more_values_than_the_limit_allows_are_refused() -> None:
    data = _data([(1, 5), (1, 6), (2, 5), (2, 6)])
    step = TargetedSuppression(risk="special_uniques", limit=0.1)
    with pytest.raises(DataError, match=r"more than the limit 0\.1 allows"):
        step.mask(data, data.columns, KeyedDraw(1))


@pytest.mark.parametrize("missing", ["category", "wildcard", "ignore"])
def test_the_method_conforms(missing: Any) -> None:
    check_masking(TargetedSuppression(risk="special_uniques", missing=missing))
