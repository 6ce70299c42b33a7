"""Hospital stays with several records per person: the problem of Kartal & Li (2016)."""

from __future__ import annotations

import numpy as np
import polars as pl

from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.testing.diagnoses import DIAGNOSES, MEDICATIONS, WEIGHTS_BY_AGE, medication_weights
from discreet.testing.directory import cities, zero_padded, zips
from discreet.testing.draws import SampleDraw
from discreet.testing.sampler import Sampler, decode, with_missing, zipf_weights

RACES = ("Caucasian", "African American", "Hispanic", "Asian", "Other")
ADMISSIONS = ("emergency", "urgent", "elective")
STAY_COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 30, 40)
PERSONS_BY_STAY_COUNT = (36, 21, 13, 9, 6, 4, 4, 3, 2, 1, 1, 0, 0)
"""Of about a hundred persons, how many have each of these numbers of stays: 3.3 stays per person on average, a few with 40."""
FIRST_YEAR = 2015


def patients(n: int, seed: int = 0) -> Microdata:
    """Stays of about n / 3.3 persons, each with one birth year, sex, race and zip; the last person may lack some stays.

    >>> data = patients(1000)
    >>> data.frame.group_by("patient").agg(people=pl.struct("birth_year", "sex", "race").n_unique())["people"].max()
    1
    """
    draw = SampleDraw(seed)
    person = _person_of_each_stay(draw, n)
    numbers, person_index = np.unique(person, return_inverse=True)
    person_sampler, stay_sampler = Sampler(draw, numbers), Sampler(draw, np.arange(n, dtype=np.int64))
    born = 1930 + person_sampler.amount("birth year", (0, 8, 14, 20, 26, 33, 42, 52, 64, 84))
    usual_diagnosis = person_sampler.pick_given("illness", WEIGHTS_BY_AGE, np.digitize(FIRST_YEAR - born, (18, 50)))
    year = FIRST_YEAR + stay_sampler.below("year", 8)
    diagnosis = stay_sampler.pick_given("diagnosis", WEIGHTS_BY_AGE, np.digitize(year - born[person_index], (18, 50)))
    # most stays of a person have the same diagnosis
    diagnosis = np.where(stay_sampler.happens("same illness", 650_000), usual_diagnosis[person_index], diagnosis)
    columns = [
        ("P" + zero_padded(numbers[person_index], 7)).alias("patient"),
        pl.Series("birth_year", born[person_index]),
        decode("sex", person_sampler.below("sex", 2)[person_index], ("female", "male")),
        decode("race", person_sampler.pick("race", (74, 19, 3, 2, 2))[person_index], RACES),
        zips(person_sampler, cities(person_sampler)).gather(person_index),
        pl.Series("year", year),
        decode("admission", stay_sampler.pick("admission", (53, 19, 28)), ADMISSIONS),
        pl.Series("days", 1 + stay_sampler.pick("days", (*zipf_weights(14, offset=3), 0, 0, *zipf_weights(24, offset=40)))),
        pl.Series("procedures", stay_sampler.pick("procedures", (46, 20, 13, 9, 6, 4, 2))),
        with_missing(
            decode("specialty", stay_sampler.pick("specialty", zipf_weights(len(SPECIALTIES))), SPECIALTIES),
            stay_sampler.happens("no specialty", 150_000),
        ),
        decode("diagnosis", diagnosis, DIAGNOSES),
        decode("medication", stay_sampler.pick_given("medication", medication_weights(), diagnosis), MEDICATIONS),
        pl.Series("charge", stay_sampler.amount("charge", (200, 1_400, 2_600, 4_200, 6_500, 10_000, 16_000, 28_000, 140_000))),
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


def _person_of_each_stay(draw: SampleDraw, n: int) -> np.ndarray:
    """The person of each record; the stays of a person are scattered over the table."""
    numbers = np.arange(1, n + 1, dtype=np.int64)
    stay_counts = np.array(STAY_COUNTS)[Sampler(draw, numbers).pick("stays", _stay_count_weights())]
    person = np.repeat(numbers, stay_counts)[:n]
    return person[draw.order(np.arange(n, dtype=np.int64), "scatter")]


def _stay_count_weights() -> list[int]:
    """Weights of the numbers of stays, in ten-thousandths, including the few persons with 30 and 40 stays."""
    return [100 * share for share in PERSONS_BY_STAY_COUNT[:-2]] + [6, 4]


def patients_policy() -> Policy:
    """A person column, seven quasi-identifiers (role key), and diagnosis, medication and charge as confidential attributes."""
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
