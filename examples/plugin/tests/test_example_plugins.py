"""The example keeps the contract, is found by its names, and does what it says."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pytest
from discreet_example.changed_values import ChangedValues
from discreet_example.date_shift import DateShift
from discreet_example.rare_values import RareValues

import discreet
from discreet import registry
from discreet.testing import check_loss, check_masking, check_risk, hospital, table


def test_the_kit_is_content() -> None:
    check_risk(RareValues)
    check_masking(DateShift)
    check_loss(ChangedValues)


def test_the_names_come_through_the_entry_points() -> None:
    assert registry.load("risk", "rare_values") is RareValues
    assert registry.load("masking", "date_shift") is DateShift
    assert registry.load("loss", "changed_values") is ChangedValues


def test_the_verbs_take_them_by_name() -> None:
    data = hospital(200)
    release = discreet.mask(data, {"seed": 3, "steps": [{"method": "remove_identifiers"}, {"method": "date_shift", "days": 5}]})
    assert discreet.loss(data, release, "changed_values")["changed_values"]["loss"] > 0
    assert discreet.risk(release, {"rare_values": {"least": 3}})["rare_values"]["rare"] > 0


def test_rare_values_are_counted_key_by_key() -> None:
    data = table({"a": [1, 1, 2, 2], "b": ["x", "x", "x", None]}, key=["a", "b"])
    score = RareValues(least=2).measure(data)
    assert score.per_record is not None
    assert score.per_record["count"].to_list() == [2, 2, 2, 1]
    assert score["rare"] == 1


def test_dates_move_by_every_number_of_days_alike() -> None:
    start = date(2024, 1, 1)
    data = table({"seen": [start] * 6000}, key=["seen"])
    moved = discreet.mask(data, {"steps": [{"method": "date_shift", "days": 2}]}).masked.frame["seen"]
    days = [(day - start) // timedelta(days=1) for day in moved.to_list()]
    shares = np.bincount(np.array(days) + 2, minlength=5) / len(days)
    assert shares == pytest.approx([0.2] * 5, abs=0.03)


def test_bad_parameters_are_told_in_a_sentence() -> None:
    with pytest.raises(discreet.DiscreetError, match=r"date_shift\.days.*greater than or equal to 1; got 0"):
        registry.create("masking", "date_shift", {"days": 0})
