"""Individual and household risk against the expected value that defines them, and against counting by hand."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.engine.population.benedetti_franconi import household_risk, individual_risk
from discreet.errors import DataError
from discreet.risks.individual_risk.measure import IndividualRisk
from discreet.testing import table

ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, 1, 2]),
        st.sampled_from([None, "x", "y"]),
        st.sampled_from([1.0, 1.5, 3.0, 100.0]),
        st.sampled_from([None, 7, 8, 9]),
    ),
    min_size=1,
    max_size=14,
)


def _expected_inverse(f: int, p: float) -> float:
    """E(1/F) for a negative binomial F >= f with f successes of probability p, summed until nothing changes."""
    total, size = 0.0, f
    log_term = f * math.log(p)
    while size < 2 * f / p + 60 * f / p:
        total += math.exp(log_term) / size
        log_term += math.log(size / (size + 1 - f)) + math.log1p(-p) if p < 1 else -math.inf
        size += 1
        if log_term < -60 and size > f / p:
            break
    return total


@pytest.mark.parametrize("p", [1.0, 0.999999, 0.995, 0.98, 0.6, 0.5, 0.4999, 0.2, 0.01, 0.002])
@pytest.mark.parametrize("f", [1, 2, 3, 4, 7, 20, 63, 64, 200])
def test_every_class_has_the_expected_inverse_of_its_population_class(f: int, p: float) -> None:
    risk = individual_risk(np.array([float(f)]), np.array([f / p]))[0]
    assert risk == pytest.approx(_expected_inverse(f, p), rel=1e-9)


@settings(max_examples=150, deadline=None)
@given(st.floats(1.0, 90.0), st.floats(1e-9, 1.0))
def test_records_counted_in_part_have_the_hypergeometric_function_that_defines_the_risk(f: float, p: float) -> None:
    """E(1/F) = p^f / f 2F1(f, f; f + 1; 1 - p), with 50 digits."""
    risk = individual_risk(np.array([f]), np.array([f / p]))[0]
    with mpmath.workdps(50):
        size, chance = mpmath.mpf(f), mpmath.mpf(f) / mpmath.mpf(f / p)
        expected = chance**size / size * mpmath.hyp2f1(size, size, size + 1, 1 - chance)
    assert risk == pytest.approx(float(expected), rel=1e-8)


@pytest.mark.parametrize(("f", "p"), [(3, 0.5), (3, 0.01), (10, 0.2), (100, 0.9), (7, 1.0)])
def test_larger_classes_can_have_the_approximation_of_sdcmicro(f: int, p: float) -> None:
    risk = individual_risk(np.array([float(f)]), np.array([f / p]), approximate=True)[0]
    assert risk == pytest.approx(p / (f - (1 - p)), rel=1e-12)
    exact = individual_risk(np.array([float(f)]), np.array([f / p]))[0]
    assert exact <= risk * (1 + 1e-12)
    assert exact == pytest.approx(risk, rel=0.04)
    data = table({"a": [1] * f, "w": [1 / p] * f}, key=["a"], weight=["w"])
    assert IndividualRisk(larger_classes="approximate").measure(data)["max"] == pytest.approx(risk)
    assert IndividualRisk().measure(data)["max"] == pytest.approx(exact)


@settings(max_examples=200)
@given(st.integers(1, 10**6), st.floats(1.0, 1e12))
def test_the_risk_is_a_probability_for_any_class_and_weight(size: int, mean_weight: float) -> None:
    risk = individual_risk(np.array([float(size)]), np.array([size * mean_weight]))[0]
    assert 0 < risk <= 1 / size + 1e-15
    heavier = individual_risk(np.array([float(size)]), np.array([size * mean_weight * 1.01]))[0]
    assert heavier <= risk * (1 + 1e-12)


def _agree(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return all(x == y or x is None or y is None for x, y in zip(one, other, strict=True))


@settings(max_examples=150)
@given(ROWS, st.sampled_from(["category", "wildcard", {"partial": 0.25}, {"partial": 0.0}]))
def test_classes_weights_and_households_are_counted_by_definition(rows: list[tuple[Any, ...]], missing: Any) -> None:
    columns = {name: [row[at] for row in rows] for at, name in enumerate("abwh")}
    data = table(columns, key=["a", "b"], weight=["w"], household=["h"])
    score = IndividualRisk(missing=missing).measure(data)
    share = {"category": 0.0, "wildcard": 1.0}.get(missing) if isinstance(missing, str) else missing["partial"]
    risks = []
    for row in rows:
        same = [other for other in rows if other[:2] == row[:2]]
        similar = [other for other in rows if other[:2] != row[:2] and _agree(other[:2], row[:2])]
        f = len(same) + share * len(similar)
        population = sum(other[2] for other in same) + share * sum(other[2] for other in similar)
        risks.append(individual_risk(np.array([float(f)]), np.array([population]))[0])
    assert score.per_record["risk"].to_list() == pytest.approx(risks, rel=1e-9)
    together = [
        1
        - math.prod(
            1 - risk
            for risk, other in zip(risks, rows, strict=True)
            if other is row or (row[3] is not None and other[3] == row[3])
        )
        for row in rows
    ]
    assert score.per_record["household_risk"].to_list() == pytest.approx(together, abs=1e-12)
    assert score["expected"] == pytest.approx(sum(risks))
    assert score["max"] == pytest.approx(max(risks))
    assert score["high_risk"] == sum(risk > 0.2 for risk in risks)
    assert score["household_expected"] == pytest.approx(sum(together))


def test_a_certain_re_identification_makes_the_household_certain() -> None:
    assert household_risk(np.array([1.0, 0.1, 0.2]), np.array([0, 0, 1]), 2).tolist() == pytest.approx([1.0, 1.0, 0.2])


def test_records_of_a_class_with_many_patterns_of_nulls_are_weighted_alike() -> None:
    """The same sums by comparing with posting lists, which takes over where nulls stand in many patterns."""
    random = np.random.default_rng(5)
    columns: dict[str, Any] = {
        f"k{at}": [None if random.random() < 0.3 else int(random.integers(3)) for _ in range(60)] for at in range(7)
    }
    weights = [1.0 + round(float(one), 2) for one in random.random(60) * 9]
    data = table({**columns, "w": weights}, key=list(columns), weight=["w"])
    score = IndividualRisk(missing="wildcard").measure(data)
    rows = list(zip(*columns.values(), strict=True))
    expected = [sum(weight for other, weight in zip(rows, weights, strict=True) if _agree(row, other)) for row in rows]
    assert score.per_record["population_size"].to_list() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            [0.5, 2.0],
            r"must be numbers of at least 1, because 1/weight is a probability; 1 of 2 are not, the first in row 1: 0.5",
        ),
        ([2.0, None], "the first in row 2: None"),
        ([2.0, math.inf], "the first in row 2: inf"),
        (["2", "3"], "the column holds String values"),
    ],
)
def test_values_that_are_no_sampling_weights_are_refused_by_name_and_row(weights: list[Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        IndividualRisk().measure(table({"a": [1, 2], "w": weights}, key=["a"], weight=["w"]))


def test_a_sample_without_weights_is_an_error_that_says_what_to_give() -> None:
    data = table({"a": [1, 2]}, key=["a"])
    with pytest.raises(
        DataError, match="give an attribute the role weight, the policy a section sampling, or the measure its sampling_fraction"
    ):
        IndividualRisk().measure(data)
    assert IndividualRisk(sampling_fraction=0.1).measure(data)["max"] == pytest.approx(math.log(10) / 9)
    with pytest.raises(DataError, match="role key"):
        IndividualRisk(sampling_fraction=0.1).measure(table({"a": [1]}))


def test_a_release_with_suppressed_keys_is_not_judged_on_wildcards_alone() -> None:
    """Whoever knows the original values is not misled by a null that agrees with every neighbour."""
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "w": [5.0, 5.0, 5.0, 5.0]})
    policy = {
        "attributes": {"a": {"role": "key", "known": 0.5}, "w": {"role": "weight"}},
        "risk": {"individual_risk": {"missing": "wildcard"}},
        "limits": {"individual_risk.max": 0.5},
    }
    data = discreet.read(frame, policy)
    released = data.with_columns({"a": pl.Series([1, 1, None, None], dtype=pl.Int64)})
    assessment = discreet.assess(data, released)
    assert assessment.status == "incomplete"


def test_the_example_of_eight_records_has_the_published_risks() -> None:
    """The example ``francdat`` of sdcMicro, as printed in its introduction to disclosure control (Templ, Meindl & Kowarik)."""
    columns = {
        "Age": [1, 1, 1, 3, 4, 4, 6, 1], "Location": [2, 2, 2, 3, 3, 3, 2, 2], "Sex": [2, 1, 1, 1, 1, 1, 1, 2],
        "Education": [1, 1, 1, 5, 4, 1, 5, 1], "w": [18.0, 45.5, 39.0, 17.0, 541.0, 8.0, 5.0, 92.0],
        "household": [1, 2, 2, 3, 3, 4, 5, 1],
    }  # fmt: skip
    data = table(columns, key=["Age", "Location", "Sex", "Education"], weight=["w"], household=["household"])
    found = IndividualRisk().measure(data).per_record
    assert found["class_size"].to_list() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert found["population_size"].to_list() == [110.0, 84.5, 84.5, 17.0, 541.0, 8.0, 5.0, 110.0]
    risks = [0.017, 0.022, 0.022, 0.177, 0.012, 0.297, 0.402, 0.017]
    assert found["risk"].round(3).to_list() == risks
    # the formula of household risk, 1 - prod(1 - r), on the printed risks; they have three digits
    together = [1 - (1 - 0.017) ** 2, 1 - (1 - 0.022) ** 2, 1 - (1 - 0.177) * (1 - 0.012), 0.297, 0.402]
    expected = [together[number - 1] for number in columns["household"]]
    assert found["household_risk"].to_list() == pytest.approx(expected, abs=1.5e-3)
