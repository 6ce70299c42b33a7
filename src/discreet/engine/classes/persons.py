"""Persons in groups of records: the records of each person in each group, g-balance and h-affiliation (Kartal & Li 2016).

Records are sorted by group and person in linear time; all counts are then taken in one pass over runs of records of one person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.encoding.columns import Column, encode, thread_count
from discreet.engine.runtime.compiled import compiled
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Persons:
    """The person of each record: a dense number per record, and the persons' ids (null for simulated persons)."""

    codes: NDArray[Any]
    number: int
    names: pl.Series


def person_attribute(data: Microdata) -> str:
    """The single attribute with the role person."""
    named = data.policy.named(Role.PERSON)
    if len(named) == 1:
        return named[0]
    which = f"{', '.join(named)} have it" if named else "none has it"
    raise DataError(
        f"{data.policy.origin}: exactly one attribute needs the role person, but {which}; "
        "give it to the attribute that identifies the individual"
    )


def persons_of(data: Microdata, original: Microdata | None = None) -> Persons:
    """The persons of a table's records.

    Where a release no longer holds the person attribute, it is taken from the original: a record belongs to the person of its
    original record, and a simulated record to a person of its own.
    """
    name = person_attribute(data)
    if name in data.columns:
        column = _without_nulls(encode(data, [name])[0], data)
        return Persons(column.codes, len(column.values), column.values)
    if original is None or name not in original.columns:
        raise DataError(f"{data.source} has no column '{name}' with the role person; give the original table as well")
    column = _without_nulls(encode(original, [name])[0], original)
    order = np.argsort(original.records, kind="stable")
    index = np.minimum(np.searchsorted(original.records[order], data.records), max(len(order) - 1, 0))
    has_original = original.records[order[index]] == data.records if len(order) else np.zeros(len(data), dtype=np.bool_)
    simulated = int((~has_original).sum())
    codes = np.empty(len(data), dtype=np.int64)
    codes[has_original] = column.codes[order[index[has_original]]]
    codes[~has_original] = len(column.values) + np.arange(simulated)
    occurring, dense = np.unique(codes, return_inverse=True)
    names = pl.concat([column.values, pl.Series(column.name, [None] * simulated, dtype=column.values.dtype)])
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
    """Counts of records and persons by group.

    ``group``       [records] the group of each record
    ``own``         [records] how many records of the group belong to the record's person
    ``records``     [groups] records, ``persons`` [groups] persons, ``squares`` [groups] sum of squared records per person
    ``affiliation`` [sensitive attributes, groups] h-affiliation, Kartal & Li (2016), eq. 3
    """

    group: NDArray[np.int64]
    own: NDArray[np.int64]
    records: NDArray[np.int64]
    persons: NDArray[np.int64]
    squares: NDArray[np.int64]
    affiliation: NDArray[np.float64]

    @property
    def probability(self) -> NDArray[np.float64]:
        """For each record f_i / sum f, the share of its group's records that belong to its person."""
        return np.asarray(self.own / self.records[self.group])

    @property
    def balance(self) -> NDArray[np.float64]:
        """For each group g = 1 - sum (f_i / sum f)^2: g-balance, Kartal & Li (2016), eq. 1."""
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
    """Count the records and persons of each group.

    ``rows`` gives the record of each entry of ``group``, where records are not in exactly one group (a wildcard null puts a
    record into several groups); ``own`` then has one entry per entry of ``group``. A null in a sensitive attribute is one more
    value, or where ``wildcard`` may be any value, so that its person counts for each value.
    """
    person_codes = persons.codes if rows is None else persons.codes[rows]
    order = counting_sort(counting_sort(np.arange(len(group)), person_codes, persons.number), group, groups)
    sorted_groups, sorted_persons = group[order], person_codes[order]
    changes = (sorted_groups[1:] != sorted_groups[:-1]) | (sorted_persons[1:] != sorted_persons[:-1])
    begins = np.flatnonzero(np.append(True, changes)[: len(order)])
    sizes = np.diff(begins, append=len(order))
    group_of_run = sorted_groups[begins]
    own = np.empty(len(order), dtype=np.int64)
    own[order] = np.repeat(sizes, sizes)
    number = np.bincount(group_of_run, minlength=groups)
    squares = np.bincount(group_of_run, weights=sizes * sizes, minlength=groups).astype(np.int64)

    def affiliation(column: Column) -> NDArray[np.float64]:
        codes = column.codes[order] if rows is None else column.codes[rows[order]]
        null = len(column.values) if wildcard and column.has_null else -1
        shares = np.zeros(groups)
        _affiliations(codes, begins, group_of_run, column.cardinality, null, number, shares)
        return shares

    if len(sensitive) > 1:
        with WorkerThreads(thread_count()) as pool:
            shares = list(pool.map(affiliation, sensitive))
    else:
        shares = [affiliation(column) for column in sensitive]
    by_attribute = np.array(shares).reshape(len(sensitive), groups)
    return PersonCounts(group, own, np.bincount(group, minlength=groups), number, squares, by_attribute)


@compiled
def counting_sort(order: NDArray[np.int64], keys: NDArray[Any], number: int) -> NDArray[np.int64]:
    """The positions in ``order``, stably sorted by the dense key ``keys[position] < number``; O(positions + number)."""
    ends = np.zeros(number + 1, dtype=np.int64)
    for key in keys:
        ends[key + 1] += 1
    for key in range(number):
        ends[key + 1] += ends[key]
    sorted_rows = np.empty_like(order)
    for row in order:
        key = keys[row]
        sorted_rows[ends[key]] = row
        ends[key] += 1
    return sorted_rows


# codes[i]: value of the i-th record in the order of groups and persons. begins[run], group_of_run[run]: start and group of each
# run of records of one person in one group. persons[group]: persons in each group. O(records + groups): the counters of a group
# are reset through the list of values that it touched. Trap: a person counts once per value, which last_run ensures; a person
# with a null may have every value and is counted separately.
@compiled
def _affiliations(
    codes: NDArray[Any],
    begins: NDArray[np.int64],
    group_of_run: NDArray[Any],
    cardinality: int,
    null: int,
    persons: NDArray[np.int64],
    largest_shares: NDArray[np.float64],
) -> None:
    """For each group max_j s_j / n, where s_j of its n persons have value j in at least one record (Kartal & Li 2016, eq. 3)."""
    persons_with_value = np.zeros(cardinality, dtype=np.int64)
    last_run = np.full(cardinality, -1, dtype=np.int64)
    touched = np.empty(cardinality, dtype=np.int64)
    touched_count, largest, unknown = 0, 0, 0
    for run in range(len(begins)):
        end = begins[run + 1] if run + 1 < len(begins) else len(codes)
        has_null = False
        for index in range(begins[run], end):
            has_null = has_null or codes[index] == null
        if has_null:
            unknown += 1
        else:
            for index in range(begins[run], end):
                value = codes[index]
                if last_run[value] != run:
                    last_run[value] = run
                    if persons_with_value[value] == 0:
                        touched[touched_count] = value
                        touched_count += 1
                    persons_with_value[value] += 1
                    largest = max(largest, persons_with_value[value])
        group = group_of_run[run]
        if run + 1 == len(begins) or group_of_run[run + 1] != group:
            largest_shares[group] = (largest + unknown) / persons[group]
            for index in range(touched_count):
                persons_with_value[touched[index]] = 0
            touched_count, largest, unknown = 0, 0, 0
