"""Detection of the column that identifies persons where a person can have several records, and of household numbers.

Two records of one person agree on sex and birth year; two records with the same category agree no more often than any two
records. Where a key separates the share s of all pairs of records, and the share t of the pairs with the same value of a column,

    stability = 1 - t / s

is 1 if the key is constant within every value of the column, and 0 if it varies as much as in the whole table. A key that hardly
varies proves nothing, so only keys with s of at least 0.1 are used, and the median over them decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.analysis.quasi_identifiers import measure_single, refined_class_sizes
from discreet.engine.encoding.columns import Column
from discreet.engine.recognition.findings import Finding
from discreet.engine.recognition.household_numbers import HOUSEHOLD_WORDS
from discreet.engine.recognition.name_rules import HOUSEHOLD_ID, RECORD_ID, word_set
from discreet.engine.recognition.value_facts import Facts
from discreet.model.attribute import Role

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST_STABILITY_OF_IDS = 0.7
_LEAST_STABILITY_OF_OTHERS = 0.95
_LEAST_SEPARATION = 0.1
_MOST_KEYS = 12
_LEAST_HOUSEHOLD, _MOST_HOUSEHOLD = 1.05, 15.0
"""Records per household, on average."""
_MANY = 30
"""Distinct numbers that no household has members or children."""
_PERSON_WORDS = word_set(
    """patient person subject member customer client student employee participant respondent pupil user pid kunden"""
)


@dataclass(frozen=True, slots=True)
class PersonColumn:
    """The column that stands for persons, and the reason."""

    name: str
    reason: str


def find_person_column(facts: Sequence[Facts], keys: Sequence[Facts]) -> PersonColumn | None:
    """The column that stands for persons, or None: columns named as ids come first, then those with the greatest stability."""
    best: tuple[tuple[bool, float, int, int], PersonColumn] | None = None
    varying = [
        key for key in keys if key.distinct > 1 and measure_single(key.column, key.records).separation_ratio >= _LEAST_SEPARATION
    ]
    for position, candidate in enumerate(facts):
        if not _may_stand_for_persons(candidate):
            continue
        named_as_id = candidate.naming.kind is not None and candidate.naming.kind.name == RECORD_ID
        named_as_person = bool(_PERSON_WORDS & set(candidate.naming.words))
        if not named_as_id and any(_is_determined_by(candidate, key) for key in varying if key.name != candidate.name):
            continue  # a code of a country or another category, however few records share it
        other_keys = [key for key in varying if key.name != candidate.name][:_MOST_KEYS]
        stabilities = [stability(candidate.column, key.column) for key in other_keys]
        median = float(np.median(stabilities)) if stabilities else -1.0
        is_stable = median >= (_LEAST_STABILITY_OF_IDS if named_as_id else _LEAST_STABILITY_OF_OTHERS)
        if not (is_stable or (not stabilities and named_as_id and named_as_person)):
            continue
        if not named_as_id and len(stabilities) < 2:
            continue
        records_each = candidate.present / candidate.distinct
        evidence = f"; {len(stabilities)} keys hardly vary within a value (median stability {median:.3f})" if stabilities else ""
        average = f"{records_each:.2f} records on average"
        reason = f"{candidate.distinct:,} values in {candidate.present:,} records ({average}){evidence}"
        rank = (named_as_id, median, candidate.distinct, -position)
        if best is None or rank > best[0]:
            best = rank, PersonColumn(candidate.name, reason)
    return best[1] if best else None


def _is_determined_by(candidate: Facts, key: Facts) -> bool:
    """Whether a key fixes the candidate's value: of a person the keys are coarser than the id, never finer."""
    fine_enough = 0.9 * candidate.distinct <= key.distinct < key.present / 2
    return fine_enough and stability(key.column, candidate.column) > 0.99


def is_one_to_one(first: Column, second: Column) -> bool:
    """Whether each value of one column goes with one value of the other, as two numbers of the same person do."""
    if len(first.values) != len(second.values) or first.has_null != second.has_null:
        return False
    return len(refined_class_sizes(first.codes.astype(np.int64), first.cardinality, second)) == first.cardinality


def stability(person: Column, key: Column) -> float:
    """1 - t / s over the records that have a person."""
    present = ~person.is_null
    ids = person.codes[present].astype(np.int64)
    narrowed = Column(key.name, key.codes[present], key.values, key.has_null)
    n = len(ids)
    squares, both = _sum_of_squares(np.bincount(ids)), _sum_of_squares(refined_class_sizes(ids, len(person.values), narrowed))
    separated = n * n - _sum_of_squares(np.bincount(narrowed.codes))  # like all counts of pairs here: of ordered pairs
    if squares == n or separated == 0:
        return 0.0
    return 1 - ((squares - both) / (squares - n)) / (separated / (n * (n - 1)))


def _sum_of_squares(sizes: NDArray[np.int64]) -> int:
    return int(np.dot(sizes, sizes))


def _may_stand_for_persons(facts: Facts) -> bool:
    """Whether a column holds whole numbers or text that repeat, but less often than categories."""
    named_as_id = facts.naming.kind is not None and facts.naming.kind.name == RECORD_ID
    if not (facts.is_text or facts.is_whole) or facts.distinct < 3 or facts.distinct == facts.present:
        return False
    records_each = facts.present / facts.distinct
    if named_as_id:
        return records_each <= 1_000 and facts.uniqueness >= 0.005
    return facts.naming.kind is None and facts.distinct >= 50 and 1.2 <= records_each <= 50


def propose_household(facts: Facts, *, things: bool) -> Finding | None:
    """A household number: named as one and shared by a few records each; ``things``: whether nothing speaks of people."""
    if not _may_number_households(facts, things) or not facts.distinct or not (facts.is_text or facts.is_whole):
        return None
    each = facts.present / facts.distinct
    if not _LEAST_HOUSEHOLD <= each <= _MOST_HOUSEHOLD or facts.distinct < 3:
        return None
    reason = f"{facts.naming.description}; {facts.distinct:,} values in {facts.present:,} records ({each:.2f} records on average)"
    return Finding(Role.HOUSEHOLD, f"{reason}, as members of a household share a number", confidence=0.85)


def _may_number_households(facts: Facts, things: bool) -> bool:
    """Whether the name says so, or only 'household' of whole numbers that are too many for numbers of members."""
    kind = facts.naming.kind
    if kind is None or kind.name == HOUSEHOLD_ID:
        return kind is not None
    only_household = facts.naming.words == (facts.naming.phrase,) and facts.naming.phrase in HOUSEHOLD_WORDS
    return only_household and not things and facts.is_whole and facts.distinct >= _MANY
