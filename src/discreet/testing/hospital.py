"""Hospital admissions: the table of the demonstration (``discreet demo``)."""

from __future__ import annotations

import numpy as np
import polars as pl

from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.testing.diagnoses import DIAGNOSES, WEIGHTS_BY_AGE
from discreet.testing.directory import cities, first_names, surnames, zero_padded, zips
from discreet.testing.draws import SampleDraw
from discreet.testing.sampler import Sampler, decode, with_missing, zipf_weights

_EPOCH_1920 = -18_262
"""1 January 1920, in days since 1 January 1970."""
_EPOCH_2023 = 19_358
"""1 January 2023, in days since 1 January 1970."""
AGES = (0, 9, 18, 24, 29, 33, 38, 43, 48, 53, 57, 61, 65, 69, 73, 77, 81, 86, 94)
INCOMES = (0, 9_000, 18_000, 25_000, 31_000, 37_000, 44_000, 52_000, 62_000, 75_000, 94_000, 130_000, 420_000)
BILLS = (180, 900, 1_600, 2_500, 3_700, 5_400, 7_800, 11_500, 17_500, 30_000, 160_000)


def hospital(n: int = 1000, seed: int = 0) -> Microdata:
    """Admissions, one per person: name, ssn, birth date, sex, zip, admission date, diagnosis, income, bill.

    The social security numbers begin with 9, which real ones never do. Record i is the same person as entry i of the
    :func:`~discreet.testing.phonebook.phonebook` with the same seed, so that the two tables can be linked.

    >>> hospital(2).frame["ssn"].str.slice(0, 1).to_list()
    ['9', '9']
    """
    sampler = Sampler(SampleDraw(seed), np.arange(n, dtype=np.int64))
    female = sampler.below("sex", 2) == 0
    admitted = _EPOCH_2023 + sampler.below("admission_date", 365)
    age = sampler.amount("age", AGES)
    born = np.maximum(admitted - 365 * age - age // 4 - sampler.below("birthday", 365), _EPOCH_1920)
    income = sampler.amount("income", INCOMES) // 100 * 100
    ssn = "9" + zero_padded(sampler.below("ssn area", 100), 2) + "-" + zero_padded(sampler.below("ssn group", 100), 2) + "-"
    columns = [
        (first_names(sampler, female) + " " + surnames(sampler)).alias("name"),
        (ssn + zero_padded(sampler.below("ssn serial", 10_000), 4)).alias("ssn"),
        pl.Series("birth_date", born.astype(np.int32)).cast(pl.Date),
        decode("sex", female.astype(np.int64), ("male", "female")),
        zips(sampler, cities(sampler)),
        decode(
            "marital",
            sampler.pick_given("marital", ((90, 9, 0, 1), (34, 50, 3, 13), (8, 56, 24, 12)), np.digitize(age, (25, 60))),
            MARITAL,
        ),
        pl.Series("admission_date", admitted.astype(np.int32)).cast(pl.Date),
        decode("diagnosis", sampler.pick_given("diagnosis", WEIGHTS_BY_AGE, np.digitize(age, (18, 50))), DIAGNOSES),
        with_missing(pl.Series("income", income), sampler.happens("no income", 60_000) | (age < 16)),
        pl.Series("bill", sampler.amount("bill", BILLS)),
        pl.Series("days", 1 + sampler.pick("days", zipf_weights(30, offset=2))),
    ]
    return Microdata(pl.DataFrame(columns), hospital_policy(), f"{n:,} generated admissions")


MARITAL = ("single", "married", "widowed", "divorced")


def hospital_policy() -> Policy:
    """A careful policy for this table, with a first plan."""
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
                "diagnosis": {
                    "role": "confidential",
                    "known": 0.001,
                    "sensitivity": 1.0,
                    "values": _diagnosis_weights(),
                    "allow_absent": True,  # a small table does not hold every diagnosis
                },
                "income": {
                    "role": "confidential",
                    "known": 0.005,
                    "sensitivity": 0.9,
                    "values": {"<40000": 1.0, "40000..70000": 0.7},
                    "default": 0.0,
                    "allow_absent": True,
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
    """Sensitivity of each diagnosis, by its ICD-10 chapter (the first letter of its code)."""
    chapters = {"B": 1.0, "C": 1.0, "F": 0.9, "O": 0.6, "E": 0.4, "I": 0.4}
    return {diagnosis: chapters.get(diagnosis[0], 0.2) for diagnosis in DIAGNOSES}
