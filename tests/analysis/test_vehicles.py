"""Vehicles are attributes that others can see; roads and weather describe an accident and nobody's home."""

import numpy as np
import polars as pl
import pytest

from discreet.analysis.analyzer import profile_table
from discreet.engine.recognition.column_names import look_up_name
from discreet.model.microdata import Microdata

DRAW = np.random.default_rng(12)
N = 500
PEOPLE = {"driver_sex": DRAW.choice(["F", "M"], N), "driver_age": DRAW.integers(17, 95, N)}


def propose(name, values):
    return profile_table(Microdata(pl.DataFrame({**PEOPLE, name: values})))[name]


@pytest.mark.parametrize("name", ["vehicle_make", "car_model", "vehicle type", "Automarke", "vehicle_brand", "vehicle_group"])
def test_the_make_of_a_vehicle_is_a_key_that_others_can_see(name):
    column = propose(name, DRAW.choice(["VW", "Skoda", "Toyota", "Lada"], N))
    assert (column.attribute.role, column.attribute.known, column.attribute.sensitivity) == ("key", 0.3, 0)
    assert "'vehicle'" in column.reason


@pytest.mark.parametrize("name", ["vehicle_year", "vehicle_age", "Baujahr"])
def test_the_year_of_a_vehicle_is_no_age_of_a_person_and_no_housing(name):
    assert "'vehicle'" in propose(name, DRAW.integers(1988, 2023, N)).reason


@pytest.mark.parametrize("name", ["has_car", "n_vehicles", "number of cars", "owns_car", "car_ownership"])
def test_how_many_vehicles_a_household_has_is_housing(name):
    assert look_up_name(name).kind.name == "housing"


@pytest.mark.parametrize("name", ["road", "road_type", "Strassenart", "type de route"])
def test_the_type_of_a_road_is_no_region(name):
    column = propose(name, DRAW.choice(["urban", "rural", "motorway", "private"], N))
    assert (column.attribute.role, column.attribute.sensitivity) == ("other", 0)
    assert "road or weather" in column.reason


@pytest.mark.parametrize("name", ["weather", "Wetter", "road_conditions"])
def test_the_weather_is_no_secret_of_a_person(name):
    assert propose(name, DRAW.choice(["dry", "rain", "snow"], N)).attribute.role == "other"


@pytest.mark.parametrize("name", ["area", "urban_rural", "v7"])
def test_urban_and_rural_elsewhere_are_regions(name):
    assert propose(name, DRAW.choice(["urban", "rural", "suburban"], N)).attribute.role == "key"


def test_names_of_roads_are_no_types_of_roads():
    column = propose("road", [f"{at} Hill Road" for at in range(N)])
    assert column.attribute.role == "identifier"


def test_a_table_of_cars_has_no_keys():
    cars = {
        "car": DRAW.choice(["mazda", "volvo", "fiat"], N),
        "mpg": DRAW.normal(20, 4, N),
        "cylinders": DRAW.choice([4, 6, 8], N),
    }
    assert profile_table(Microdata(pl.DataFrame(cars)))["car"].attribute.role == "other"
