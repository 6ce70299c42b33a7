"""Kinds of attributes: what a column is about, with a default role, probability of being known, and sensitivity.

The roles are those of Truta et al.: identifier, key, confidential. ``known`` is the probability that an intruder knows the
attribute of a person, ``sensitivity`` the harm if it is learnt. These numbers are defaults to start from, not measurements; the
data controller edits them. What is sensitive follows the special categories of the GDPR (articles 9 and 10), then what the public
names in surveys (money, benefits, school discipline).
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.model.attribute import Role


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of attribute; ``vocabulary`` holds its names in several languages, separated by commas."""

    name: str
    role: Role
    vocabulary: str
    known: float = 0.0
    sensitivity: float = 0.0
    coded: bool = False
    """Whether numbers in such a column are codes and not quantities."""
    weak: bool = False
    """Whether another kind in the same name takes precedence: 'drug name' is a drug, 'school id' a school."""

    @property
    def phrases(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(phrase.split()) for phrase in self.vocabulary.split(",") if phrase.strip())


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


RECORD_ID = "record id"
HOUSEHOLD_ID = "household id"
PERSON_NAME = "name"
BODY_WEIGHT = "body weight"
SURVEY_WEIGHT = "survey weight"
OCCASION = "date of an event"
ROAD_OR_WEATHER = "road or weather"

UNNAMED_KNOWN = 0.005
"""For an attribute of unknown kind: below the usual epsilon, so that it matters only in combination."""
UNNAMED_SENSITIVITY = 0.5
"""For an attribute that is confidential by its values and not by its name."""
