"""Sampling weights and body weights have the same names: their values decide, then what stands beside them."""

import numpy as np
import polars as pl
import pytest

from discreet.analysis.analyzer import profile_table
from discreet.model.microdata import Microdata

DRAW = np.random.default_rng(4)
N = 500
RELATIVE = np.round(DRAW.gamma(6, 0.25, N), 4)
NAMES = ("weight", "Gewicht", "poids", "peso", "wt", "vikt", "paino")


def propose(name, values, **columns):
    frame = {"sex": DRAW.choice(["f", "m"], N), "age": DRAW.integers(18, 80, N), name: values, **columns}
    return profile_table(Microdata(pl.DataFrame(frame)))[name]


BESIDE = {
    "Krankheitstage": DRAW.poisson(5, N),
    "diagnosis": DRAW.choice(["I10", "J45", "F32", "E11", "K35"], N),
    "height": DRAW.normal(170, 9, N).round(),
    "cholesterol": DRAW.normal(200, 30, N).round(),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("beside", BESIDE)
def test_fractions_around_1_are_sampling_weights_whatever_stands_beside_them(name, beside):
    column = propose(name, RELATIVE, **{beside: BESIDE[beside]})
    assert column.attribute.role == "weight"
    assert "fractions from" in column.reason
    assert "divided by their mean" in column.reason


def test_small_numbers_with_more_decimals_than_a_scale_shows_are_sampling_weights():
    assert propose("weight", RELATIVE * 4.123457, diagnosis=BESIDE["diagnosis"]).attribute.role == "weight"


@pytest.mark.parametrize("name", NAMES)
def test_weights_of_adults_among_bodily_attributes_are_body_weights(name):
    column = propose(name, np.round(DRAW.normal(75, 12, N), 1), height=BESIDE["height"])
    assert column.attribute.role == "key"
    assert "among bodily attributes (looks); " in column.reason


def test_weights_of_newborns_in_kilograms_are_body_weights():
    born = np.round(DRAW.normal(3.3, 0.5, N), 2)
    assert propose("weight", born, gestation=DRAW.integers(34, 42, N)).attribute.role == "key"


def test_days_of_sick_leave_are_no_bodily_attribute():
    expanding = DRAW.integers(50, 600, N)
    assert propose("Gewicht", expanding, Krankheitstage=BESIDE["Krankheitstage"]).attribute.role == "weight"


def test_days_of_sick_leave_are_as_sensitive_as_before_and_numbers():
    column = propose("Krankheitstage", BESIDE["Krankheitstage"])
    assert (column.attribute.role, column.attribute.sensitivity, column.attribute.level) == ("confidential", 1, "numeric")


@pytest.mark.parametrize("name", ["Stichprobengewicht", "Haushaltsgewicht", "peso muestral", "poids de sondage"])
def test_a_weight_that_is_named_as_one_of_a_survey_is_one_beside_bodily_attributes(name):
    assert propose(name, DRAW.integers(50, 600, N), height=BESIDE["height"]).attribute.role == "weight"
