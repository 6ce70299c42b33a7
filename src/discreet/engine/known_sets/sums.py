"""Record-level risk over every state of an intruder's knowledge (Orooji & Knapp 2018), with an interval for all 2^m sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from discreet.engine.classes.groups import group_ids
from discreet.engine.encoding.columns import encode
from discreet.engine.encoding.record_links import links_or_raise
from discreet.engine.known_sets.counter import Counter
from discreet.engine.known_sets.duplicates import Alike, alike_records
from discreet.engine.known_sets.family import Family, family
from discreet.engine.known_sets.inputs import alike, by_layers, by_nulls, holders, one_class, queries, weights_of
from discreet.engine.known_sets.queries import Queries, RecordClass
from discreet.engine.known_sets.risk_sums import Found, RiskSums
from discreet.engine.overlap.tables import by_overlap, has_overlaps
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

Missing = Literal["category", "wildcard"]
_COUNTED_PATTERNS = 512
"""Patterns of queries up to which it is counted for each how many agree with it in all that it asks by."""
_BYTES = 5 * 8
_TERMS_AT_ONCE = 1e9
_MOST_TERMS = 1e11
"""Bytes of a term, of the terms held at once, and of those of all sets and patterns: a table whose values were changed at random
has nearly a pattern a record."""


@dataclass(frozen=True)
class KnownSets:
    """The sums of the records that have something to learn; every other record's are zero.

    ``slots`` are those records (rows of the data), ``found`` their sums before the coefficient alpha, ``consequence`` their
    C with nothing known.
    """

    names: list[str]
    tree: Family
    slots: NDArray[np.int64]
    found: Found
    consequence: NDArray[np.float64]

    def set_name(self, node: int) -> str:
        """A known set's attributes in the table's order, joined by '+'."""
        return "+".join(self.names[at] for at in self.tree.members(node))


def attributes(data: Microdata) -> list[str]:
    """The attributes that take part: known with some probability, or sensitive; identifiers and persons are none."""
    named = [
        name
        for name in data.columns
        if data.attribute(name).role not in (Role.IDENTIFIER, Role.PERSON)
        and (data.attribute(name).known > 0 or data.attribute(name).sensitivity > 0)
    ]
    if not named:
        raise DataError(f"known_sets needs at least one attribute of {data.source} with known > 0 or a sensitivity")
    return named


def known_sets(
    data: Microdata,
    *,
    epsilon: float,
    max_sets: int,
    missing: Missing = "category",
    original: Microdata | None = None,
    everyone: bool = False,
) -> KnownSets:
    """Sum over the kept sets, and bound the sum over all sets, for each record that has something to learn (or for everyone)."""
    names = attributes(data)
    if original is not None:
        names = [name for name in names if name in original.columns]
    tree = family([data.attribute(name).known for name in names], epsilon, max_sets)
    asking = np.ones(len(data), dtype=np.bool_) if everyone else holders(data, weights_of(data, names))
    if original is not None:
        asking &= links_or_raise(data, original, "known_sets") >= 0
    slots = np.flatnonzero(asking)
    kinds = _kinds(data, names, slots) if original is None else None
    those = slots if kinds is None else slots[kinds.first]
    classes, asked, ordered = classes_of(data, names, tree, those, missing, original)
    twins = None if len(asked.patterns) <= _COUNTED_PATTERNS else _twins(data, ordered)[those]
    found = _walked(tree, classes, asked, len(ordered), twins)
    if kinds is None:
        return KnownSets(names, tree, slots, found, asked.weight)
    return KnownSets(names, tree, slots, found.spread(kinds.kind), asked.weight[kinds.kind])


def _twins(data: Microdata, names: Sequence[str]) -> NDArray[np.int64]:
    """How many records say the same as each in all attributes: whoever agrees with one of them agrees with all."""
    ids, number = group_ids([(column.codes, column.cardinality) for column in encode(data, names)], len(data))
    return np.bincount(ids, minlength=number)[ids].astype(np.int64)


def _walked(tree: Family, classes: Sequence[RecordClass], asked: Queries, width: int, twins: NDArray[np.int64] | None) -> Found:
    """The sums of all queries; where they have so many patterns that their terms have no room, some patterns after the others.

    How many agree with a query in all that it asks by is counted pattern by pattern, or, of too many, is at least its ``twins``.
    """
    need = _BYTES * len(tree) * (1 + len(asked.singles))
    if need * len(asked.patterns) > _MOST_TERMS:
        raise DataError(
            f"known_sets: records lack, or no longer agree on, {len(asked.patterns):,} different combinations of attributes; "
            f"with {len(tree):,} known sets that is {need * len(asked.patterns) / 1e9:,.0f} GB of numbers, where "
            f"{_MOST_TERMS / 1e9:,.0f} are allowed; a larger epsilon makes fewer sets"
        )
    turn = max(1, int(_TERMS_AT_ONCE // need))
    if len(asked.patterns) <= turn:
        return sum_counted(tree, classes, asked, width, twins)
    found = Found.empty(len(asked))
    for begin in range(0, len(asked.patterns), turn):
        own, some = asked.of_patterns(begin, begin + turn)
        asked_by = [one.asked_by(own) for one in classes]
        found.fill(own, sum_counted(tree, asked_by, some, width, None if twins is None else twins[own]))
    return found


def sum_counted(
    tree: Family, classes: Sequence[RecordClass], asked: Queries, width: int, twins: NDArray[np.int64] | None = None
) -> Found:
    """The sums of all queries in one walk; ``width`` attributes may be known."""
    with Counter(classes, asked) as counter:
        count_all = counter.count_all(width) if twins is None else twins
        sums = RiskSums(tree, asked, counter.threads)
        counter.walk(tree, sums.add)
        return sums.finish(count_all)


def _kinds(data: Microdata, names: list[str], slots: NDArray[np.int64]) -> Alike | None:
    weights = weights_of(data, names)
    known = encode(data, [name for name in names if data.attribute(name).known > 0])
    return alike_records(known, [(column, weights[column.name]) for column in encode(data, weights)], slots)


def classes_of(
    data: Microdata, names: list[str], tree: Family, slots: NDArray[np.int64], missing: Missing, original: Microdata | None
) -> tuple[list[RecordClass], Queries, list[str]]:
    """Who is counted, who asks, and the attributes in the family's order that an intruder may know."""
    ordered = [names[at] for at in tree.order if data.attribute(names[at]).known > 0]
    columns = encode(data, ordered)
    if original is not None:
        rows = links_or_raise(data, original, "known_sets")[slots]
        classes, pattern, patterns = by_layers(data, original, ordered, slots, rows)
    elif has_overlaps(data, columns):
        classes, pattern, patterns = by_overlap(data, columns, slots, null_agrees=missing == "wildcard")
    elif missing == "wildcard" and any(column.has_null for column in columns):
        classes, pattern, patterns = by_nulls(columns, slots, len(data))
    else:
        classes = one_class(columns, slots, len(data))
        pattern, patterns = alike(len(slots))
    return classes, queries(data, tree, names, slots, pattern, patterns), ordered
