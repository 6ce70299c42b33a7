"""Counts over overlapping cells against nested loops over records and sets of values."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
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
def columns(draw: Any, runs: bool, numbers: st.SearchStrategy[int] | None = None, empty: bool = False) -> Cells:
    """Cells of at most so many values; with ``empty`` also cells without any, such as ``3..3``."""
    number = draw(st.integers(1, 8) if numbers is None else numbers)
    atoms = st.integers(0, number - 1)
    if runs:
        cell = st.tuples(atoms, atoms).map(lambda ends: frozenset(range(min(ends), max(ends) + 1)))
    else:
        cell = st.frozensets(atoms, min_size=1)
    of_a_code = [st.none(), cell, atoms.map(lambda one: frozenset({one})), *[st.just(frozenset())] * empty]
    sets = draw(st.lists(st.one_of(of_a_code), min_size=1, max_size=10))
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


@given(st.booleans().flatmap(lambda runs: columns(runs, empty=True)), st.data())
@settings(max_examples=200, deadline=None)
def test_a_relation_holds_exactly_the_cells_that_share_a_value(column: Cells, data: st.DataObject) -> None:
    """Of a column with itself, where an empty cell agrees with itself, with true values, and with another column."""
    asking = column
    who = data.draw(st.sampled_from(["the column itself", "true values", "another column"]))
    if who == "true values":
        asking = Cells.of(column.number, [frozenset({atom}) for atom in range(column.number)])
    elif who == "another column":  # whose cells may hold values that no searched cell holds, and the other way round
        asking = data.draw(columns(data.draw(st.booleans()), st.just(column.number), empty=True))
    null = data.draw(st.sampled_from([None, *np.flatnonzero(column.blank).tolist()])) if asking is column else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relations_module, "_TESTS_AT_ONCE", data.draw(st.sampled_from([1, 7, 2e6])))  # codes in several turns
        # cells compared one by one, and looked up under the positions of a query
        patch.setattr(relations_module, "_STEPS_PER_TEST", data.draw(st.sampled_from([-1, 4, 10**9])))
        patch.setattr(relations_module, "_FEW_CODES", data.draw(st.sampled_from([1, 64])))
        relation = relate(asking, column, null=null, queried_null=null, name="a")
    inside = (relation.begin >= 0) & (relation.begin < relation.end) & (relation.end <= len(relation.place))
    assert inside.all(), "a run is empty, which takes time and memory, or was not written"
    runs = np.stack([relation.begin, relation.end], axis=1)
    for code, cell in enumerate(asking.sets):
        own = runs[relation.starts[code] : relation.starts[code + 1]].tolist()
        assert len({place for begin, end in own for place in range(begin, end)}) == relation.spans[code], "runs overlap"
        wanted = [agree(cell, other) or (asking is column and at == code) for at, other in enumerate(column.sets)]
        if null is not None:  # a null of its own agrees with blanks and itself
            wanted = [
                other is None if code == null else (cell is None if at == null else is_agreed)
                for at, (other, is_agreed) in enumerate(zip(column.sets, wanted, strict=True))
            ]
        assert relation.agrees(code).tolist() == wanted
        assert relation.spans[code] == sum(wanted)


def test_labels_of_many_groups_are_looked_up_value_by_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """30,000 labels of schools were compared pair by pair, which took 47 of 56 s of a measurement."""
    rng = np.random.default_rng(2)
    sets: list[frozenset[int] | None] = [frozenset(rng.choice(500, 4, replace=False).tolist()) for _ in range(300)]
    column = Cells.of(500, sets)
    monkeypatch.setattr(relations_module, "_relate", lambda *_: pytest.fail("pairs were compared"))
    relation = relate(column, column, null=None, queried_null=None, name="a")
    for code in range(0, 300, 29):
        assert relation.agrees(code).tolist() == [agree(sets[code], other) for other in sets]


@pytest.mark.parametrize(
    "sets",
    [
        [frozenset({*range(998), 999}), frozenset({*range(1, 999), 1000})],  # each query would read 2 x 999 cells instead of 2
        [*(frozenset({value}) for value in range(1001)), frozenset({0, 5})],  # and 1,002 flags instead of one cell
    ],
    ids=["large cells", "many plain values"],
)
def test_few_coarse_cells_are_compared_one_by_one(sets: list[frozenset[int] | None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking up the cells that agree under each value of a query takes longer then."""
    column = Cells.of(1001, sets)
    monkeypatch.setattr(relations_module, "_relate_by_holders", lambda *_: pytest.fail("cells were looked up value by value"))
    relation = relate(column, column, null=None, queried_null=None, name="a")
    for code in (0, 1, len(sets) - 1):
        assert relation.agrees(code).tolist() == [agree(sets[code], other) for other in sets]


def test_kinds_of_a_frequent_number_of_records_have_words_of_their_own() -> None:
    """200 kinds of 5 records, 64 of 3 and 73 of rarer numbers: the bits of the first two are counted once, not per digit."""
    sizes = np.random.default_rng(4).permutation([5] * 200 + [3] * 64 + [4] * 63 + list(range(10, 20)))
    bit, ends, numbers = bits._place_kinds(sizes)
    assert numbers.tolist() == [3, 5]
    assert ends.tolist() == [1, 5]
    assert len(set(bit.tolist())) == len(bit), "two kinds have one bit"
    for end, begin, number in zip(ends, [0, *ends[:-1]], numbers, strict=True):
        inside = (bit >= 64 * begin) & (bit < 64 * end)
        assert set(sizes[inside].tolist()) == {number}
    rare = (sizes == 4) | (sizes >= 10)
    assert sorted(bit[rare]) == list(range(64 * ends[-1], 64 * ends[-1] + 73)), "the words of rare numbers have gaps"


@pytest.mark.parametrize(("records", "words"), [(0, 0), (1, 1), (64, 1), (65, 2)])
def test_each_64_kinds_of_records_take_one_word_of_bits_and_no_records_none(records: int, words: int) -> None:
    codes, empty = np.arange(records), np.zeros(records)
    one = RecordClass(None, records, [codes], [codes], [records], [Relation.equal(records)])
    queries = Queries(empty, empty, empty, np.zeros((records, 0)), [], *single_pattern(records))
    with BitCounter(one, queries) as counter:
        assert counter.words == words
        assert counter.count_all(1).tolist() == [1] * records


@st.composite
def tables(draw: Any) -> tuple[list[Cells], np.ndarray]:
    width = draw(st.integers(1, 4))
    made = [draw(columns(draw(st.booleans()))) for _ in range(width)]
    size = draw(st.integers(1, 14))
    rows = draw(st.lists(st.tuples(*(st.integers(0, len(one.sets) - 1) for one in made)), min_size=size, max_size=size))
    return made, np.array(rows, dtype=np.int64).reshape(size, width)


@pytest.mark.parametrize("small", [1 << 16, 1])
@given(tables())
@settings(max_examples=50, deadline=None)
def test_records_that_agree_with_no_query_but_those_found_alone_are_not_counted_again(
    small: int, table: tuple[list[Cells], np.ndarray]
) -> None:
    """Else every set below would count them, which costs time and changes no number. ``small``: cells are numbered one by one."""
    (column, *_), rows = table
    size, asked = len(rows), rows[:, 0]
    cells = [column.sets[code] for code in asked]
    relation = relate(column, column, null=None, queried_null=None, name="a")
    assume(not relation.is_equal)
    own = RecordClass(None, size, [relation.place[asked]], [asked], [len(column.sets)], [relation])
    empty = np.zeros(size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_threads, "SMALL", small)
        patch.setattr(known_counts, "_TABLE_PER_RECORD", 0 if small == 1 else 2)
        with Counter([own], Queries(empty, empty, empty, np.zeros((size, 0)), [], *single_pattern(size))) as counter:
            (split,) = counter.split(counter.begin(), 0, np.arange(size, dtype=np.uint32), None, True)
            left = counter.descend(split)
    agreeing = [{other for other in range(size) if agree(cell, cells[other])} for cell in cells]
    asking = [query for query in range(size) if len(agreeing[query]) > 1]
    staying = sorted({record for query in asking for record in agreeing[query]})
    assert left.queries.tolist() == asking
    assert (list(range(size)) if left.rows is None else left.rows.tolist()) == staying
    assert left.groups == len({asked[record] for record in staying})
    group_of = dict(zip(staying, left.group.tolist(), strict=True))
    assert left.links is not None
    assert len(left.links.starts) == len({asked[query] for query in asking}) + 1
    for query, number in zip(left.queries, left.query_groups, strict=True):
        linked = left.links.groups[left.links.starts[number] : left.links.starts[number + 1]]
        assert sorted(linked) == sorted({group_of[record] for record in agreeing[query]})


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
        patch.setattr(bits, "_LEAST_KINDS", data.draw(st.sampled_from([1, 2, 64])))
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
