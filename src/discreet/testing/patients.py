"""Hospital stays with several records a person: the data of Kartal & Li's problem."""

from __future__ import annotations

import numpy as np
import polars as pl

from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.testing.chances import Chances, falling, named, sprinkled
from discreet.testing.diagnoses import DIAGNOSES, MEDICATIONS, WEIGHTS_BY_AGE, medication_weights
from discreet.testing.directory import cities, digits, zips
from discreet.testing.draws import SampleDraw

RACES = ("Caucasian", "African American", "Hispanic", "Asian", "Other")
ADMISSIONS = ("emergency", "urgent", "elective")
STAYS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 30, 40)
PERSONS = (36, 21, 13, 9, 6, 4, 4, 3, 2, 1, 1, 0, 0)
"""Of about a hundred persons so many have 1, 2, 3, … stays: three and a third a person, and a few with forty."""
FIRST_YEAR = 2015


def patients(n: int, seed: int = 0) -> Microdata:
    """Stays of about n / 3.3 persons, whose birth year, sex, race and zip stay the same; the last person may be cut short.

    >>> data = patients(1000)
    >>> data.frame.group_by("patient").agg(people=pl.struct("birth_year", "sex", "race").n_unique())["people"].max()
    1
    """
    draw = SampleDraw(seed)
    person = _persons(draw, n)
    numbers, which = np.unique(person, return_inverse=True)
    people, stays = Chances(draw, numbers), Chances(draw, np.arange(n, dtype=np.int64))
    born = 1930 + people.amount("birth year", (0, 8, 14, 20, 26, 33, 42, 52, 64, 84))
    ill = people.pick_given("illness", WEIGHTS_BY_AGE, np.digitize(FIRST_YEAR - born, (18, 50)))
    year = FIRST_YEAR + stays.below("year", 8)
    diagnosis = stays.pick_given("diagnosis", WEIGHTS_BY_AGE, np.digitize(year - born[which], (18, 50)))
    # most stays of a person are for the same illness
    diagnosis = np.where(stays.happens("same illness", 650_000), ill[which], diagnosis)
    columns = [
        ("P" + digits(numbers[which], 7)).alias("patient"),
        pl.Series("birth_year", born[which]),
        named("sex", people.below("sex", 2)[which], ("female", "male")),
        named("race", people.pick("race", (74, 19, 3, 2, 2))[which], RACES),
        zips(people, cities(people)).gather(which),
        pl.Series("year", year),
        named("admission", stays.pick("admission", (53, 19, 28)), ADMISSIONS),
        pl.Series("days", 1 + stays.pick("days", (*falling(14, slowly=3), 0, 0, *falling(24, slowly=40)))),
        pl.Series("procedures", stays.pick("procedures", (46, 20, 13, 9, 6, 4, 2))),
        sprinkled(
            named("specialty", stays.pick("specialty", falling(len(SPECIALTIES))), SPECIALTIES),
            stays.happens("no specialty", 150_000),
        ),
        named("diagnosis", diagnosis, DIAGNOSES),
        named("medication", stays.pick_given("medication", medication_weights(), diagnosis), MEDICATIONS),
        pl.Series("charge", stays.amount("charge", (200, 1_400, 2_600, 4_200, 6_500, 10_000, 16_000, 28_000, 140_000))),
    ]
    return Microdata(pl.DataFrame(columns), patients_policy(), f"{n:,} generated stays")


SPECIALTIES = (
    "internal medicine",
    "emergency",
    "family practice",
    "cardiology",
    "surgery",
    "nephrology",
    "orthopedics",
    "psychiatry",
)


def _persons(draw: SampleDraw, n: int) -> np.ndarray:
    """Whose stay each record is, the stays of a person scattered over the table."""
    numbers = np.arange(1, n + 1, dtype=np.int64)
    often = np.array(STAYS)[Chances(draw, numbers).pick("stays", _per_mille())]
    person = np.repeat(numbers, often)[:n]
    return person[draw.order(np.arange(n, dtype=np.int64), "scatter")]


def _per_mille() -> list[int]:
    """The shares of persons by stays, of ten thousand, with the few who have thirty and forty."""
    return [100 * share for share in PERSONS[:-2]] + [6, 4]


def patients_policy() -> Policy:
    """The person is named, six attributes and more are keys, diagnosis, medication and charge are confidential."""
    return Policy.from_dict(
        {
            "attributes": {
                "patient": {"role": "person"},
                "birth_year": {"role": "key", "known": 0.4, "hierarchy": {"widths": [5, 10, 20], "origin": 1930}},
                "sex": {"role": "key", "known": 0.9},
                "race": {"role": "key", "known": 0.7},
                "zip": {"role": "key", "known": 0.5, "hierarchy": {"prefixes": [4, 3]}},
                "year": {"role": "key", "known": 0.2},
                "admission": {"role": "key", "known": 0.1, "level": "ordinal", "order": ["elective", "urgent", "emergency"]},
                "days": {"role": "key", "known": 0.1, "hierarchy": {"widths": [2, 8]}},
                "procedures": {"role": "other"},
                "specialty": {"role": "other"},
                "diagnosis": {"role": "confidential", "known": 0.001, "sensitivity": 1.0},
                "medication": {"role": "confidential", "known": 0.002, "sensitivity": 0.8},
                "charge": {"role": "confidential", "known": 0.001, "sensitivity": 0.3},
            }
        },
        origin="the patients' policy",
    )
