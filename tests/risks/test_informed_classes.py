"""Classes under ``missing: wildcard`` for an intruder who knows the original values, against a slow count."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import DataError
from discreet.risks.k_anonymity.measure import KAnonymity
from discreet.risks.l_diversity.measure import LDiversity
from discreet.risks.t_closeness.measure import TCloseness
from discreet.testing import table

SMALL = st.integers(0, 2)


def masked_copy(data: discreet.Microdata, blanks: list[tuple[bool, bool]]) -> discreet.Microdata:
    columns = {}
    for place, name in enumerate(("age", "town")):
        values = data.frame[name].to_list()
        columns[name] = [None if blanks[row][place] else value for row, value in enumerate(values)]
    frame = data.frame.with_columns(*(pl.Series(name, values, dtype=pl.Int64) for name, values in columns.items()))
    return data.replace(frame)


@given(st.lists(st.tuples(SMALL, SMALL, st.booleans(), st.booleans()), min_size=1, max_size=9))
@settings(max_examples=60)
def test_the_informed_class_holds_every_released_record_that_agrees_with_the_true_values(rows):
    data = table({"age": [row[0] for row in rows], "town": [row[1] for row in rows]}, key=["age", "town"])
    blanks = [(row[2], row[3]) for row in rows]
    masked = masked_copy(data, blanks)
    expected = [
        sum(
            (blank[0] or other[0] == row[0]) and (blank[1] or other[1] == row[1])
            for other, blank in zip(rows, blanks, strict=True)
        )
        for row in rows
    ]
    score = KAnonymity(missing="wildcard").measure(masked, original=data)
    assert score.per_record["class_size"].to_list() == expected
    assert score["k"] == min(expected)


def lonely_age() -> tuple[discreet.Microdata, discreet.Microdata]:
    """One person of 77 among thirteen of a town, whose age is blanked."""
    ages = [77] + [30] * 12
    data = table(
        {"town": ["Lund"] * 13, "age": ages, "disease": ["Flu", "Cold"] * 6 + ["Flu"]}, key=["town", "age"],
        confidential=["disease"],
    )  # fmt: skip
    return data, data.replace(data.frame.with_columns(age=pl.Series([None, *ages[1:]])))


def test_suppression_does_not_hide_a_record_from_an_attacker_who_knows_the_value():
    data, masked = lonely_age()
    measure = KAnonymity(missing="wildcard")
    assert measure.measure(masked)["k"] == 13
    assert measure.measure(masked, original=data)["k"] == 1


def test_without_wildcards_knowing_the_original_values_changes_nothing():
    data, masked = lonely_age()
    for measure in (KAnonymity(), LDiversity(), TCloseness()):
        assert measure.measure(masked, original=data).summary == measure.measure(masked).summary


@pytest.mark.parametrize("measure", [LDiversity(missing="wildcard"), TCloseness(missing="wildcard")])
def test_diversity_and_closeness_refuse_wildcards_beside_the_original(measure):
    data, masked = lonely_age()
    measure.measure(masked)
    with pytest.raises(DataError, match="knows the original values"):
        measure.measure(masked, original=data)


def test_the_verdict_on_k_is_that_of_the_informed_attacker():
    data, masked = lonely_age()
    policy = data.policy.with_(risk={"k_anonymity": {"missing": "wildcard"}}, limits={"k_anonymity.k": 5})
    assessment = discreet.assess(data.with_policy(policy), masked.with_policy(policy))
    verdict = assessment.verdicts[0]
    assert (verdict.status, verdict.found) == ("not met", 1)
