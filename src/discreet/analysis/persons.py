"""The individual behind several records: an identifying column whose values repeat while the person stays the same.

Two records of one person agree on sex and birth year; two records that share a mere category agree no more often than any
two. For a key that separates the share s of all pairs of records, and the share t of the pairs that hold the same value,

    stability = 1 - t / s

is 1 where the key is constant within every value and 0 where it varies as freely as in the whole table. A key that
hardly varies proves nothing, so only keys with s of at least a tenth are asked, and the median over them counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.analysis.quasi_identifiers import single, sizes_of
from discreet.engine.encoding.columns import Column
from discreet.engine.recognition.name_rules import RECORD_ID, words
from discreet.engine.recognition.value_facts import Facts

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STABLE_NAMED = 0.7
_STABLE_UNNAMED = 0.95
_LEAST_SEPARATION = 0.1
_MOST_KEYS = 12
_PERSONS = words(
    """patient person subject member customer client student employee participant respondent pupil user pid kunden"""
)


@dataclass(frozen=True, slots=True)
class PersonFound:
    """A column that stands for persons, and what shows it."""

    name: str
    reason: str


def find_person(facts: Sequence[Facts], keys: Sequence[Facts]) -> PersonFound | None:
    """The column that stands for persons, if one does: one named as an id first, then the most stable."""
    best: tuple[tuple[bool, float, int, int], PersonFound] | None = None
    telling = [key for key in keys if key.distinct > 1 and single(key.column, key.records).separation_ratio >= _LEAST_SEPARATION]
    for place, one in enumerate(facts):
        if not _may_be(one):
            continue
        named = one.naming.kind is not None and one.naming.kind.name == RECORD_ID
        person = bool(_PERSONS & set(one.naming.words))
        asked = [key for key in telling if key.name != one.name][:_MOST_KEYS]
        shares = [stability(one.column, key.column) for key in asked]
        median = float(np.median(shares)) if shares else -1.0
        if not (median >= (_STABLE_NAMED if named else _STABLE_UNNAMED) or (not shares and named and person)):
            continue
        if not named and len(shares) < 2:
            continue
        each = one.present / one.distinct
        shown = f"; {len(shares)} keys hardly vary within a value (stability {median:.3f}, the median)" if shares else ""
        reason = f"{one.distinct:,} values for {one.present:,} records ({each:.2f} records each){shown}"
        rank = (named, median, one.distinct, -place)
        if best is None or rank > best[0]:
            best = rank, PersonFound(one.name, reason)
    return best[1] if best else None


def says_the_same(one: Column, other: Column) -> bool:
    """Whether each value of one goes with one value of the other, so that it is another number of the same person."""
    if len(one.values) != len(other.values) or one.has_null != other.has_null:
        return False
    return len(sizes_of(one.codes.astype(np.int64), one.cardinality, other)) == one.cardinality


def stability(person: Column, key: Column) -> float:
    """1 - t / s; records without a person are left out."""
    here = ~person.is_null
    ids = person.codes[here].astype(np.int64)
    narrowed = Column(key.name, key.codes[here], key.values, key.has_null)
    n = len(ids)
    squares, both = _squares(np.bincount(ids)), _squares(sizes_of(ids, len(person.values), narrowed))
    separated = n * n - _squares(np.bincount(narrowed.codes))  # ordered pairs, as all counts here
    if squares == n or separated == 0:
        return 0.0
    return 1 - ((squares - both) / (squares - n)) / (separated / (n * (n - 1)))


def _squares(sizes: NDArray[np.int64]) -> int:
    return int(np.dot(sizes, sizes))


def _may_be(facts: Facts) -> bool:
    """Whole numbers or text that repeat, but not as often as categories do."""
    named = facts.naming.kind is not None and facts.naming.kind.name == RECORD_ID
    if not (facts.is_text or facts.is_whole) or facts.distinct < 3 or facts.distinct == facts.present:
        return False
    each = facts.present / facts.distinct
    if named:
        return each <= 1_000 and facts.uniqueness >= 0.005
    return facts.naming.kind is None and facts.distinct >= 50 and 1.2 <= each <= 50
