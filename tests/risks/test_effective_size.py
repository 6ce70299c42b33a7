"""The effective class size of known_sets against its definition, set by set and record by record."""

from __future__ import annotations

import itertools
import math
from typing import Any
from unittest import mock

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import registry
from discreet.errors import ParameterError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.threshold import Among
from discreet.risks.known_sets.large import size as large_size
from discreet.risks.known_sets.measure import KnownSets

CELLS = st.sampled_from([None, "a", "a", "b", "c"])
KNOWN = st.sampled_from([0.0, 0.001, 0.05, 0.3, 0.7, 1.0])


@st.composite
def tables(draw: st.DrawFn) -> Microdata:
    width, height = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    columns = {f"x{at}": pl.Series([draw(CELLS) for _ in range(height)], dtype=pl.String) for at in range(width)}
    attributes: dict[str, dict[str, Any]] = {}
    for name in columns:
        attributes[name] = {"known": draw(KNOWN), "sensitivity": draw(st.sampled_from([0.0, 0.5, 1.0]))}
        if draw(st.booleans()):
            attributes[name]["values"] = {"a": draw(st.sampled_from([0.0, 0.2, 1.0])), "b": 0.4}
            attributes[name]["default"] = draw(st.sampled_from([0.0, 0.3]))
    attributes["x0"]["known"] = attributes["x0"]["known"] or 0.5
    return Microdata(pl.DataFrame(columns), Policy.from_dict({"attributes": attributes}))


def by_definition(
    data: Microdata, epsilon: float, *, wildcard: bool, original: Microdata | None = None
) -> list[tuple[float | None, float | None]]:
    """D1(r) / D(r) over the kept sets and over all sets, the empty set left out; none where D1 is 0."""
    names = [name for name, one in data.policy.attributes.items() if one.known > 0 or one.sensitivity > 0]
    rows = data.frame.to_dicts()
    true = rows if original is None else original.frame.to_dicts()

    def agree(one: Any, other: Any) -> bool:
        return one == other or ((wildcard or original is not None) and (one is None or other is None))

    made: list[tuple[float | None, float | None]] = []
    for at, row in enumerate(rows):
        weight = {name: data.attribute(name).sensitivity * data.attribute(name).value_weight(row[name]) for name in names}
        sums = {"kept": [0.0, 0.0], "all": [0.0, 0.0]}
        for size in range(1, len(names) + 1):
            for known in itertools.combinations(names, size):
                chance = math.prod(data.attribute(name).known for name in known)
                same = [all(agree(other[name], true[at][name]) for name in known) for other in rows]
                if not same[at]:
                    continue
                part = chance * sum(weight[name] for name in names if name not in known)
                for which in ("kept", "all") if chance > epsilon else ("all",):
                    sums[which][0] += part
                    sums[which][1] += part / sum(same)
        ratios = [one / other if other > 0 else None for one, other in sums.values()]
        made.append((ratios[0], ratios[1]))
    return made


def compare(data: Microdata, measure: KnownSets, original: Microdata | None = None) -> None:
    slow = by_definition(data, measure.epsilon, wildcard=measure.missing == "wildcard", original=original)
    score = measure.measure(data, original=original)
    found = score.per_record
    assert found is not None
    sizes = []
    for row, (kept, whole) in zip(found.to_dicts(), slow, strict=True):
        if whole is None:
            assert row["effective_k"] is row["effective_k_lower"] is row["effective_k_upper"] is None
            continue
        assert row["effective_k_lower"] <= whole * (1 + 1e-9)
        assert row["effective_k_upper"] >= whole * (1 - 1e-9)
        assert row["effective_k"] == pytest.approx(row["effective_k_lower"] if kept is None else kept, rel=1e-9)
        sizes.append(row["effective_k"])
    assert score["below_5"] == sum(size < 5 * (1 - 1e-9) for size in sizes)
    if not sizes:
        assert score["effective_k_min"] is score["effective_k_median"] is None
        return
    assert score["effective_k_min"] == min(sizes)
    assert score["effective_k_median"] == sorted(sizes)[(len(sizes) + 1) // 2 - 1]
    true = sorted(whole for _, whole in slow if whole is not None)
    truth = {"effective_k_min": true[0], "effective_k_median": true[(len(true) + 1) // 2 - 1],
             "below_5": sum(one < 5 * (1 - 1e-9) for one in true)}  # fmt: skip
    for field, number in truth.items():
        low, high = score.bounds[field]
        assert low * (1 - 1e-9) <= number <= high * (1 + 1e-9)


@settings(max_examples=60, deadline=None)
@given(tables(), st.sampled_from([0.0, 0.01, 0.2]), st.sampled_from(["category", "wildcard"]))
def test_effective_class_size_is_the_ratio_of_the_two_sums(data: Microdata, epsilon: float, missing: Any) -> None:
    compare(data, KnownSets(epsilon=epsilon, missing=missing))


@settings(max_examples=40, deadline=None)
@given(tables(), st.sampled_from([0.0, 0.01, 0.2]), st.data())
def test_effective_class_size_of_an_attacker_who_knows_the_original_values(
    data: Microdata, epsilon: float, draw: st.DataObject
) -> None:
    blanked = {
        name: pl.Series([None if draw.draw(st.booleans()) else value for value in data.frame[name]], dtype=pl.String)
        for name in data.columns
    }
    compare(data.with_columns(blanked), KnownSets(epsilon=epsilon), original=data)


@settings(max_examples=30, deadline=None)
@given(tables(), st.sampled_from([0.0, 0.01, 0.2]))
def test_the_large_table_method_gives_the_same_effective_class_sizes(data: Microdata, epsilon: float) -> None:
    measure = KnownSets(epsilon=epsilon, threshold=Among(among=3))
    usual = measure.measure(data)
    with mock.patch.object(large_size, "LARGE_TABLE", 0):
        short = measure.measure(data)
    for field in ("effective_k_min", "effective_k_median", "below_5", "high_risk", "undecided"):
        assert short[field] == (None if usual[field] is None else pytest.approx(usual[field], rel=1e-12))


@settings(max_examples=60, deadline=None)
@given(tables(), st.sampled_from([0.01, 0.2]), st.sampled_from([1.5, 2, 3]))
def test_among_counts_the_records_with_a_smaller_size_and_decide_decides(data: Microdata, epsilon: float, among: float) -> None:
    slow = by_definition(data, epsilon, wildcard=False)
    plain = KnownSets(epsilon=epsilon, threshold={"among": among}).measure(data)
    assert plain["high_risk"] == sum(
        row["effective_k"] is not None and row["effective_k"] < among * (1 - 1e-9) for row in plain.per_record.to_dicts()
    )
    assert plain.bounds["high_risk"][1] - plain.bounds["high_risk"][0] == plain["undecided"]
    sure = KnownSets(epsilon=epsilon, threshold={"among": among}, decide=True).measure(data)
    assert sure["undecided"] == 0
    assert sure["high_risk"] == sum(whole is not None and whole < among * (1 - 1e-9) for _, whole in slow)


def _classes(k: int) -> Microdata:
    frame = pl.DataFrame({"sex": ["f", "m"] * k, "ill": ["y"] * 2 * k})
    return Microdata(frame, Policy.from_dict({"attributes": {"sex": {"known": 0.3}, "ill": {"sensitivity": 1}}}))


@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_effective_class_size_is_k_where_every_class_has_k_records(k: int) -> None:
    score = KnownSets(epsilon=0, threshold={"among": k + 1}).measure(_classes(k))
    assert score["effective_k_min"] == pytest.approx(k, rel=1e-12)
    assert score["effective_k_median"] == pytest.approx(k, rel=1e-12)
    assert score["below_5"] == (2 * k if k < 5 else 0)
    assert score["high_risk"] == 2 * k
    if k > 1:
        assert KnownSets(epsilon=0, threshold={"among": k}).measure(_classes(k))["high_risk"] == 0


def test_a_record_unique_in_every_known_set_has_effective_class_size_1() -> None:
    data = Microdata(
        pl.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6], "ill": ["y"] * 3}),
        Policy.from_dict({"attributes": {"a": {"known": 0.3}, "b": {"known": 0.2}, "ill": {"sensitivity": 1}}}),
    )
    assert KnownSets(epsilon=0).measure(data).per_record["effective_k"].to_list() == pytest.approx([1, 1, 1])


def test_a_table_with_nothing_to_learn_notes_that_0_is_no_evidence() -> None:
    data = Microdata(pl.DataFrame({"a": [1, 2]}), Policy.from_dict({"attributes": {"a": {"known": 0.3}}}))
    score = KnownSets().measure(data)
    assert score["effective_k_min"] is None
    assert any("no record has anything to learn" in note for note in score.notes)


@pytest.mark.parametrize(
    ("threshold", "sentence"),
    [
        ({"amogn": 20}, "a threshold is a number, or {among: 20}"),
        ({"among": 1}, "among is a number of records greater than 1; got 1"),
        (-1, "at least 0"),
        ("much", "at least 0"),
        (True, "at least 0"),
        (math.nan, "at least 0"),
    ],
)
def test_an_invalid_threshold_is_reported_in_a_sentence(threshold: Any, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        registry.create("risk", "known_sets", {"threshold": threshold})
