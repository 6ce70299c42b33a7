"""Counts over overlapping cells against nested loops over records and sets of values."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.known_sets import counter as known_counts
from discreet.engine.known_sets import threads as known_threads
from discreet.engine.known_sets.counter import Counter
from discreet.engine.known_sets.family import family
from discreet.engine.known_sets.inputs import single_pattern
from discreet.engine.known_sets.queries import Queries, RecordClass
from discreet.engine.overlap import bits, splitting
from discreet.engine.overlap import relations as relations_module
from discreet.engine.overlap.bits import BitCounter
from discreet.engine.overlap.relations import Relation, relate
from discreet.engine.runtime.progress import OutOfTimeError, progress_listener, stop_after


@dataclass(frozen=True)
class Cells:
    """Cells of one column as the engine is given them; every cell is also known as a set, for the slow version."""

    number: int
    blank: np.ndarray
    first: np.ndarray
    last: np.ndarray
    starts: np.ndarray
    members: np.ndarray
    sets: list[frozenset[int] | None]

    @classmethod
    def of(cls, number: int, sets: list[frozenset[int] | None]) -> Cells:
        first, last = np.zeros(len(sets), np.int64), np.zeros(len(sets), np.int64)
        starts, members = [0], []
        for at, one in enumerate(sets):
            if one:
                low, high = min(one), max(one) + 1
                if high - low == len(one):
                    first[at], last[at] = low, high
                else:
                    members += sorted(one)
            starts.append(len(members))
        blank = np.array([one is None for one in sets], dtype=np.bool_)
        return cls(number, blank, first, last, np.array(starts), np.array(members, dtype=np.int64), sets)


@st.composite
def columns(draw: Any, runs: bool) -> Cells:
    number = draw(st.integers(1, 8))
    atoms = st.integers(0, number - 1)
    if runs:
        cell = st.tuples(atoms, atoms).map(lambda ends: frozenset(range(min(ends), max(ends) + 1)))
    else:
        cell = st.frozensets(atoms, min_size=1)
    sets = draw(st.lists(st.one_of(st.none(), cell, atoms.map(lambda one: frozenset({one}))), min_size=1, max_size=10))
    return Cells.of(number, sets)


def agree(one: frozenset[int] | None, other: frozenset[int] | None) -> bool:
    return one is None or other is None or bool(one & other)


def test_comparing_many_cells_stops_at_the_deadline() -> None:
    """20,000 labels of groups of near records were compared for 30 s after the end of a search."""
    column = Cells.of(3_000, [frozenset({atom, (7 * atom + 1_500) % 3_000}) for atom in range(3_000)])
    reports: list[int] = []
    with progress_listener(lambda _what, done, _total: reports.append(done)):
        relate(column, column, null=None, queried_null=None, name="a")
    assert len(reports) > 4
    with pytest.raises(OutOfTimeError), stop_after(time.monotonic() - 1):
        relate(column, column, null=None, queried_null=None, name="a")


@given(st.booleans().flatmap(columns), st.data())
@settings(max_examples=120, deadline=None)
def test_a_relation_holds_exactly_the_cells_that_share_a_value(column: Cells, data: st.DataObject) -> None:
    asking = column
    if data.draw(st.booleans()):  # true values ask
        asking = Cells.of(column.number, [frozenset({atom}) for atom in range(column.number)])
    null = data.draw(st.sampled_from([None, *np.flatnonzero(column.blank).tolist()])) if asking is column else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relations_module, "_TESTS_AT_ONCE", data.draw(st.sampled_from([1, 7, 2e6])))  # codes in several turns
        relation = relate(asking, column, null=null, queried_null=null, name="a")
    for code, cell in enumerate(asking.sets):
        wanted = [agree(cell, other) for other in column.sets]
        if null is not None:  # a null of its own agrees with blanks and itself
            wanted = [
                other is None if code == null else (cell is None if at == null else is_agreed)
                for at, (other, is_agreed) in enumerate(zip(column.sets, wanted, strict=True))
            ]
        assert relation.agrees(code).tolist() == wanted
        assert relation.spans[code] == sum(wanted)


@st.composite
def tables(draw: Any) -> tuple[list[Cells], np.ndarray]:
    width = draw(st.integers(1, 4))
    made = [draw(columns(draw(st.booleans()))) for _ in range(width)]
    size = draw(st.integers(1, 14))
    rows = draw(st.lists(st.tuples(*(st.integers(0, len(one.sets) - 1) for one in made)), min_size=size, max_size=size))
    return made, np.array(rows, dtype=np.int64).reshape(size, width)


@pytest.mark.parametrize("by_bits", [False, True])
@pytest.mark.parametrize("small", [1 << 16, 1])
@pytest.mark.parametrize("threads", ["1", "3"])
@given(tables(), st.data())
@settings(max_examples=50, deadline=None)
def test_counts_over_overlapping_cells_are_those_of_nested_loops(
    by_bits: bool, small: int, threads: str, table: tuple[list[Cells], np.ndarray], data: st.DataObject
) -> None:
    """Also by bits, where cells are numbered one by one (``small``) or queries counted in turns, and with several threads."""
    made, rows = table
    size, width = rows.shape
    plain = [all(one is not None and len(one) == 1 for one in column.sets) for column in made]
    plain = [flag and len({*column.sets}) == len(column.sets) for flag, column in zip(plain, made, strict=True)]
    relations = [
        Relation.equal(len(column.sets)) if flag else relate(column, column, null=None, queried_null=None, name="a")
        for flag, column in zip(plain, made, strict=True)
    ]
    codes = [one.place[rows[:, at]] for at, one in enumerate(relations)]
    asked = [rows[:, at] for at in range(width)]
    cards = [len(column.sets) for column in made]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_threads, "SMALL", small)
        patch.setattr(known_counts, "_TABLE_PER_RECORD", 0 if small == 1 else 2)
        patch.setattr(splitting, "_TABLE_LEAST", small)
        patch.setattr(splitting, "_TABLE_PER_MEMBER", 0 if small == 1 else 4)
        patch.setattr(bits, "_BYTES_PER_LEVEL", 24 if small == 1 else 1 << 20)
        patch.setattr(bits, "_FEW_CLASSES", 1)
        patch.setenv("DISCREET_THREADS", threads)
        tree = family([data.draw(st.sampled_from([0.3, 0.5, 1.0])) for _ in range(width)], 0.0, 100)
        one = RecordClass(None, size, codes, asked, cards, relations)
        one = RecordClass(*(getattr(one, name) for name in ("rows", "size")), [codes[at] for at in tree.order],
                          [asked[at] for at in tree.order], [cards[at] for at in tree.order],
                          [relations[at] for at in tree.order])  # fmt: skip
        counts = {}
        empty = np.zeros(size)
        queries = Queries(empty, empty, empty, np.zeros((size, 0)), [], *single_pattern(size))
        with BitCounter(one, queries) if by_bits else Counter([one], queries) as counter:

            def note(node: int, active: np.ndarray, found: np.ndarray) -> None:
                counts.update({(int(slot), tree.members(node)): int(found[slot]) for slot in active})

            counter.walk(tree, note)
            everything = counter.count_all(width)
    for row in range(size):
        for length in range(1, width + 1):
            for some in combinations(range(width), length):
                wanted = sum(
                    all(agree(made[at].sets[rows[row, at]], made[at].sets[rows[other, at]]) for at in some)
                    for other in range(size)
                )
                assert counts.get((row, some), 1) == wanted, (row, some)
        assert everything[row] == wanted
