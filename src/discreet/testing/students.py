"""A table like that of Orooji & Knapp: 27 attributes of students, ten that others may know and seventeen rare flags."""

from __future__ import annotations

import numpy as np
import polars as pl

from discreet.model.attribute import Attribute, Level, Role
from discreet.model.hierarchy import HierarchySpec
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.testing import louisiana as la
from discreet.testing.draws import SampleDraw
from discreet.testing.sampler import Sampler, decode, zipf_weights

KNOWN = {
    "gender": 0.8, "ethnicity": 0.9, "age": 0.05, "parish": 0.6, "school": 0.3, "grade": 0.2, "lunch": 0.04, "language": 0.08,
    "birth_month": 0.04, "birth_year": 0.15,
}  # fmt: skip
"""Probability that an intruder knows the attribute; with at most 0.005 for the flags, 111 known sets have more than 0.01."""

KNOWN_FLAGS = {
    "dropout": 0.005, "homeless": 0.002, "retained": 0.005, "suspended": 0.004, "expelled": 0.003, "ladoc": 0.001, "laojj": 0.001,
    "gifted": 0.005, "disability": 0.004, "truancy": 0.003, "migrant": 0.002, "foster": 0.002, "snap": 0.002, "tanf": 0.001,
    "violent": 0.001, "felony": 0.001, "probation": 0.001,
}  # fmt: skip

SENSITIVE = ("lunch", "language", *la.FLAGS)
"""Nineteen attributes are sensitive with the value 'yes'; lunch and language never have it, so they add no weight."""


def students(n: int, seed: int = 0, dense: bool = False) -> Microdata:
    """One record per student; about 1.5 % have any flag, or most of them if ``dense``.

    Schools depend on parish and grade; age depends on grade, birth year on age and the year of the record; ethnicity depends
    on the parish, lunch and language on ethnicity, and flags on lunch, grade and one another.

    >>> data = students(1000)
    >>> data.frame.shape
    (1000, 27)
    >>> data.frame.equals(students(2000).frame.head(1000))
    True
    """
    sampler = Sampler(SampleDraw(seed), np.arange(n, dtype=np.int64))
    parish = sampler.pick("parish", zipf_weights(len(la.PARISHES), offset=1))
    ethnicity = sampler.pick_given("ethnicity", la.ETHNICITY_BY_PARISH_KIND, parish % len(la.ETHNICITY_BY_PARISH_KIND))
    lunch = sampler.pick_given("lunch", la.LUNCH_BY_ETHNICITY, ethnicity)
    language = sampler.pick_given("language", la.LANGUAGE_BY_ETHNICITY, ethnicity)
    year = la.FIRST_YEAR + sampler.pick("year", la.YEARS)
    enrolled = year == la.LAST_YEAR
    grade = sampler.pick_given("grade", (la.GRADE_WEIGHTS_OF_LEAVERS, la.GRADE_WEIGHTS_OF_ENROLLED), enrolled)
    band = np.digitize(grade, (2, 7, 10))
    age = grade + 4 + sampler.pick_given("behind", la.YEARS_BEHIND, band)
    month = 1 + sampler.below("birth_month", 12)
    # age on 1 October, when students are counted
    born = year - age - (month > 9)
    columns = [
        decode("gender", sampler.below("gender", 2), la.GENDERS),
        decode("ethnicity", ethnicity, la.ETHNICITIES),
        pl.Series("age", age),
        decode("parish", parish, la.PARISHES),
        decode("school", parish * la.SCHOOLS_PER_PARISH + _school_of_parish(sampler, band), _school_names()),
        decode("grade", grade, la.GRADES),
        decode("lunch", lunch, la.LUNCHES),
        decode("language", language, la.LANGUAGES),
        pl.Series("birth_month", month),
        pl.Series("birth_year", born),
        *_flags(sampler, lunch, band >= 2, la.ANY_FLAG_CHANCE_DENSE if dense else la.ANY_FLAG_CHANCE),
    ]
    return Microdata(pl.DataFrame(columns), students_policy(), f"{n:,} generated students")


def _school_of_parish(sampler: Sampler, band: np.ndarray) -> np.ndarray:
    """Index of the school in its parish: one that has the grade, larger ones more often."""
    high = la.SCHOOLS_PER_PARISH - la.ELEMENTARY - la.MIDDLE
    sizes = (zipf_weights(la.ELEMENTARY, offset=2), zipf_weights(la.MIDDLE, offset=2), zipf_weights(high, offset=2))
    first_school = np.array([0, la.ELEMENTARY, la.ELEMENTARY + la.MIDDLE])
    kind = np.maximum(band, 1) - 1
    return np.asarray(first_school[kind] + sampler.pick_given("school", sizes, kind))


def _school_names() -> list[str]:
    kinds = ["Elementary"] * la.ELEMENTARY + ["Middle"] * la.MIDDLE
    kinds += ["High"] * (la.SCHOOLS_PER_PARISH - len(kinds))
    return [f"{parish} {kind} {number}" for parish in la.PARISHES for number, kind in enumerate(kinds, 1)]


def _flags(sampler: Sampler, lunch: np.ndarray, secondary: np.ndarray, any_flag_chance: tuple[int, ...]) -> list[pl.Series]:
    """The flags: a student has none, or one primary flag, with which others of its cluster occur more often."""
    primary = sampler.pick_given(
        "primary flag", (la.PRIMARY_FLAG_WEIGHTS_TO_GRADE_5, la.PRIMARY_FLAG_WEIGHTS_ABOVE_GRADE_5), secondary
    )
    primary[~sampler.happens("contact", np.array(any_flag_chance)[lunch])] = len(la.FLAGS)
    joint_chances = np.array(
        [[_joint_flag_chance(first, second) for second in la.FLAGS] for first in la.FLAGS] + [[0] * len(la.FLAGS)]
    )
    return [
        decode(flag, sampler.happens(flag, joint_chances[primary, index]).astype(np.int64), ("no", "yes"))
        for index, flag in enumerate(la.FLAGS)
    ]


def _joint_flag_chance(primary: str, other: str) -> int:
    """Probability, in millionths, of the other flag for a student with this primary flag."""
    if primary == other:
        return 1_000_000
    return la.SAME_CLUSTER_CHANCE if _cluster(primary) == _cluster(other) else la.OTHER_CLUSTER_CHANCE


def _cluster(flag: str) -> str:
    if flag in la.NEED_FLAGS:
        return "need"
    return "justice" if flag in la.JUSTICE_FLAGS else "school"


def students_policy() -> Policy:
    """Known probabilities and sensitivities as in Orooji & Knapp, Table 3, and hierarchies for the quasi-identifiers."""
    attributes = {}
    for name in (*KNOWN, *la.FLAGS):
        flag = name in KNOWN_FLAGS
        attributes[name] = Attribute(
            role=Role.CONFIDENTIAL if flag else Role.KEY,
            level=Level.ORDINAL if name in ("grade", "birth_month") else None,
            order=la.GRADES if name == "grade" else None,
            known=KNOWN_FLAGS[name] if flag else KNOWN[name],
            sensitivity=1.0 if name in SENSITIVE else 0.0,
            values={"yes": 1.0, "no": 0.0} if name in SENSITIVE else {},
            allow_absent=name in SENSITIVE,  # two of them are never 'yes', and in a small table the others may not occur
            hierarchy=_hierarchies().get(name),
        )
    return Policy(attributes=attributes, risk={"known_sets": {"alpha": 100, "epsilon": 0.01, "threshold": 0.01}})


def _hierarchies() -> dict[str, HierarchySpec]:
    schools = _school_names()
    regions = {f"region {index // 16 + 1}": la.PARISHES[index : index + 16] for index in range(0, 64, 16)}
    districts = {f"district {index // 4 + 1}": la.PARISHES[index : index + 4] for index in range(0, 64, 4)}
    return {
        "ethnicity": HierarchySpec(groups=({"White or Black": la.ETHNICITIES[:2], "other": la.ETHNICITIES[2:]},)),
        "age": HierarchySpec(widths=(2, 6), origin=4),
        "parish": HierarchySpec(groups=(districts, _group_districts(districts, regions))),
        "school": HierarchySpec(groups=(_consecutive_groups(schools, la.SCHOOLS_PER_PARISH, la.PARISHES), regions)),
        "grade": HierarchySpec(
            groups=(
                {
                    "PK-K": ("PK", "K"),
                    "1-2": ("1", "2"),
                    "3-5": ("3", "4", "5"),
                    "6-8": ("6", "7", "8"),
                    "9-12": ("9", "10", "11", "12"),
                },
                {"primary": ("PK-K", "1-2", "3-5"), "secondary": ("6-8", "9-12")},
            )
        ),
        "language": HierarchySpec(
            groups=(
                {"English": la.LANGUAGES[:1], "Spanish": la.LANGUAGES[1:2], "other than English or Spanish": la.LANGUAGES[2:]},
            )
        ),
        "birth_month": HierarchySpec(widths=(3, 6), origin=1),
        "birth_year": HierarchySpec(widths=(2, 10), origin=1970),
    }


def _consecutive_groups(members: list[str], size: int, labels: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    return {label: tuple(members[index * size : (index + 1) * size]) for index, label in enumerate(labels)}


def _group_districts(districts: dict[str, tuple[str, ...]], regions: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Group the districts by the region that contains all of their parishes."""
    return {
        region: tuple(name for name, members in districts.items() if set(members) <= set(parishes))
        for region, parishes in regions.items()
    }
