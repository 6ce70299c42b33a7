"""A hospital's admissions: the table that the demonstration takes through the house."""

from __future__ import annotations

import numpy as np
import polars as pl

from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.testing.chances import Chances, falling, named, sprinkled
from discreet.testing.diagnoses import DIAGNOSES, WEIGHTS_BY_AGE
from discreet.testing.directory import cities, digits, first_names, surnames, zips
from discreet.testing.draws import SampleDraw

_EPOCH_1920 = -18_262
"""The first of January 1920 in days before 1970."""
_EPOCH_2023 = 19_358
"""The first of January 2023 in days after 1970."""
AGES = (0, 9, 18, 24, 29, 33, 38, 43, 48, 53, 57, 61, 65, 69, 73, 77, 81, 86, 94)
INCOMES = (0, 9_000, 18_000, 25_000, 31_000, 37_000, 44_000, 52_000, 62_000, 75_000, 94_000, 130_000, 420_000)
BILLS = (180, 900, 1_600, 2_500, 3_700, 5_400, 7_800, 11_500, 17_500, 30_000, 160_000)


def hospital(n: int = 1000, seed: int = 0) -> Microdata:
    """Admissions, one a person: name, ssn, birth date, sex, zip, admission date, diagnosis, income, bill.

    The social security numbers begin with 9, which none ever did. Record i is the same person as entry i of the
    :func:`~discreet.testing.phonebook.phonebook` of the same seed, so that the one can be linked to the other.

    >>> hospital(2).frame["ssn"].str.slice(0, 1).to_list()
    ['9', '9']
    """
    chances = Chances(SampleDraw(seed), np.arange(n, dtype=np.int64))
    female = chances.below("sex", 2) == 0
    admitted = _EPOCH_2023 + chances.below("admission_date", 365)
    age = chances.amount("age", AGES)
    born = np.maximum(admitted - 365 * age - age // 4 - chances.below("birthday", 365), _EPOCH_1920)
    income = chances.amount("income", INCOMES) // 100 * 100
    ssn = "9" + digits(chances.below("ssn area", 100), 2) + "-" + digits(chances.below("ssn group", 100), 2) + "-"
    columns = [
        (first_names(chances, female) + " " + surnames(chances)).alias("name"),
        (ssn + digits(chances.below("ssn serial", 10_000), 4)).alias("ssn"),
        pl.Series("birth_date", born.astype(np.int32)).cast(pl.Date),
        named("sex", female.astype(np.int64), ("male", "female")),
        zips(chances, cities(chances)),
        named(
            "marital",
            chances.pick_given("marital", ((90, 9, 0, 1), (34, 50, 3, 13), (8, 56, 24, 12)), np.digitize(age, (25, 60))),
            MARITAL,
        ),
        pl.Series("admission_date", admitted.astype(np.int32)).cast(pl.Date),
        named("diagnosis", chances.pick_given("diagnosis", WEIGHTS_BY_AGE, np.digitize(age, (18, 50))), DIAGNOSES),
        sprinkled(pl.Series("income", income), chances.happens("no income", 60_000) | (age < 16)),
        pl.Series("bill", chances.amount("bill", BILLS)),
        pl.Series("days", 1 + chances.pick("days", falling(30, slowly=2))),
    ]
    return Microdata(pl.DataFrame(columns), hospital_policy(), f"{n:,} generated admissions")


MARITAL = ("single", "married", "widowed", "divorced")


def hospital_policy() -> Policy:
    """What a careful owner would say of this table, with a plan to start from."""
    return Policy.from_dict(
        {
            "attributes": {
                "name": {"role": "identifier"},
                "ssn": {"role": "identifier"},
                "birth_date": {"role": "key", "known": 0.3, "hierarchy": {"dates": ["month", "year", "decade"]}},
                "sex": {"role": "key", "known": 0.9},
                "zip": {"role": "key", "known": 0.5, "hierarchy": {"prefixes": [4, 3]}},
                "marital": {
                    "role": "key",
                    "known": 0.4,
                    "hierarchy": {"groups": [{"alone": ["single", "widowed", "divorced"], "together": ["married"]}]},
                },
                "admission_date": {"role": "key", "known": 0.05, "hierarchy": {"dates": ["week", "year"]}},
                "diagnosis": {"role": "confidential", "known": 0.001, "sensitivity": 1.0, "values": _diagnosis_weights()},
                "income": {
                    "role": "confidential",
                    "known": 0.005,
                    "sensitivity": 0.9,
                    "values": {"<40000": 1.0, "40000..70000": 0.7},
                    "default": 0.0,
                },
                "bill": {"role": "confidential", "known": 0.002, "sensitivity": 0.3},
                "days": {"role": "confidential", "known": 0.01, "sensitivity": 0.1},
            },
            "plan": {
                "seed": 7,
                "steps": [{"method": "remove_identifiers"}, {"method": "rounding", "columns": ["income", "bill"], "base": 100}],
            },
        },
        origin="the hospital's policy",
    )


def _diagnosis_weights() -> dict[str, float]:
    """How bad it is to be known for a diagnosis: the first letter of its code says which chapter it stands in."""
    chapters = {"B": 1.0, "C": 1.0, "F": 0.9, "O": 0.6, "E": 0.4, "I": 0.4}
    return {diagnosis: chapters.get(diagnosis[0], 0.2) for diagnosis in DIAGNOSES}
