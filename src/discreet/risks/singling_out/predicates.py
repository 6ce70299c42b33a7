"""Statements about a person, made of released cells, and how many people they hold for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.attacks.distances import ComparedColumn
from discreet.engine.classes.groups import group_columns
from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.runtime.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray


def draw_column_sets(records: NDArray[np.int64], columns: int, size: int) -> NDArray[np.int64]:
    """For each record a random set of ``size`` of the columns, one row per record; draws depend on the record alone."""
    draw = KeyedDraw(0)
    order = np.argsort(np.stack([draw.uniform(records, f"predicate {place}") for place in range(columns)], axis=1), axis=1)
    return np.asarray(np.sort(order[:, : min(size, columns)], axis=1))


class Matches:
    """Counts, for statements of released cells, the people whose true values agree with all of them."""

    def __init__(self, columns: Sequence[ComparedColumn]) -> None:
        self.columns = columns
        self._rows: dict[tuple[int, int], NDArray[np.bool_]] = {}

    def holds_for(self, places: Sequence[int], cells: Sequence[int], people: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the statement 'column lies in its cell, for all of these columns' holds for each of these people."""
        holds = np.ones(len(people), dtype=np.bool_)
        for place, cell in zip(places, cells, strict=True):
            holds &= self._agreeing(int(place), int(cell))[self.columns[place].people.codes[people]]
        return holds

    def classes(self, places: Sequence[int], people: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The class of each person on these columns, and one person of each class."""
        columns = [self.columns[place].people for place in places]
        ids, number = group_columns(columns, people)
        first = np.zeros(number, dtype=np.int64)
        first[ids] = np.arange(people)
        return ids, first

    def _agreeing(self, place: int, cell: int) -> NDArray[np.bool_]:
        """For each code of the people's column whether a released cell contains it; a true null agrees with everything."""
        key = (place, cell)
        if key not in self._rows:
            column = self.columns[place]
            codes = np.arange(column.people.cardinality)
            self._rows[key] = column.containment.contains(np.full(len(codes), cell), codes)
        return self._rows[key]


class ComparedPeople:
    """Equally many members and control people, for statements that are nobody's; without control people all members."""

    def __init__(self, members: int, people: int) -> None:
        strangers = np.arange(members, people)
        self.people, self.size = people, min(members, len(strangers)) if len(strangers) else members
        order = np.argsort(KeyedDraw(0).uniform(np.arange(members), "compared members"), kind="stable")
        other_order = np.argsort(KeyedDraw(0).uniform(strangers, "compared control"), kind="stable")
        self.is_member = np.arange(people) < members
        self.is_chosen, self.is_stranger = np.zeros(people, dtype=np.bool_), np.zeros(people, dtype=np.bool_)
        self.is_chosen[order[: self.size]] = True
        self.is_stranger[strangers[other_order[: self.size]]] = True


@dataclass(frozen=True)
class StatementCounts:
    """For each statement the people it holds for: all members, all but its own person, chosen members, control people."""

    members: NDArray[np.int64]
    others: NDArray[np.int64]
    chosen: NDArray[np.int64]
    strangers: NDArray[np.int64]


def count_statements(
    matches: Matches, compared: ComparedPeople, persons: NDArray[np.int64], sets: NDArray[np.int64], cells: NDArray[np.int64]
) -> StatementCounts:
    """Count the people that each statement holds for; ``persons`` is the person that its record belongs to, or -1.

    Statements on the same columns are counted on the classes of people on these columns: time sets x people + statements x
    classes x columns.
    """
    counts = np.zeros((4, len(sets)), dtype=np.int64)
    _, group_of = np.unique(sets, axis=0, return_inverse=True)
    order = np.argsort(group_of, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(group_of[order])) + 1) if len(order) else []:
        report_progress("singling out", int(group_of[group[0]]), int(group_of.max()) + 1)
        places = sets[group[0]].tolist()
        ids, first = matches.classes(places, compared.people)
        flags = (compared.is_member, compared.is_chosen, compared.is_stranger)
        numbers = np.stack([np.bincount(ids[flag], minlength=len(first)) for flag in flags])
        for statement in group.tolist():
            holds = matches.holds_for(places, cells[statement], first)
            members, chosen, strangers = numbers[:, holds].sum(axis=1)
            person = int(persons[statement])
            own = int(holds[ids[person]]) if person >= 0 else 0
            counts[:, statement] = members, members - own, chosen, strangers
    return StatementCounts(*counts)
