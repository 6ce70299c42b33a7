"""Employees of a company: a table as a personnel department exports it, with names, dates, codes and repeated information."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.model.microdata import Microdata
from discreet.testing.directory import cities, first_names, surnames, zero_padded, zips
from discreet.testing.draws import SampleDraw
from discreet.testing.sampler import Sampler, decode, with_missing, zipf_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EPOCH_2024 = 19_723
"""1 January 2024, in days since 1 January 1970: the day of the export."""
_YEAR = 365.25
_AGES = (19, 24, 27, 30, 33, 36, 39, 42, 46, 50, 55, 60, 67)
_SERVICE = (0, 200, 500, 900, 1_400, 2_000, 2_700, 3_500, 4_500, 6_000, 9_000)
"""Quantiles of the days since the hiring of an employee."""
_DEPARTMENTS = ("Production", "IT/IS", "Sales", "Software Engineering", "Admin Offices", "Executive Office")
_POSITIONS = (
    ("Production Technician I", "Production Technician II", "Production Manager"),
    ("Database Administrator", "Network Engineer", "IT Support", "IT Manager"),
    ("Area Sales Manager", "Sales Manager"),
    ("Software Engineer", "Senior Software Engineer"),
    ("Accountant I", "Senior Accountant", "Administrative Assistant"),
    ("Director of Operations", "President"),
)
_BASE_PAY = (48_000, 76_000, 62_000, 94_000, 58_000, 160_000)
_RACES = ("White", "Black or African American", "Asian", "Two or more races", "American Indian", "Hispanic")
_MARITAL = ("Single", "Married", "Divorced", "Separated", "Widowed")
_CITIZENSHIP = ("US Citizen", "Eligible NonCitizen", "Non-Citizen")
_SOURCES = ("Indeed", "LinkedIn", "Google Search", "Employee Referral", "Diversity Job Fair", "Website", "Other")
_REASONS = ("Another position", "unhappy", "more money", "career change", "hours", "attendance", "relocation", "retiring")
_STATES = ("MA", "CT", "TX", "VT", "NY", "OH")
_SCORES = ("Exceeds", "Fully Meets", "Needs Improvement", "PIP")


def employees(n: int = 311, seed: int = 0) -> Microdata:
    """Employees, one per record, with 38 columns and no policy: what the columns mean is for the analyst to find out.

    Several columns repeat what another one says: the age and the date of birth, codes and their labels, the manager and the
    manager's number.

    >>> data = employees(5)
    >>> len(data), len(data.columns)
    (5, 38)
    """
    sampler = Sampler(SampleDraw(seed), np.arange(n, dtype=np.int64))
    person, work = _personal_columns(sampler), _work_columns(sampler)
    return Microdata(pl.DataFrame([*person, *work]), source=f"{n:,} generated employees")


def _date(name: str, days: NDArray[np.int64]) -> pl.Series:
    return pl.Series(name, days.astype(np.int32)).cast(pl.Date)


def _personal_columns(sampler: Sampler) -> list[pl.Series]:
    """Who somebody is: names, numbers, dates and places."""
    female = sampler.below("sex", 100) < 57
    age = sampler.amount("age", _AGES)
    born = _EPOCH_2024 - (age * _YEAR).astype(np.int64) - sampler.below("birthday", 365)
    race = sampler.pick("race", (60, 20, 9, 4, 1, 6))
    marital = sampler.pick_given("marital", ((70, 25, 3, 1, 1), (22, 58, 14, 3, 3)), (age > 34).astype(np.int64))
    city = cities(sampler)
    first, last = first_names(sampler, female), surnames(sampler)
    citizen = sampler.pick("citizen", (94, 4, 2))
    return [
        (last + ", " + first).alias("Employee_Name"),
        pl.Series("EmpID", 10_001 + np.arange(len(sampler.records))),
        (first.str.to_lowercase() + "." + last.str.to_lowercase() + "@example.com").alias("Email"),
        ("9" + zero_padded(sampler.below("ssn", 100_000_000), 8)).alias("SSN"),
        _date("DOB", born),
        pl.Series("Age", ((_EPOCH_2024 - born) / _YEAR).astype(np.int64)),
        decode("Sex", female.astype(np.int64), ("M", "F")),
        pl.Series("GenderID", female.astype(np.int64)),
        decode("MaritalDesc", marital, _MARITAL),
        pl.Series("MaritalStatusID", marital),
        pl.Series("MarriedID", (marital == 1).astype(np.int64)),
        decode("CitizenDesc", citizen, _CITIZENSHIP),
        decode("RaceDesc", race, _RACES),
        decode("HispanicLatino", (race == 5).astype(np.int64), ("No", "Yes")),
        zips(sampler, city).alias("Zip"),
        decode("State", sampler.pick("state", (88, 3, 2, 3, 2, 2)), _STATES),
        pl.Series("Children", sampler.pick("children", (40, 22, 24, 10, 3, 1))),
        decode(
            "Education", sampler.pick("education", (34, 18, 32, 14, 2)), ("High school", "Associate", "Bachelor", "Master", "PhD")
        ),
        pl.Series("CommuteMiles", sampler.amount("commute", (0, 2, 4, 6, 9, 12, 17, 24, 35, 70))),
    ]


def _work_columns(sampler: Sampler) -> list[pl.Series]:
    """What somebody does and earns: department, position, dates, pay and ratings."""
    department = sampler.pick("department", (67, 16, 10, 4, 2, 1))
    rank = sampler.pick("position", zipf_weights(4, offset=1))
    position = np.array([min(int(r), len(_POSITIONS[d]) - 1) for d, r in zip(department, rank, strict=True)], dtype=np.int64)
    titles = [_POSITIONS[d][p] for d, p in zip(department.tolist(), position.tolist(), strict=True)]
    service = sampler.amount("service", _SERVICE)
    left = sampler.happens("left", 330_000)
    leaving = np.minimum(service, sampler.amount("stay", _SERVICE))
    base = np.asarray(_BASE_PAY, dtype=np.int64)[department]
    salary = base + 9_000 * position + service + sampler.below("pay", 14_000) - 3_000 * (sampler.below("sex", 100) < 57)
    score = sampler.pick("score", (12, 78, 6, 4))
    manager = department * 3 + sampler.below("manager", 3)
    count = len(sampler.records)
    return [
        decode("Department", department, _DEPARTMENTS),
        pl.Series("DeptID", department + 1),
        pl.Series("Position", titles),
        pl.Series("PositionID", department * 4 + position + 1),
        pl.Series("Salary", salary),
        pl.Series("PayRate", np.round(salary / 2_080, 2)),
        _date("DateofHire", _EPOCH_2024 - service),
        with_missing(_date("DateofTermination", _EPOCH_2024 - service + leaving), ~left),
        with_missing(decode("TermReason", sampler.pick("reason", (20, 14, 12, 10, 10, 8, 6, 5)), _REASONS), ~left),
        decode("EmploymentStatus", left.astype(np.int64), ("Active", "Terminated")),
        pl.Series("Termd", left.astype(np.int64)),
        ("Manager " + pl.Series(manager).cast(pl.String)).alias("ManagerName"),
        pl.Series("ManagerID", manager + 1),
        decode("RecruitmentSource", sampler.pick("source", (28, 24, 16, 10, 9, 4, 9)), _SOURCES),
        decode("PerformanceScore", score, _SCORES),
        pl.Series("PerfScoreID", 4 - score),
        pl.Series("EngagementSurvey", np.round(2.5 + sampler.below("engagement", 251) / 100, 2)),
        pl.Series("EmpSatisfaction", 1 + sampler.pick("satisfaction", (2, 5, 35, 32, 26))),
        with_missing(pl.Series("Absences", sampler.below("absences", 21)), np.zeros(count, dtype=np.bool_)),
    ]
