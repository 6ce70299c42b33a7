"""What a table is about, as far as its columns together tell: people, or things."""

from __future__ import annotations

from collections.abc import Iterable

FOLLOW_UP = "follow-up"
"""A time and the event that ends it, beside an age: a study of patients or other people."""
_PERSON_SCORES = {
    FOLLOW_UP: 2.0,
    "sex": 2.0, "ethnicity": 2.0, "marital status": 2.0, "birth date": 2.0, "birth year": 2.0, "person's name": 2.0,
    "national number": 2.0, "relation to head": 2.0, "age": 1.5, "education": 1.5, "household": 1.0, "occupation": 1.0,
    "employment": 1.0, "work experience": 1.0, "religion": 1.5, "income": 1.0, "disease": 1.0, "stigmatised disease": 1.5,
    "substance use": 1.0, "medication": 0.5, "treatment": 1.0, "laboratory result": 0.7, "reproduction": 1.0, "politics": 0.7,
    "crime": 0.7, "hours of work": 0.7, "school": 0.7, "citizenship": 1.0, "orientation": 1.5, "benefit": 0.7, "disability": 1.0,
    "body weight": 1.0, "insurance": 0.7, "attitude": 0.7, "e-mail address": 1.0, "phone number": 1.0, "union": 0.7,
    "veteran": 0.7, "wealth and debt": 0.5, "performance": 0.5, "school year": 0.5, "household id": 2.0, "sick leave": 1.0,
    "address": 0.5, "looks": 0.5,
}  # fmt: skip
"""How strongly a kind of column says that the records are people."""
_LEAST_SCORE = 3.5
ONLY_OF_PEOPLE = frozenset(
    """bill;looks;performance;attitude;housing;dwelling material;school year;hours of work;household;industry;place of care;
    work experience;substance use;zodiac sign;name;employer;school;medication;vehicle""".replace("\n    ", "").split(";")
)
"""Kinds whose names mean something else in a table of things: the price of a car, the height of a tower."""


def is_about_people(kinds: Iterable[str]) -> bool:
    """Whether the kinds of the columns show that the records are people.

    >>> is_about_people(["sex", "age"]), is_about_people(["bill", "looks", "region"])
    (True, False)
    """
    return sum(_PERSON_SCORES.get(kind, 0.0) for kind in set(kinds)) >= _LEAST_SCORE


def is_about_things(kinds: Iterable[str]) -> bool:
    """Whether nothing among the columns speaks of people."""
    return sum(_PERSON_SCORES.get(kind, 0.0) for kind in set(kinds)) < 1.0
