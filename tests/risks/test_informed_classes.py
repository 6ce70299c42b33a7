"""Classes under ``missing: wildcard`` for an intruder who knows the original values, against a slow count."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import DataError
from discreet.risks.k_anonymity.measure import KAnonymity
from discreet.risks.known_sets.measure import KnownSets
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


def test_an_attacker_rounds_what_he_knows_before_he_looks_for_it():
    """Of 95 in A, cut off at 90, the town is blank: those without an age live in B, so that nobody else fits."""
    ages, towns = [95, *[50] * 6, *[40] * 6], ["A"] * 7 + ["B"] * 6
    data = table({"age": ages, "town": towns}, key=["age", "town"])
    released = {"age": [90, *[50] * 6, None, None, *[40] * 4], "town": [None, *towns[1:]]}
    masked = data.replace(data.frame.with_columns(*(pl.Series(name, values) for name, values in released.items())))
    measure = KAnonymity(missing="wildcard")
    assert measure.measure(masked)["k"] == 3
    assert measure.measure(masked, original=data).per_record["class_size"].to_list() == [1, *[6] * 6, *[6] * 6]


@given(st.lists(st.tuples(st.integers(0, 39), SMALL, st.booleans(), st.booleans()), min_size=1, max_size=12))
@settings(max_examples=60)
def test_rounded_ages_are_asked_as_they_were_released(rows):
    data = table({"age": [row[0] for row in rows], "town": [row[1] for row in rows]}, key=["age", "town"])
    rounded = [None if row[2] else 10 * (row[0] // 10) for row in rows]
    towns = [None if row[3] else row[1] for row in rows]
    masked = data.replace(data.frame.with_columns(age=pl.Series(rounded, dtype=pl.Int64), town=pl.Series(towns, dtype=pl.Int64)))
    asked = [age if age is not None else row[0] for age, row in zip(rounded, rows, strict=True)]
    expected = [
        sum(age in (None, own) and town in (None, row[1]) for age, town in zip(rounded, towns, strict=True))
        for own, row in zip(asked, rows, strict=True)
    ]
    if not any(value is None for value in (*rounded, *towns)):
        return
    assert KAnonymity(missing="wildcard").measure(masked, original=data).per_record["class_size"].to_list() == expected


def test_known_sets_finds_a_record_whose_rounded_key_stands_beside_a_blank_one():
    """On the release alone a blank town fits everywhere, and the true age fits no released one: together they hid the record."""
    ages, towns = [95, *[50] * 6, *[40] * 6], ["A"] * 7 + ["B"] * 6
    data = table(
        {"age": ages, "town": towns, "ill": ["flu"] * 13},
        key=["age", "town"], confidential=["ill"], known={"age": 0.5, "town": 0.5}, sensitivity={"ill": 1.0},
    )  # fmt: skip
    released = {"age": [90, *[50] * 6, None, None, *[40] * 4], "town": [None, *towns[1:]]}
    masked = data.replace(data.frame.with_columns(*(pl.Series(name, values) for name, values in released.items())))
    measure = KnownSets(alpha=1, epsilon=0.0001, missing="wildcard")
    alone = measure.measure(masked).per_record["risk"][0]
    informed = measure.measure(masked, original=data).per_record["risk"][0]
    # age alone fits the 90 and two blanks, town alone its six neighbours and the blank one, both the record alone
    assert informed == pytest.approx(1 / 13 + 0.5 / 3 + 0.5 / 7 + 0.25 / 1)
    assert informed > alone
