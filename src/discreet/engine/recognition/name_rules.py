"""Kinds of attributes: what a column is about, and the starting numbers that follow from it.

A kind carries the role that seed 002 would give it, the probability that an intruder knows it of a person, and how much
it matters when learnt. The numbers are a stated table to start from, never a measurement; the owner edits them. What is
sensitive follows the special categories of the GDPR (articles 9 and 10) and what surveys of the public name after them
(money, benefits, school discipline).
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.model.attribute import Role


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: ``words`` are the names it goes by, in several languages, a space between words."""

    name: str
    role: Role
    words: str
    known: float = 0.0
    sensitivity: float = 0.0
    coded: bool = False
    """Whether numbers in such a column are codes, not quantities."""
    weak: bool = False
    """Whether another kind in the same name comes first: 'drug name' is a drug, 'school id' a school."""

    @property
    def phrases(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(phrase.split()) for phrase in self.words.split(",") if phrase.strip())


def words(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


RECORD_ID = "record id"
PERSON_NAME = "name"
BODY_WEIGHT = "body weight"
SURVEY_WEIGHT = "survey weight"
OCCASION = "date of an event"

UNNAMED_KNOWN = 0.005
"""For an attribute of no known kind: below the usual epsilon, so it matters only where it adds up."""
UNNAMED_SENSITIVITY = 0.5
"""For an attribute that its content, not its name, says is confidential."""
