"""Persons in groups: how many records each person has in each group, and what follows from it.

Records are ordered by group and person in linear time; all counts are then taken in one pass over runs of one person.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.encoding.columns import Column, encode, threads
from discreet.engine.runtime.compiled import compiled
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Persons:
    """Who each record belongs to: a dense number a record, and the persons' names where they have one."""

    codes: NDArray[Any]
    number: int
    names: pl.Series


def person_attribute(data: Microdata) -> str:
    """The one attribute whose role is person."""
    named = data.policy.named(Role.PERSON)
    if len(named) == 1:
        return named[0]
    told = f"{', '.join(named)} have it" if named else "none has it"
    raise DataError(
        f"{data.policy.origin}: exactly one attribute needs the role person, but {told}; "
        "give it to the one that names the individual"
    )


def persons_of(data: Microdata, original: Microdata | None = None) -> Persons:
    """Who the records of a table belong to.

    A release that no longer holds the person attribute is read beside its original: a record belongs to the person of
    the original record it came from, a simulated record to a person of its own.
    """
    name = person_attribute(data)
    if name in data.columns:
        column = _without_nulls(encode(data, [name])[0], data)
        return Persons(column.codes, len(column.values), column.values)
    if original is None or name not in original.columns:
        raise DataError(f"{data.source} has no column '{name}' with the role person; give the original beside it, which has one")
    column = _without_nulls(encode(original, [name])[0], original)
    order = np.argsort(original.records, kind="stable")
    at = np.minimum(np.searchsorted(original.records[order], data.records), max(len(order) - 1, 0))
    there = original.records[order[at]] == data.records if len(order) else np.zeros(len(data), dtype=np.bool_)
    alone = int((~there).sum())
    codes = np.empty(len(data), dtype=np.int64)
    codes[there] = column.codes[order[at[there]]]
    codes[~there] = len(column.values) + np.arange(alone)
    occurring, dense = np.unique(codes, return_inverse=True)
    names = pl.concat([column.values, pl.Series(column.name, [None] * alone, dtype=column.values.dtype)])
    return Persons(dense, len(occurring), names[occurring])


def _without_nulls(column: Column, data: Microdata) -> Column:
    if column.has_null:
        raise DataError(
            f"{data.source}: the person attribute '{column.name}' is null in {int(column.is_null.sum()):,} records, "
            "so the persons cannot be counted; name the person of each record, or remove those records"
        )
    return column


@dataclass(frozen=True)
class PersonCounts:
    """Counts by group, and for each record its group and how many records its person has there.

    ``affiliation`` has a row an attribute: h of (3) by group.
    """

    group: NDArray[np.int64]
    own: NDArray[np.int64]
    records: NDArray[np.int64]
    persons: NDArray[np.int64]
    squares: NDArray[np.int64]
    affiliation: NDArray[np.float64]

    @property
    def probability(self) -> NDArray[np.float64]:
        """For each record f_i / sum f, the share of its group that belongs to its person."""
        return np.asarray(self.own / self.records[self.group])

    @property
    def balance(self) -> NDArray[np.float64]:
        """For each group g = 1 - sum (f_i / sum f)^2, seed 003 (1)."""
        return np.asarray(1.0 - self.squares / (self.records * self.records))


def count_persons(
    group: NDArray[Any],
    groups: int,
    persons: Persons,
    sensitive: Sequence[Column] = (),
    *,
    rows: NDArray[np.int64] | None = None,
    wildcard: bool = False,
) -> PersonCounts:
    """Count persons in groups.

    ``rows`` are the records that stand in the groups where that is not each record once (a null that agrees with anything
    puts a record into several groups); ``own`` then is by entry, not by record. A null in a sensitive attribute is one more
    value, or where ``wildcard`` may be any of them, so that its person counts with each.
    """
    who = persons.codes if rows is None else persons.codes[rows]
    order = order_by(order_by(np.arange(len(group)), who, persons.number), group, groups)
    here, person = group[order], who[order]
    begins = np.flatnonzero(np.append(True, (here[1:] != here[:-1]) | (person[1:] != person[:-1]))[: len(order)])
    sizes = np.diff(begins, append=len(order))
    places = here[begins]
    own = np.empty(len(order), dtype=np.int64)
    own[order] = np.repeat(sizes, sizes)
    number = np.bincount(places, minlength=groups)
    squares = np.bincount(places, weights=sizes * sizes, minlength=groups).astype(np.int64)

    def affiliation(column: Column) -> NDArray[np.float64]:
        codes = column.codes[order] if rows is None else column.codes[rows[order]]
        null = len(column.values) if wildcard and column.has_null else -1
        found = np.zeros(groups)
        _affiliations(codes, begins, places, column.cardinality, null, number, found)
        return found

    if len(sensitive) > 1:
        with ThreadPoolExecutor(threads()) as pool:
            found = list(pool.map(affiliation, sensitive))
    else:
        found = [affiliation(column) for column in sensitive]
    by_attribute = np.array(found).reshape(len(sensitive), groups)
    return PersonCounts(group, own, np.bincount(group, minlength=groups), number, squares, by_attribute)


@compiled
def order_by(order: NDArray[np.int64], keys: NDArray[Any], number: int) -> NDArray[np.int64]:
    """The same positions, stably sorted by a dense key: a counting sort."""
    ends = np.zeros(number + 1, dtype=np.int64)
    for key in keys:
        ends[key + 1] += 1
    for key in range(number):
        ends[key + 1] += ends[key]
    made = np.empty_like(order)
    for row in order:
        key = keys[row]
        made[ends[key]] = row
        ends[key] += 1
    return made


@compiled
def _affiliations(
    codes: NDArray[Any],
    begins: NDArray[np.int64],
    places: NDArray[Any],
    cardinality: int,
    null: int,
    persons: NDArray[np.int64],
    found: NDArray[np.float64],
) -> None:
    """For each group max_j s_j / n, s_j being its persons who have the value j in at least one record.

    ``begins`` and ``places`` are, for each run of records of one person in one group, its start and its group.
    """
    times = np.zeros(cardinality, dtype=np.int64)
    last = np.full(cardinality, -1, dtype=np.int64)
    touched = np.empty(cardinality, dtype=np.int64)
    many, most, unknown = 0, 0, 0
    for run in range(len(begins)):
        end = begins[run + 1] if run + 1 < len(begins) else len(codes)
        has_null = False
        for at in range(begins[run], end):
            has_null = has_null or codes[at] == null
        if has_null:
            unknown += 1
        else:
            for at in range(begins[run], end):
                value = codes[at]
                if last[value] != run:
                    last[value] = run
                    if times[value] == 0:
                        touched[many] = value
                        many += 1
                    times[value] += 1
                    most = max(most, times[value])
        here = places[run]
        if run + 1 == len(begins) or places[run + 1] != here:
            found[here] = (most + unknown) / persons[here]
            for at in range(many):
                times[touched[at]] = 0
            many, most, unknown = 0, 0, 0
