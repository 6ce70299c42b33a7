"""Numbers that are the time between two columns of dates are keys like these dates, whatever they are called."""

from datetime import date, datetime, timedelta

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.analysis.analyzer import profile_table
from discreet.model.attribute import Level
from discreet.model.microdata import Microdata

DRAW = np.random.default_rng(8)
N = 400
BORN = [date(1930, 1, 1) + timedelta(days=int(days)) for days in DRAW.integers(0, 25_000, N)]
ADMITTED = [date(2021, 1, 1) + timedelta(days=int(days)) for days in DRAW.integers(0, 900, N)]
STAYED = [int(days) for days in DRAW.geometric(0.15, N) - 1]
LEFT = [day + timedelta(days=days) for day, days in zip(ADMITTED, STAYED, strict=True)]


def propose(**columns):
    frame = {"sex": DRAW.choice(["f", "m"], N), "zip": DRAW.integers(10_000, 10_020, N), **columns}
    return profile_table(Microdata(pl.DataFrame(frame)))


def completed_years(first, last):
    return last.year - first.year - ((last.month, last.day) < (first.month, first.day))


@pytest.mark.parametrize("name", ["Verweildauer (Tage)", "v17", "length_of_stay", "los"])
def test_a_length_of_stay_is_a_key_like_the_two_dates_that_give_it(name):
    stay = propose(admission=ADMITTED, discharge=LEFT, **{name: STAYED})[name]
    assert stay.derived_from == ("admission", "discharge")
    assert "the days from 'admission' to 'discharge', which are keys: whoever knows both dates knows it" in stay.reason
    assert (stay.attribute.role, stay.attribute.known, stay.attribute.level) == ("key", 0.2, Level.NUMERIC)


def test_a_time_that_is_sensitive_by_its_name_stays_as_sensitive():
    proposal = propose(admission_date=ADMITTED, discharge_date=LEFT, v17=STAYED, length_of_stay=STAYED)
    assert (proposal["v17"].attribute.sensitivity, proposal["length_of_stay"].attribute.sensitivity) == (0.1, 0.5)
    assert "alone it would be confidential: treatment" in proposal["length_of_stay"].reason


@pytest.mark.parametrize(
    ("unit", "numbers"),
    [
        ("days", STAYED),
        ("days, both included,", [days + 1 for days in STAYED]),
        ("completed weeks", [days // 7 for days in STAYED]),
    ],
)
def test_days_may_include_the_first_one_and_may_be_weeks(unit, numbers):
    assert f"the {unit} from 'admission' to 'discharge'" in propose(admission=ADMITTED, discharge=LEFT, v17=numbers)["v17"].reason


@pytest.mark.parametrize(
    ("unit", "measure"),
    [
        ("completed years", completed_years),
        ("calendar years", lambda first, last: last.year - first.year),
        ("calendar months", lambda first, last: 12 * (last.year - first.year) + last.month - first.month),
        (
            "completed months",
            lambda first, last: 12 * (last.year - first.year) + last.month - first.month - (last.day < first.day),
        ),
        ("years", lambda first, last: round((last - first).days / 365.25, 1)),
    ],
)
def test_an_age_at_a_date_is_found_in_years_and_months(unit, measure):
    age = [measure(first, last) for first, last in zip(BORN, ADMITTED, strict=True)]
    assert f"the {unit} from 'birth_date' to 'admission'" in propose(birth_date=BORN, admission=ADMITTED, v17=age)["v17"].reason


def test_an_age_keeps_its_kind_and_says_what_it_is_computed_from():
    age = [completed_years(first, last) for first, last in zip(BORN, ADMITTED, strict=True)]
    column = propose(birth_date=BORN, admission=ADMITTED, age=age, band=[years // 10 for years in age])["age"]
    assert (column.attribute.role, column.attribute.known) == ("key", 0.3)
    assert column.derived_from == ("birth_date", "admission")


def test_hours_between_two_points_in_time_are_found():
    begun = [datetime(2022, 1, 1) + timedelta(minutes=int(minutes)) for minutes in DRAW.integers(0, 500_000, N)]
    minutes = DRAW.integers(10, 600, N)
    ended = [moment + timedelta(minutes=int(passed)) for moment, passed in zip(begun, minutes, strict=True)]
    proposal = propose(start=begun, end=ended, v16=np.round(minutes / 60, 1), v17=minutes)
    assert "the hours from 'start' to 'end'" in proposal["v16"].reason
    assert "the completed minutes from 'start' to 'end'" in proposal["v17"].reason


def test_days_are_those_of_the_time_zone():
    zone = "Europe/Vienna"
    begun = pl.Series([datetime(2022, 5, 1, 0, 30) + timedelta(days=at % 90) for at in range(N)]).dt.replace_time_zone(zone)
    ended = pl.Series([datetime(2022, 5, 1, 23, 30) + timedelta(days=at % 90 + at % 7) for at in range(N)]).dt.replace_time_zone(
        zone
    )
    proposal = propose(start=begun, end=ended, v17=[at % 7 for at in range(N)])
    assert "the days from 'start' to 'end', which" in proposal["v17"].reason


def test_blanks_and_a_few_wrong_numbers_hide_no_difference(tmp_path):
    written = [f"{day:%d.%m.%Y}" if place % 20 else "" for place, day in enumerate(LEFT)]
    numbers = [-1 if place in (7, 121) else days for place, days in enumerate(STAYED)]
    path = tmp_path / "stays.csv"
    pl.DataFrame({"Aufnahme": [f"{day:%d.%m.%Y}" for day in ADMITTED], "Entlassung": written, "Dauer": numbers}).write_csv(path)
    stay = discreet.analyze(discreet.read(path))["Dauer"]
    assert stay.attribute.role == "key"
    assert "the days from 'Aufnahme' to 'Entlassung' in 99.4% of the records" in stay.reason


def test_a_time_until_an_event_that_few_records_have_is_found():
    happened = [day if place % 9 == 0 else None for place, day in enumerate(LEFT)]
    passed = [days if place % 9 == 0 else None for place, days in enumerate(STAYED)]
    assert propose(admission=ADMITTED, surgery=happened, v17=passed)["v17"].derived_from == ("admission", "surgery")


@pytest.mark.parametrize(
    "numbers",
    [
        DRAW.permutation(STAYED).tolist(),
        [days + int(more) for days, more in zip(STAYED, DRAW.integers(0, 2, N), strict=True)],
        [0] * 385 + [1, 2, 3, 4, 5] * 3,
    ],
)
def test_other_numbers_beside_dates_are_no_differences(numbers):
    assert propose(admission=ADMITTED, discharge=LEFT, v17=numbers)["v17"].derived_from == ()


def test_zeros_beside_equal_dates_prove_nothing():
    almost = [day if place % 50 else day + timedelta(days=place) for place, day in enumerate(ADMITTED)]
    numbers = [0 if place % 50 else 3 + place % 7 for place in range(N)]
    assert propose(admission=ADMITTED, seen=almost, v17=numbers)["v17"].derived_from == ()


def test_what_is_computed_from_a_difference_takes_over_its_role():
    proposal = propose(admission=ADMITTED, discharge=LEFT, v17=STAYED, v18=[days**2 for days in STAYED])
    assert proposal["v18"].derived_from == ("v17",)
    assert proposal["v18"].attribute.role == "key"


def test_the_difference_of_a_key_and_a_date_of_writing_is_no_key():
    writing = [day + timedelta(days=int(days)) for day, days in zip(ADMITTED, DRAW.integers(0, 300, N), strict=True)]
    passed = [(last - first).days for first, last in zip(ADMITTED, writing, strict=True)]
    column = propose(admission=ADMITTED, exported_on=writing, v17=passed)["v17"]
    assert column.derived_from == ("admission", "exported_on")
    assert "whoever knows both dates" not in column.reason
