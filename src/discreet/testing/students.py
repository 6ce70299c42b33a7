"""A table like the one that Orooji & Knapp measured: 27 attributes of students, ten that people know, seventeen rare flags."""

from __future__ import annotations

import numpy as np
import polars as pl

from discreet.model.attribute import Attribute, Level, Role
from discreet.model.hierarchy import HierarchySpec
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.testing import louisiana as la
from discreet.testing.chances import Chances, falling, named
from discreet.testing.draws import SampleDraw

KNOWN = {
    "gender": 0.8, "ethnicity": 0.9, "age": 0.05, "parish": 0.6, "school": 0.3, "grade": 0.2, "lunch": 0.04, "language": 0.08,
    "birth_month": 0.04, "birth_year": 0.15,
}  # fmt: skip
"""The chance that an intruder knows the attribute; with the flags' 0.005 and less, 111 sets are likelier than 0.01."""

KNOWN_FLAGS = {
    "dropout": 0.005, "homeless": 0.002, "retained": 0.005, "suspended": 0.004, "expelled": 0.003, "ladoc": 0.001, "laojj": 0.001,
    "gifted": 0.005, "disability": 0.004, "truancy": 0.003, "migrant": 0.002, "foster": 0.002, "snap": 0.002, "tanf": 0.001,
    "violent": 0.001, "felony": 0.001, "probation": 0.001,
}  # fmt: skip

SENSITIVE = ("lunch", "language", *la.FLAGS)
"""Nineteen attributes are sensitive where they say 'yes'; lunch and language have other values, which weigh nothing."""


def students(n: int, seed: int = 0, dense: bool = False) -> Microdata:
    """A record each of n students; about 1.5 % have any flag, or most of them where ``dense``.

    Schools lie in parishes and go with grades; age follows grade, birth year follows age and the year of the record;
    ethnicity goes with the parish, lunch and language with ethnicity, flags with lunch, grade and one another.

    >>> data = students(1000)
    >>> data.frame.shape
    (1000, 27)
    >>> data.frame.equals(students(2000).frame.head(1000))
    True
    """
    chances = Chances(SampleDraw(seed), np.arange(n, dtype=np.int64))
    parish = chances.pick("parish", falling(len(la.PARISHES), slowly=1))
    ethnicity = chances.pick_given("ethnicity", la.ETHNICITY_BY_PARISH_KIND, parish % len(la.ETHNICITY_BY_PARISH_KIND))
    lunch = chances.pick_given("lunch", la.LUNCH_BY_ETHNICITY, ethnicity)
    language = chances.pick_given("language", la.LANGUAGE_BY_ETHNICITY, ethnicity)
    year = la.FIRST_YEAR + chances.pick("year", la.YEARS)
    enrolled = year == la.LAST_YEAR
    grade = chances.pick_given("grade", (la.GRADE_OF_LEAVER, la.GRADE_OF_ENROLLED), enrolled)
    band = np.digitize(grade, (2, 7, 10))
    age = grade + 4 + chances.pick_given("behind", la.YEARS_BEHIND, band)
    month = 1 + chances.below("birth_month", 12)
    # age is that of the first of October, when students are counted
    born = year - age - (month > 9)
    columns = [
        named("gender", chances.below("gender", 2), la.GENDERS),
        named("ethnicity", ethnicity, la.ETHNICITIES),
        pl.Series("age", age),
        named("parish", parish, la.PARISHES),
        named("school", parish * la.SCHOOLS_A_PARISH + _school(chances, band), _school_names()),
        named("grade", grade, la.GRADES),
        named("lunch", lunch, la.LUNCHES),
        named("language", language, la.LANGUAGES),
        pl.Series("birth_month", month),
        pl.Series("birth_year", born),
        *_flags(chances, lunch, band >= 2, la.CONTACT_DENSE if dense else la.CONTACT),
    ]
    return Microdata(pl.DataFrame(columns), students_policy(), f"{n:,} generated students")


def _school(chances: Chances, band: np.ndarray) -> np.ndarray:
    """Which of the parish's schools: one of the kind that has the grade, larger ones more often."""
    high = la.SCHOOLS_A_PARISH - la.ELEMENTARY - la.MIDDLE
    sizes = (falling(la.ELEMENTARY, slowly=2), falling(la.MIDDLE, slowly=2), falling(high, slowly=2))
    start = np.array([0, la.ELEMENTARY, la.ELEMENTARY + la.MIDDLE])
    kind = np.maximum(band, 1) - 1
    return np.asarray(start[kind] + chances.pick_given("school", sizes, kind))


def _school_names() -> list[str]:
    kinds = ["Elementary"] * la.ELEMENTARY + ["Middle"] * la.MIDDLE
    kinds += ["High"] * (la.SCHOOLS_A_PARISH - len(kinds))
    return [f"{parish} {kind} {number}" for parish in la.PARISHES for number, kind in enumerate(kinds, 1)]


def _flags(chances: Chances, lunch: np.ndarray, secondary: np.ndarray, contact: tuple[int, ...]) -> list[pl.Series]:
    """The flags: a student is known for one of them, which brings others of its cluster along; or has none."""
    primary = chances.pick_given("primary flag", (la.FLAG_IN_PRIMARY, la.FLAG_IN_SECONDARY), secondary)
    primary[~chances.happens("contact", np.array(contact)[lunch])] = len(la.FLAGS)
    together = np.array([[_together(one, other) for other in la.FLAGS] for one in la.FLAGS] + [[0] * len(la.FLAGS)])
    return [
        named(flag, chances.happens(flag, together[primary, at]).astype(np.int64), ("no", "yes"))
        for at, flag in enumerate(la.FLAGS)
    ]


def _together(one: str, other: str) -> int:
    """The chance, in millionths, of the other flag in a student known for the one."""
    if one == other:
        return 1_000_000
    return la.TOGETHER if _cluster(one) == _cluster(other) else la.APART


def _cluster(flag: str) -> str:
    if flag in la.NEED:
        return "need"
    return "justice" if flag in la.JUSTICE else "school"


def students_policy() -> Policy:
    """Known probabilities and sensitivities as Orooji & Knapp's Table 3 has them, and hierarchies for the keys."""
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
            allow_absent=name in SENSITIVE,  # two of them never say yes, and few students may hold nobody who does
            hierarchy=_hierarchies().get(name),
        )
    return Policy(attributes=attributes, risk={"known_sets": {"alpha": 100, "epsilon": 0.01, "threshold": 0.01}})


def _hierarchies() -> dict[str, HierarchySpec]:
    schools = _school_names()
    regions = {f"region {at // 16 + 1}": la.PARISHES[at : at + 16] for at in range(0, 64, 16)}
    districts = {f"district {at // 4 + 1}": la.PARISHES[at : at + 4] for at in range(0, 64, 4)}
    return {
        "ethnicity": HierarchySpec(groups=({"White or Black": la.ETHNICITIES[:2], "other": la.ETHNICITIES[2:]},)),
        "age": HierarchySpec(widths=(2, 6), origin=4),
        "parish": HierarchySpec(groups=(districts, _of(districts, regions))),
        "school": HierarchySpec(groups=(_blocks(schools, la.SCHOOLS_A_PARISH, la.PARISHES), regions)),
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


def _blocks(members: list[str], size: int, labels: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    return {label: tuple(members[at * size : (at + 1) * size]) for at, label in enumerate(labels)}


def _of(districts: dict[str, tuple[str, ...]], regions: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The districts of each region."""
    return {
        region: tuple(name for name, inside in districts.items() if set(inside) <= set(parishes))
        for region, parishes in regions.items()
    }
