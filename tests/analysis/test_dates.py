"""Columns of dates: those of events are quasi-identifiers that people around a person know, those of record keeping are not."""

from datetime import date, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from discreet.analysis.analyzer import profile_table
from discreet.engine.recognition.column_names import look_up_name
from discreet.model.attribute import Level
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

DRAW = np.random.default_rng(5)
N = 600
DAYS = [date(2022, 1, 1) + timedelta(days=int(day)) for day in DRAW.integers(0, 365, N)]


def propose(policy=None, labels=None, **columns):
    people = {"sex": DRAW.choice(["f", "m"], N), "zip": DRAW.integers(10_000, 10_020, N), "age": DRAW.integers(18, 90, N)}
    data = Microdata(pl.DataFrame(people | columns), variable_labels=labels or {})
    return profile_table(data.with_policy(Policy.from_dict(policy)) if policy else data)


def moments(days, most_hours=20):
    hours = DRAW.integers(0, most_hours, len(days))
    return [datetime(day.year, day.month, day.day) + timedelta(hours=int(hour)) for day, hour in zip(days, hours, strict=True)]


@pytest.mark.parametrize(
    "name",
    ["admission_date", "discharge", "Entlassungsdatum", "date_of_accident", "Unfalldatum", "date_of_hearing", "hearing",
     "hire_date", "surgery_date", "vaccination_date", "date_of_diagnosis", "sentence_date", "admit_time", "invoice_date",
     "wedding", "date", "last_login", "passport_issued"],
)  # fmt: skip
def test_the_date_of_an_event_is_a_key_that_is_known_more_often_than_what_hardly_anybody_knows(name):
    proposal = propose(**{name: DAYS})[name]
    assert (proposal.attribute.role, proposal.attribute.known) == ("key", 0.2)
    assert "neighbours, colleagues, registers or newspapers may know" in proposal.reason
    assert proposal.attribute.hierarchy is not None


def test_a_date_keeps_the_sensitivity_of_what_happened():
    proposal = propose(date_of_diagnosis=DAYS, admission_date=DAYS)
    assert proposal["date_of_diagnosis"].attribute.sensitivity == 1
    assert proposal["admission_date"].attribute.sensitivity == 0.1
    assert "'disease' ('diagnosis'), and its values are dates" in proposal["date_of_diagnosis"].reason


def test_a_date_of_birth_is_known_as_before_and_a_former_date_less_often():
    proposal = propose(birth_date=DAYS, previous_admission_date=DAYS[::-1])
    assert (proposal["birth_date"].attribute.role, proposal["birth_date"].attribute.known) == ("key", 0.3)
    assert proposal["previous_admission_date"].attribute.known == 0.05


def test_the_reason_says_how_many_records_a_date_singles_out_with_the_other_keys():
    names = ["a", "a", "b", "b"] * 5
    days = [date(2022, 1, 1 + place) for place in range(20)]
    frame = {"sex": ["f", "m"] * 10, "region": names, "admission_date": [days[0]] * 10 + days[:10], "last_visit_date": days}
    proposal = profile_table(Microdata(pl.DataFrame(frame)))
    assert (
        "with the keys that are no dates it singles out 100.0% of the records (0.0% without it)"
        in proposal["last_visit_date"].reason
    )
    # ten records share a day; of the other ten the first falls on that day too
    assert "it singles out 45.0% of the records (0.0% without it)" in proposal["admission_date"].reason
    alone = profile_table(Microdata(pl.DataFrame({"admission_date": days, "x": names})))
    assert "alone it singles out 100.0% of the records" in alone["admission_date"].reason


def test_dates_in_text_are_events_too_where_day_and_month_cannot_be_told_apart():
    written = [f"{1 + place % 12:02d}/{1 + place // 12 % 12:02d}/2022" for place in range(N)]
    proposal = propose(operation=written)["operation"]
    assert proposal.attribute.level is Level.NOMINAL
    assert (proposal.attribute.role, proposal.attribute.known) == ("key", 0.2)


@pytest.mark.parametrize(
    "name",
    ["created_at", "updatedAt", "last_modified", "export_date", "Exportdatum", "load_date", "ImportTimestamp", "date_uploaded",
     "data_entry_date", "Eingabedatum", "geändert_am", "record_created", "batch_date", "UPDATED_ON"],
)  # fmt: skip
def test_a_date_on_which_a_record_was_written_is_no_key(name):
    proposal = propose(**{name: moments(DAYS)})[name]
    assert proposal.attribute.role == "other"
    assert "when the record was written or transferred" in proposal.reason
    assert "leave it out of the release" in proposal.reason


@pytest.mark.parametrize("name", ["account_created", "address_changed_on", "loan_date", "date", "first_entry_date"])
def test_a_date_on_which_something_about_the_person_was_written_is_a_key(name):
    assert propose(**{name: DAYS})[name].attribute.role == "key"


def test_the_label_decides_what_was_written():
    assert propose(v7=DAYS, labels={"v7": "Date the record was last updated"})["v7"].attribute.role == "other"
    assert propose(created=DAYS, labels={"created": "Date of first marriage"})["created"].attribute.role == "key"


def test_a_date_of_writing_that_follows_an_event_is_a_key_because_it_gives_the_date_of_the_event_back():
    others = DAYS[300:] + DAYS[:300]
    proposal = propose(admission_date=DAYS, created_at=moments(DAYS), updated_at=moments(others))
    assert proposal["created_at"].attribute.role == "key"
    assert "at most a day from 'admission_date'" in proposal["created_at"].reason
    assert proposal["updated_at"].attribute.role == "other"
    texts = propose(admission_date=[str(day) for day in DAYS], created_at=[str(moment) for moment in moments(DAYS)])
    assert texts["created_at"].attribute.role == "key"


def test_a_duration_is_no_date():
    assert propose(v1=[timedelta(days=int(days)) for days in DRAW.integers(1, 60, N)])["v1"].attribute.role == "confidential"


def test_what_the_policy_sets_for_a_date_stays():
    given = {"attributes": {"admission_date": {"role": "other"}, "surgery_date": {"known": 0.01}}}
    proposal = propose(given, admission_date=DAYS, surgery_date=DAYS)
    assert proposal["admission_date"].attribute.role == "other"
    assert "singles out" not in proposal["admission_date"].reason
    assert (proposal["surgery_date"].attribute.role, proposal["surgery_date"].attribute.known) == ("key", 0.01)


def test_an_export_is_no_place():
    assert look_up_name("export_date").kind is None
