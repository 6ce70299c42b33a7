"""Household numbers, in the ways that people write them, are no quantities; counts of members are."""

import numpy as np
import polars as pl
import pytest

from discreet.analysis.analyzer import profile_table
from discreet.model.microdata import Microdata

DRAW = np.random.default_rng(6)
N = 900
HOUSEHOLDS = np.sort(DRAW.integers(1, 380, N))


def propose(name, values):
    people = {"Geschlecht": DRAW.choice(["m", "w"], N), "Alter": DRAW.integers(18, 80, N), "Kanton": DRAW.choice(list("ABCD"), N)}
    return profile_table(Microdata(pl.DataFrame({**people, name: values})))[name].attribute


@pytest.mark.parametrize(
    "name",
    ["N° ménage", "Nº hogar", "Nr. Haushalt", "No hogar", "HH-Nr", "HH Nr.", "household no", "id_menage", "Haushaltsnr",
     "Haushalt-Nr.", "HaushaltID", "numéro de ménage", "id_del_hogar", "num_menage", "household_num", "id_famiglia", "familia_id",
     "huishoudnummer", "hushållsnr", "HH#", "HOUSEHOLD_KEY", "household", "Haushalt", "menage", "hogar"],
)  # fmt: skip
def test_a_number_that_a_few_records_share_is_a_household(name):
    assert propose(name, HOUSEHOLDS).role == "household"


@pytest.mark.parametrize(
    "name",
    ["Kinder", "household size", "Haushaltsgröße", "household", "taille du ménage", "n_household", "number of households",
     "number of persons in household", "No. of household members", "HH size", "menage"],
)  # fmt: skip
def test_a_number_of_members_is_no_household(name):
    assert propose(name, DRAW.integers(1, 7, N)).role != "household"


def test_an_income_of_the_household_is_confidential():
    assert propose("household income", DRAW.integers(20_000, 20_400, N)).role == "confidential"


def test_a_size_is_no_household_number_where_many_values_occur():
    assert propose("household size", HOUSEHOLDS).role == "key"
