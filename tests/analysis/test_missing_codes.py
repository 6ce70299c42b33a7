"""Numbers that stand for a missing value: proposed as missing beyond doubt only, named with what to write elsewhere."""

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.analysis.analyzer import profile_table
from discreet.analysis.missing_codes import find_missing_codes
from discreet.engine.recognition.value_facts import facts_of
from discreet.model.attribute import Level
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

DRAW = np.random.default_rng(2)
N = 1_000
AGES = DRAW.integers(16, 98, N)


def beside(code, values, records=20):
    """These values, some of which are the code."""
    return np.where(np.arange(N) % (N // records) == 0, code, values)


def propose(policy=None, **columns):
    return profile_table(Microdata(pl.DataFrame({"sex": DRAW.choice(["f", "m"], N), **columns}), Policy.from_dict(policy or {})))


@pytest.mark.parametrize("code", [-1, -9, -99])
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("driver_age", AGES),
        ("number_of_visits", DRAW.poisson(2, N)),
        ("vehicle_year", DRAW.integers(1988, 2023, N)),
        ("Monatslohn", DRAW.integers(2_000, 9_000, N)),
    ],
)
def test_a_negative_number_among_those_that_never_are_is_proposed_as_missing(name, values, code):
    column = propose(**{name: beside(code, values)})[name]
    assert column.attribute.missing == (str(code),)
    assert column.minimum >= 0
    assert f"{code} (20 records) lies outside all other values" in column.reason


@pytest.mark.parametrize(
    ("name", "code", "values"),
    [
        ("age", 999, AGES),
        ("q1", 99, DRAW.integers(1, 6, N)),
        ("q1", 99.0, DRAW.integers(1, 6, N) + 0.0),
        ("q1", -9, DRAW.integers(1, 6, N)),
        ("height", 9999, DRAW.integers(150, 200, N)),
        ("points", -1, DRAW.integers(0, 60, N)),
        ("year", 8888, DRAW.integers(1960, 2000, N)),
    ],
)
def test_other_codes_are_named_with_what_to_write(name, code, values):
    proposal = propose(**{name: beside(code, values)})
    column = proposal[name]
    assert column.attribute.missing == ()
    assert f"{code:g} (20 records) lies outside all other values" in column.reason
    assert f"write missing: ['{code:g}']" in column.reason
    assert any(f"{code:g} outside all other values in {name} (20 records)" in note for note in proposal.value_notes)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("age", beside(99, AGES)),
        ("age", np.where(np.arange(N) == 7, 999, AGES)),
        ("change_in_years", DRAW.integers(-1, 12, N)),
        ("agreement", DRAW.integers(-1, 4, N)),
        ("balance", DRAW.integers(-99, 900, N)),
        ("wage", beside(9_999, DRAW.integers(1_000, 9_900, N))),
        ("code", DRAW.choice([77, 88, 99], N)),
        ("temperature", np.round(DRAW.normal(5, 6, N), 1)),
    ],
)
def test_other_numbers_are_no_codes(name, values):
    column = propose(**{name: values})[name]
    assert column.attribute.missing == ()
    assert column.missing_codes == {}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_proposed_policy_reads_codes_as_missing_values(tmp_path, ending):
    frame = pl.DataFrame(
        {"driver_age": beside(-1, AGES), "wage": beside(-9.0, DRAW.integers(900, 9_000, N) / 4), "sex": ["f", "m"] * 500}
    )
    path = tmp_path / f"claims.{ending}"
    frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
    profile = discreet.analyze(discreet.read(path))
    assert profile["driver_age"].attribute.level is Level.NUMERIC
    read = discreet.read(path, profile.policy).frame
    assert read["driver_age"].null_count() == read["wage"].null_count() == 20
    assert read["driver_age"].min() >= 16
    assert not discreet.analyze(discreet.read(path, profile.policy)).value_notes


def test_what_the_policy_decides_on_a_code_stays():
    ages = beside(-1, AGES)
    column = propose({"attributes": {"age": {"missing": []}}}, age=ages)["age"]
    assert column.attribute.missing == ()
    assert column.minimum == -1
    assert "reads like a code" not in column.reason


def test_codes_of_a_scale_are_found_although_each_answer_is_more_frequent():
    codes = find_missing_codes(facts_of(Microdata(pl.DataFrame({"q": beside(99, DRAW.integers(1, 6, N), records=5)})))[0])
    assert codes is not None
    assert codes.records == {"99": 5}
