"""Record-level risk over every known set (Orooji & Knapp (2018a), eq. 1), with an interval for all 2^m sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from discreet.engine.classes.groups import group_ids
from discreet.engine.encoding.columns import encode
from discreet.engine.encoding.record_links import require_original_rows
from discreet.engine.known_sets.counter import Counter
from discreet.engine.known_sets.duplicates import Duplicates, find_duplicates
from discreet.engine.known_sets.family import Family, Knowledge, family
from discreet.engine.known_sets.inputs import (
    build_certain_queries,
    build_queries,
    classes_by_layers,
    classes_by_nulls,
    find_sensitive_records,
    single_class,
    single_pattern,
    weights_of,
)
from discreet.engine.known_sets.queries import Queries, RecordClass
from discreet.engine.known_sets.risk_sums import RecordSums, RiskSums
from discreet.engine.overlap.bits import BitCounter
from discreet.engine.overlap.splitting import TooManyStepsError
from discreet.engine.overlap.tables import classes_by_overlap, has_overlaps
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

Missing = Literal["category", "wildcard"]
_COUNTED_PATTERNS = 512
"""Patterns of queries up to which it is counted for each how many agree with it in all that it asks by."""
_MANY_STEPS = 200_000
"""Steps of one set (a class of queries, an agreeing group and a run of cells each) from which on bits may be quicker."""
_BYTES = 5 * 8
_TERMS_AT_ONCE = 1e9
_MOST_TERMS = 1e11
"""Bytes of a term, of the terms held at once, and of those of all sets and patterns: a table whose values were changed at random
has nearly one pattern per record."""


@dataclass(frozen=True)
class KnownSets:
    """The sums of the records that have something to learn; every other record's are zero.

    ``slots`` are those records (rows of the data), ``per_record`` their sums before the coefficient alpha, ``consequence`` their
    C with nothing known.
    """

    names: list[str]
    tree: Family
    slots: NDArray[np.int64]
    per_record: RecordSums
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


def family_of(data: Microdata, names: Sequence[str], epsilon: float, max_sets: int, knowledge: Knowledge = "products") -> Family:
    """The family of known sets of these attributes, as the policy has their probabilities and what is known together."""
    place = {name: at for at, name in enumerate(names)}
    together = [[place[name] for name in unit if name in place] for unit in data.policy.known_together]
    chances = [data.attribute(name).known for name in names]
    return family(chances, epsilon, max_sets, knowledge=knowledge, together=together)


def probability_of(data: Microdata, known: Sequence[str], knowledge: Knowledge) -> float:
    """The probability of one known set, as :func:`family_of` has it."""
    names = attributes(data)
    grouped = {name: unit for unit in data.policy.known_together for name in unit}
    units = {tuple(grouped.get(name, (name,))) for name in names}
    probability = 1.0
    for unit in sorted(units):
        chance = max(float(data.attribute(name).known) for name in unit if name in names)
        inside = any(name in known for name in unit)
        probability *= chance if inside else 1 - chance if knowledge == "independent" else 1.0
    return probability


def known_sets(
    data: Microdata,
    *,
    epsilon: float,
    max_sets: int,
    missing: Missing = "category",
    original: Microdata | None = None,
    everyone: bool = False,
    knowledge: Knowledge = "products",
    certain: bool = False,
) -> KnownSets:
    """Sum over the kept sets, and bound the sum over all sets, for each record that has something to learn (or for everyone).

    With ``certain`` the consequence of every set is 1 for everyone: the sum is that of the likelihoods of being found.
    """
    everyone = everyone or certain
    names = attributes(data)
    if original is not None:
        names = [name for name in names if name in original.columns]
    tree = family_of(data, names, epsilon, max_sets, knowledge)
    is_query = np.ones(len(data), dtype=np.bool_) if everyone else find_sensitive_records(data, weights_of(data, names))
    if original is not None:
        is_query &= require_original_rows(data, original, "known_sets") >= 0
    slots = np.flatnonzero(is_query)
    duplicates = distinct_queries(data, names, slots) if original is None else None
    first_rows = slots if duplicates is None else slots[duplicates.first]
    classes, queries, ordered = build_classes(data, names, tree, first_rows, missing, original, certain=certain)
    same_records = None if len(queries.patterns) <= _COUNTED_PATTERNS else _count_same_records(data, ordered)[first_rows]
    sums = _sum_in_turns(tree, classes, queries, len(ordered), same_records)
    if duplicates is None:
        return KnownSets(names, tree, slots, sums, queries.weight)
    return KnownSets(names, tree, slots, sums.spread(duplicates.kind), queries.weight[duplicates.kind])


def _count_same_records(data: Microdata, names: Sequence[str]) -> NDArray[np.int64]:
    """How many records say the same as each in all attributes: whoever agrees with one of them agrees with all."""
    ids, number = group_ids([(column.codes, column.cardinality) for column in encode(data, names)], len(data))
    return np.bincount(ids, minlength=number)[ids].astype(np.int64)


def _sum_in_turns(
    tree: Family, classes: Sequence[RecordClass], queries: Queries, width: int, same_records: NDArray[np.int64] | None
) -> RecordSums:
    """The sums of all queries; where the terms of all patterns do not fit into memory, for some patterns at a time.

    The count over all attributes is taken pattern by pattern; of too many patterns it is bounded below by ``same_records``.
    """
    need = _BYTES * len(tree) * (1 + len(queries.singles))
    if need * len(queries.patterns) > _MOST_TERMS:
        raise DataError(
            f"known_sets: records lack, or no longer agree on, {len(queries.patterns):,} different combinations of attributes; "
            f"with {len(tree):,} known sets that is {need * len(queries.patterns) / 1e9:,.0f} GB of numbers, where "
            f"{_MOST_TERMS / 1e9:,.0f} are allowed; a larger epsilon makes fewer sets"
        )
    turn = max(1, int(_TERMS_AT_ONCE // need))
    if len(queries.patterns) <= turn:
        return sum_in_one_walk(tree, classes, queries, width, same_records)
    sums = RecordSums.empty(len(queries))
    for begin in range(0, len(queries.patterns), turn):
        own, part = queries.of_patterns(begin, begin + turn)
        for_queries = [record_class.for_queries(own) for record_class in classes]
        sums.fill(own, sum_in_one_walk(tree, for_queries, part, width, None if same_records is None else same_records[own]))
    return sums


def sum_in_one_walk(
    tree: Family, classes: Sequence[RecordClass], queries: Queries, width: int, same_records: NDArray[np.int64] | None = None
) -> RecordSums:
    """The sums of all queries in one walk; ``width`` attributes may be known.

    Where coarse cells overlap in many ways, bits are compared instead of lists if that is quicker.
    """
    may_use_bits = len(classes) == 1 and classes[0].rows is None and bool(classes[0].relations)
    if may_use_bits:
        try:
            with Counter(classes, queries, most_steps=_MANY_STEPS) as counter:
                return _sum_counts(tree, counter, width, same_records)
        except TooManyStepsError as error:
            bits = BitCounter(classes[0], queries)
            if bits.is_quicker(error.steps, error.classes):
                with bits:
                    return _sum_counts(tree, bits, width, same_records)
    with Counter(classes, queries) as counter:
        return _sum_counts(tree, counter, width, same_records)


def _sum_counts(tree: Family, counter: Counter | BitCounter, width: int, same_records: NDArray[np.int64] | None) -> RecordSums:
    """The sums of all queries, from the counts of one walk."""
    count_all = counter.count_all(width) if same_records is None else same_records
    sums = RiskSums(tree, counter.queries, counter.threads)
    counter.walk(tree, sums.add)
    return sums.finish(count_all)


def distinct_queries(data: Microdata, names: list[str], slots: NDArray[np.int64]) -> Duplicates | None:
    """Which of these records ask the same, so that one of each kind is summed; None where hardly any do."""
    weights = weights_of(data, names)
    grouped = {name for unit in data.policy.known_together for name in unit}
    known = encode(data, [name for name in names if data.attribute(name).known > 0 or name in grouped])
    return find_duplicates(known, [(column, weights[column.name]) for column in encode(data, weights)], slots)


def build_classes(
    data: Microdata,
    names: list[str],
    tree: Family,
    slots: NDArray[np.int64],
    missing: Missing,
    original: Microdata | None,
    *,
    certain: bool = False,
) -> tuple[list[RecordClass], Queries, list[str]]:
    """Who is counted, who asks, and the attributes in the family's order that an intruder may know."""
    ordered = tree.known_names(names)
    columns = encode(data, ordered)
    if original is not None:
        rows = require_original_rows(data, original, "known_sets")[slots]
        classes, pattern, patterns = classes_by_layers(data, original, ordered, slots, rows)
    elif has_overlaps(data, columns):
        classes, pattern, patterns = classes_by_overlap(data, columns, slots, null_agrees=missing == "wildcard")
    elif missing == "wildcard" and any(column.has_null for column in columns):
        classes, pattern, patterns = classes_by_nulls(columns, slots, len(data))
    else:
        classes = single_class(columns, slots, len(data))
        pattern, patterns = single_pattern(len(slots))
    if certain:
        return classes, build_certain_queries(tree, pattern, patterns), ordered
    return classes, build_queries(data, tree, names, slots, pattern, patterns), ordered
