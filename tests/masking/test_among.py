"""threshold: {among: k} in the targeted methods: afterwards no effective class size, computed by definition, is smaller."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.engine.draws.draw import KeyedDraw
from discreet.masking.targeted_generalization.method import TargetedGeneralization
from discreet.masking.targeted_suppression.method import TargetedSuppression
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

CELLS = st.sampled_from([None, "a", "a", "b", "c"])


@st.composite
def tables(draw: st.DrawFn) -> Microdata:
    width, height = draw(st.integers(1, 3)), draw(st.integers(1, 9))
    columns = {f"x{index}": pl.Series([draw(CELLS) for _ in range(height)], dtype=pl.String) for index in range(width)}
    columns["ill"] = pl.Series([draw(st.sampled_from(["y", "n", None])) for _ in range(height)], dtype=pl.String)
    attributes: dict[str, Any] = {
        name: {"known": draw(st.sampled_from([0.2, 0.5, 1.0])), "sensitivity": draw(st.sampled_from([0.0, 0.0, 0.5]))}
        for name in columns
        if name != "ill"
    }
    attributes["ill"] = {"sensitivity": 1.0, "values": {"y": 1.0, "n": draw(st.sampled_from([0.0, 0.5]))}}
    return Microdata(pl.DataFrame(columns), Policy.from_dict({"attributes": attributes}))


def sizes(data: Microdata, *, wildcard: bool) -> list[float]:
    """The effective class sizes D1 / D over non-empty sets with a probability above 0.01; infinite if nothing is sensitive."""
    names = [name for name, attribute in data.policy.attributes.items() if attribute.known > 0 or attribute.sensitivity > 0]
    rows, result = data.frame.to_dicts(), []
    for row in rows:
        weight = {name: data.attribute(name).sensitivity * data.attribute(name).value_weight(row[name]) for name in names}
        top = below = 0.0
        for number in range(1, len(names) + 1):
            for known in itertools.combinations(names, number):
                chance = math.prod(data.attribute(name).known for name in known)
                if chance <= 0.01:
                    continue
                count = sum(
                    all(
                        other_row[name] == row[name] or (wildcard and (other_row[name] is None or row[name] is None))
                        for name in known
                    )
                    for other_row in rows
                )
                part = chance * sum(weight[name] for name in names if name not in known)
                top, below = top + part, below + part / count
        result.append(top / below if below > 1e-12 else math.inf)
    return result


def unsafe(data: Microdata, among: float, *, wildcard: bool) -> set[int]:
    return {row for row, size in enumerate(sizes(data, wildcard=wildcard)) if size < among * (1 - 1e-9)}


@settings(max_examples=60, deadline=None)
@given(
    tables(),
    st.sampled_from([1.5, 2, 3]),
    st.sampled_from(["set", "fewest"]),
    st.sampled_from(["known", "sensitive", "cheapest"]),
)
def test_every_record_not_listed_as_remaining_has_the_requested_effective_class_size(
    data: Microdata, among: float, choose: str, side: str
) -> None:
    method = TargetedSuppression(threshold={"among": among}, choose=choose, side=side)
    columns = method.choose(data)
    before = unsafe(data, among, wildcard=True)
    masked = method.mask(data, columns, KeyedDraw(1)) if columns else data
    outcome = masked.cache.get("targeted_suppression")
    left = unsafe(masked, among, wildcard=True)
    assert left == (set(outcome.remaining.tolist()) if outcome else before)
    for row, (before_row, after_row) in enumerate(zip(data.frame.rows(), masked.frame.rows(), strict=True)):
        if row not in before:  # records that are safe are not touched
            assert before_row == after_row
    if side != "sensitive" and not any(data.attribute(f"x{row}").sensitivity for row in range(len(data.columns) - 1)):
        # no known attribute is sensitive: with all known values suppressed a record agrees with all records
        assert not left or len(data) < among * (1 - 1e-9)


@settings(max_examples=40, deadline=None)
@given(tables(), st.sampled_from([1.5, 2, 3]), st.sampled_from(["known", "sensitive"]), st.sampled_from([1, "until_safe"]))
def test_a_null_that_is_a_value_of_its_own_is_measured_as_such(data: Microdata, among: float, side: str, passes: Any) -> None:
    method = TargetedSuppression(threshold={"among": among}, side=side, missing="category", passes=passes)
    columns = method.choose(data)
    if not columns:
        return
    before = unsafe(data, among, wildcard=False)
    masked = method.mask(data, columns, KeyedDraw(1))
    outcome = masked.cache["targeted_suppression"]
    if passes == 1:
        assert outcome.passes[0][0] == len(before)
    else:
        assert unsafe(masked, among, wildcard=False) == set(outcome.remaining.tolist())


@settings(max_examples=40, deadline=None)
@given(tables(), st.sampled_from([1.5, 2, 3]))
def test_generalization_reaches_the_requested_effective_class_size(data: Microdata, among: float) -> None:
    plain = data.with_policy(
        data.policy.with_(
            attributes={name: attribute.model_copy(update={"sensitivity": 0.0 if name != "ill" else 1.0})
                        for name, attribute in data.policy.attributes.items()}
        )
    )  # fmt: skip
    method = TargetedGeneralization(threshold={"among": among})
    masked = method.mask(plain, method.choose(plain), KeyedDraw(1))
    # text without a hierarchy is suppressed or unchanged, so a null that agrees with any value is the only coarse cell
    assert unsafe(masked, among, wildcard=True) == set(masked.cache["targeted_generalization"].remaining.tolist())


def test_a_step_without_parameters_meets_a_policy_with_among() -> None:
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"age": rng.integers(20, 70, 500), "town": rng.choice(list("ABCDEFG"), 500), "ill": ["y"] * 500})
    content = {
        "attributes": {"age": {"known": 0.4}, "town": {"known": 0.5}, "ill": {"sensitivity": 1.0}},
        "risk": {"known_sets": {"threshold": {"among": 20}, "missing": "wildcard"}},
        "limits": {"known_sets.high_risk": 0, "known_sets.below_5": 0},
        "judge": "release",
        "plan": {"seed": 3, "steps": [{"method": "targeted_suppression", "choose": "fewest"}]},
    }
    data = discreet.read(frame, Policy.from_dict(content))
    assert discreet.risk(data)["known_sets"]["high_risk"] > 0
    release = discreet.mask(data)
    assert not [item for item in release.warnings if "known_sets" in item]
    assert {item.status for item in discreet.assess(data, release).verdicts} == {"met"}


def test_records_that_cannot_reach_the_class_size_are_reported() -> None:
    frame = pl.DataFrame({"age": [1, 2, 3], "ill": ["y"] * 3})
    data = Microdata(frame, Policy.from_dict({"attributes": {"age": {"known": 0.5}, "ill": {"sensitivity": 1.0}}}))
    method = TargetedSuppression(threshold={"among": 20})
    masked = method.mask(data, ["age"], KeyedDraw(1))
    notes = method.notes(data, masked, ["age"])
    assert any(
        "3 records still have an effective class size below 20 with everything suppressed that could help" in note
        for note in notes
    )


@pytest.mark.parametrize("method", ["targeted_suppression", "targeted_generalization"])
def test_the_parameter_is_read_from_a_policy(method: str) -> None:
    plugin = discreet.registry.create("masking", method, {"threshold": {"among": 7}})
    assert f"{plugin.threshold:g}" == "{among: 7}"  # type: ignore[attr-defined]
