"""Generated tables of the shapes that a wizard meets: personnel, court, household survey, doctor's visits, insurance claims.

They have names, dates, codes, repeated columns, weights, households, and totals of other columns. The same seed gives the same
table. ``nmes1988`` (4,406 x 19, the visits of the National Medical Expenditure Survey), ``adult`` and ``census_income_kdd`` are
read from a folder, as Parquet.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet
from discreet.model.attribute import Attribute, Role
from discreet.model.microdata import Microdata
from discreet.testing import employees, patients, students

GENERATED = ("hr", "court", "survey", "visits", "claims", "students", "patients")
FILES = ("nmes1988", "adult", "census_income_kdd")
ANALYSES = {
    "hr": ("Salary ~ Sex + Department",),
    "court": ("decile_score ~ sex + race + age + priors_count",),
    "survey": ("income ~ sex + urbrur + age",),
    "visits": ("visits ~ sex + race + age",),
    "nmes1988": ("ofp ~ sex + black + age",),
    "adult": ("hours_per_week ~ sex + age",),
}
"""A regression that users of each table would run; tables without one are compared without."""

KEYS = {"survey": ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age")}
"""Keys that the owner of a table would add to those that ``analyze`` proposes: codes without names."""


def load_table(name: str, folder: Path | None) -> Microdata | None:
    """A table by name, with the policy that ``analyze`` proposes; None where its file is not in the folder."""
    if name in FILES:
        file = folder / f"{name}.parquet" if folder is not None else None
        if file is None or not file.exists():
            return None
        frame = discreet.read(file).frame
        frame = frame.rename({column: column.replace("-", "_") for column in frame.columns})  # names that a formula can hold
    else:
        makers = {"hr": employees, "students": lambda: students(100_000), "patients": lambda: patients(100_000)}
        frame = makers[name]().frame if name in makers else globals()[f"_{name}"](np.random.default_rng(20))
    data = discreet.read(frame)
    policy = discreet.analyze(data).policy()
    attributes = dict(policy.attributes)
    for key in KEYS.get(name, ()):
        attribute = attributes.get(key, Attribute())
        attributes[key] = attribute.model_copy(update={"role": Role.KEY, "known": max(attribute.known, 0.3)})
    return data.with_policy(policy.with_(attributes=attributes))


def _names(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    people = employees(size, seed=int(rng.integers(1 << 30))).frame
    last, first = zip(*(name.split(", ") for name in people["Employee_Name"].to_list()), strict=True)
    return np.array(first), np.array(last)


def _dates(rng: np.random.Generator, size: int, start: str, days: int) -> np.ndarray:
    return np.datetime64(start) + rng.integers(0, days, size).astype("timedelta64[D]")


def _court(rng: np.random.Generator) -> pl.DataFrame:
    """Screenings of defendants: 7,214 x 53."""
    n = 7_214
    first, last = _names(rng, n)
    age = np.clip(rng.gamma(4, 5, n).astype(int) + 18, 18, 90)
    race = rng.choice(6, n, p=[0.51, 0.34, 0.09, 0.05, 0.005, 0.005])
    priors = rng.negative_binomial(1, 0.22, n)
    decile = np.clip(rng.normal(4.5 + 0.25 * priors - 0.04 * (age - 30) + 0.5 * (race == 0), 2.2).round().astype(int), 1, 10)
    screened = _dates(rng, n, "2013-01-01", 730)
    jailed = screened - rng.integers(0, 30, n).astype("timedelta64[D]")
    recid = rng.random(n) < 0.25 + 0.04 * decile
    degree = rng.choice(["F", "M", "O"], n, p=[0.64, 0.35, 0.01])
    charges = np.array([f"charge {code}" for code in range(300)])[np.minimum(rng.zipf(1.4, n), 300) - 1]
    scores = {1: "Low", 2: "Low", 3: "Low", 4: "Low", 5: "Medium", 6: "Medium", 7: "Medium"}
    races = np.array(["African-American", "Caucasian", "Hispanic", "Other", "Asian", "Native American"])
    columns: dict[str, Any] = {
        "id": np.arange(1, n + 1),
        "name": np.char.add(np.char.add(first, " "), last),
        "first": first,
        "last": last,
        "compas_screening_date": screened,
        "sex": rng.choice(["Male", "Female"], n, p=[0.81, 0.19]),
        "dob": screened - (age * 365.25 + rng.integers(0, 365, n)).astype("timedelta64[D]"),
        "age": age,
        "age_cat": np.where(age < 25, "Less than 25", np.where(age <= 45, "25 - 45", "Greater than 45")),
        "race": races[race],
        "juv_fel_count": rng.poisson(0.07, n),
        "decile_score": decile,
        "juv_misd_count": rng.poisson(0.09, n),
        "juv_other_count": rng.poisson(0.1, n),
        "priors_count": priors,
        "days_b_screening_arrest": rng.integers(-5, 30, n),
        "c_jail_in": jailed,
        "c_jail_out": jailed + rng.geometric(0.08, n).astype("timedelta64[D]"),
        "c_case_number": np.array([f"13{code:06d}CF10A" for code in rng.permutation(n)]),
        "c_offense_date": jailed,
        "c_arrest_date": jailed,
        "c_days_from_compas": rng.integers(0, 60, n),
        "c_charge_degree": degree,
        "c_charge_desc": charges,
        "is_recid": recid.astype(int),
        "r_case_number": np.where(recid, np.array([f"14{code:06d}MM10A" for code in rng.permutation(n)]), None),
        "r_charge_degree": np.where(recid, rng.choice(["(F3)", "(M1)", "(M2)"], n), None),
        "r_days_from_arrest": np.where(recid, rng.integers(0, 20, n), None),
        "r_offense_date": np.where(recid, screened + rng.integers(1, 700, n).astype("timedelta64[D]"), None),
        "r_charge_desc": np.where(recid, charges[rng.permutation(n)], None),
        "violent_recid": np.full(n, None),
        "is_violent_recid": (recid & (rng.random(n) < 0.2)).astype(int),
        "score_text": np.array([scores.get(int(one), "High") for one in decile]),
        "type_of_assessment": np.full(n, "Risk"),
        "v_decile_score": np.clip(decile + rng.integers(-2, 2, n), 1, 10),
        "v_type_of_assessment": np.full(n, "Violence"),
        "v_screening_date": screened,
        "in_custody": jailed,
        "out_custody": jailed + rng.integers(1, 99, n).astype("timedelta64[D]"),
        "start": rng.integers(0, 90, n),
        "end": rng.integers(90, 1_186, n),
        "event": recid.astype(int),
        "two_year_recid": recid.astype(int),
        "marital": rng.choice(["single", "married", "divorced"], n, p=[0.7, 0.2, 0.1]),
        "zip": np.array([f"33{code:03d}" for code in rng.integers(0, 120, n)]),
        "agency": rng.choice(["PRETRIAL", "Probation"], n),
        "language": rng.choice(["English", "Spanish", "Creole"], n, p=[0.9, 0.08, 0.02]),
        "legal_status": rng.choice(["Pretrial", "Post Sentence", "Conditional Release"], n, p=[0.6, 0.3, 0.1]),
        "custody_status": rng.choice(["Jail Inmate", "Probation", "Pretrial Defendant"], n),
        "priors_count_1": priors,
        "decile_score_1": decile,
        "screening_id": rng.permutation(n) + 50_000,
        "supervision_level": 1 + (decile > 4) + (decile > 7),
    }
    return _frame(columns, n, 53)


def _survey(rng: np.random.Generator) -> pl.DataFrame:
    """A household survey with weights: 4,580 x 15."""
    n = 4_580
    household = np.sort(rng.integers(0, 1_000, n))
    of_household = {
        name: rng.choice(values, 1_000, p=chances)[household]
        for name, values, chances in (
            ("urbrur", [1, 2], [0.6, 0.4]),
            ("roof", [2, 3, 4, 5, 6, 9], [0.05, 0.1, 0.5, 0.2, 0.14, 0.01]),
            ("walls", [2, 3, 9], [0.3, 0.6, 0.1]),
            ("water", [1, 2, 3, 4, 8, 9], [0.3, 0.2, 0.3, 0.1, 0.05, 0.05]),
            ("electcon", [1, 2, 3], [0.7, 0.2, 0.1]),
        )
    }
    weight = np.round(rng.gamma(3, 100, 1_000)[household])
    sex, age = rng.choice([1, 2], n), np.clip(rng.gamma(2, 14, n).astype(int), 0, 95)
    income = (rng.lognormal(16, 1.2, n) * (1 + 0.2 * (of_household["urbrur"] == 1)) * (1 + 0.1 * (sex == 1))).round(-3)
    return _frame(
        {
            **of_household,
            "relat": np.where(rng.random(n) < 0.22, 1, rng.choice([2, 3, 4, 5, 6, 7, 8, 9], n)),
            "sex": sex,
            "age": age,
            "hhcivil": rng.choice([1, 2, 3, 4], n, p=[0.45, 0.45, 0.05, 0.05]),
            "expend": rng.uniform(0, 1e8, n).round(-3),
            "income": income,
            "savings": rng.uniform(0, 1e7, n).round(-3),
            "household_id": household,
            "sampling_weight": weight,
            "household_weight": weight,
        },
        n,
        15,
    )


def _visits(rng: np.random.Generator) -> pl.DataFrame:
    """Doctor's visits of persons of 66 and over: 4,406 x 20."""
    n = 4_406
    age, sex = np.round(6.6 + rng.gamma(1.5, 0.5, n), 1), rng.choice(["female", "male"], n, p=[0.6, 0.4])
    black, chronic = rng.random(n) < 0.12, rng.poisson(1.5, n)
    rate = np.exp(1.2 + 0.2 * chronic - 0.1 * (sex == "male") - 0.1 * black)
    counts = {
        name: rng.negative_binomial(1, chance, n) for name, chance in (("nvisits", 0.4), ("ovisits", 0.6), ("novisits", 0.7))
    }
    return _frame(
        {
            "visits": rng.poisson(rng.gamma(1, rate)),
            **counts,
            "emergency": rng.poisson(0.26, n),
            "hospital": rng.poisson(0.3, n),
            "health": rng.choice(["average", "poor", "excellent"], n, p=[0.8, 0.12, 0.08]),
            "chronic": chronic,
            "adl": rng.choice(["normal", "limited"], n, p=[0.8, 0.2]),
            "region": rng.choice(["northeast", "midwest", "west", "other"], n),
            "age": age,
            "race": np.where(black, "black", "other"),
            "sex": sex,
            "married": rng.choice(["yes", "no"], n, p=[0.55, 0.45]),
            "school": np.clip(rng.normal(10.3, 3.7, n).round().astype(int), 0, 18),
            "income": np.round(rng.gamma(1.4, 1.8, n), 4),
            "employed": rng.choice(["yes", "no"], n, p=[0.1, 0.9]),
            "insurance": rng.choice(["yes", "no"], n, p=[0.78, 0.22]),
            "medicaid": rng.choice(["yes", "no"], n, p=[0.09, 0.91]),
            "case": rng.permutation(n) + 1_000,
        },
        n,
        20,
    )


def _claims(rng: np.random.Generator) -> pl.DataFrame:
    """Insurance claims by person and year: 171,067 x 143, of which 46 amounts add up to another column."""
    n = 171_067
    age = np.clip(rng.normal(44, 20, n).astype(int), 0, 99)
    amounts = {f"cost_{number:02d}": np.where(rng.random(n) < 0.15, rng.gamma(0.7, 900, n).round(2), 0.0) for number in range(46)}
    diagnoses = {f"dx_{number:02d}": (rng.random(n) < 0.3 / (1 + number)).astype(int) for number in range(50)}
    drugs = {f"drug_{number:02d}": rng.poisson(0.5 / (1 + number), n) for number in range(30)}
    first, last = _names(rng, 500)
    stays = rng.random(n) < 0.15
    return _frame(
        {
            "member_id": np.arange(n) + 1_000_000,
            "name": np.char.add(first[rng.integers(0, 500, n)], last[rng.integers(0, 500, n)]),
            "birth_date": np.datetime64("2020-12-31") - (age * 365.25 + rng.integers(0, 365, n)).astype("timedelta64[D]"),
            "age": age,
            "sex": rng.choice(["F", "M"], n),
            "zip": np.array([f"{code:05d}" for code in 10_000 + np.minimum(rng.zipf(1.3, n), 800)]),
            "state": rng.choice(["NY", "NJ", "CT", "PA"], n, p=[0.5, 0.25, 0.15, 0.1]),
            "race": rng.choice(["white", "black", "asian", "hispanic", "other"], n, p=[0.6, 0.14, 0.06, 0.16, 0.04]),
            "marital": rng.choice(["single", "married", "divorced", "widowed"], n, p=[0.4, 0.45, 0.1, 0.05]),
            "education": rng.integers(0, 18, n),
            "employed": rng.choice(["yes", "no"], n),
            "plan_type": rng.choice(list("ABCDE"), n),
            "months_enrolled": np.where(rng.random(n) < 0.8, 12, rng.integers(1, 12, n)),
            "year": rng.choice([2018, 2019, 2020], n),
            "hospital_stay": stays.astype(int),
            "stay_days": np.where(stays, rng.geometric(0.25, n), 0),
            **amounts,
            "total_cost": np.round(sum(amounts.values()), 2),
            **diagnoses,
            **drugs,
        },
        n,
        143,
    )


def _frame(columns: dict[str, Any], records: int, width: int) -> pl.DataFrame:
    frame = pl.DataFrame({name: values.tolist() if values.dtype == object else values for name, values in columns.items()})
    assert frame.shape == (records, width), frame.shape
    return frame
