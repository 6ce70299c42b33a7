"""Each loop of the count over known sets, as it is compiled and with NumPy alone, against its definition."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.known_sets import kernels, small_kernels
from discreet.engine.known_sets.inputs import _mark

ROWS = 10
SEEDS = st.integers(0, 1 << 32)
UNTOUCHED = 77


def versions(name: str) -> list[Any]:
    return [getattr(kernels, name).function, getattr(small_kernels, name)]


@dataclass
class Lists:
    """Records and queries, each with a group and, by row or slot, a code; how many agree with each query."""

    rows: Any
    group: Any
    codes: Any
    cardinality: int
    groups: int
    queries: Any
    query_group: Any
    query_codes: Any
    counts: Any

    @property
    def records(self) -> list[tuple[int, int]]:
        """Row and key of each record."""
        rows = range(len(self.group)) if self.rows is None else self.rows.tolist()
        return [(row, int(group) * self.cardinality + int(self.codes[row])) for row, group in zip(rows, self.group, strict=True)]

    @property
    def asking(self) -> list[tuple[int, int]]:
        """Slot and key of each query."""
        return [
            (int(slot), int(group) * self.cardinality + int(self.query_codes[slot]))
            for slot, group in zip(self.queries, self.query_group, strict=True)
        ]


def draw_lists(random: np.random.Generator) -> Lists:
    groups, cardinality = random.integers(1, 4, 2).tolist()
    size, asking = random.integers(0, ROWS, 2).tolist()
    rows = None if random.random() < 0.5 else np.sort(random.permutation(ROWS)[:size]).astype(np.uint32)
    codes, query_codes = random.integers(0, cardinality, (2, ROWS)).astype(random.choice(["u1", "u4"]))
    queries = random.permutation(ROWS)[:asking].astype(np.uint32)
    return Lists(
        rows, random.integers(0, groups, size).astype(np.uint32), codes, cardinality, groups,
        queries, random.integers(0, groups, asking).astype(np.uint32), query_codes, random.integers(0, 4, ROWS).astype(np.int32),
    )  # fmt: skip


def draw_slice(random: np.random.Generator, size: int) -> tuple[int, int]:
    start, stop = sorted(random.integers(0, size + 1, 2).tolist())
    return start, stop


@settings(max_examples=50, deadline=None)
@given(SEEDS)
def test_records_of_a_slice_are_added_to_the_counts_of_their_keys_and_read_by_the_queries_of_a_slice(seed: int) -> None:
    random = np.random.default_rng(seed)
    lists = draw_lists(random)
    before = random.integers(0, 3, lists.groups * lists.cardinality).astype(np.int32)
    start, stop = draw_slice(random, len(lists.group))
    first, last = draw_slice(random, len(lists.queries))
    occurs = Counter(key for _, key in lists.records[start:stop])
    expected = [int(count) + occurs[key] for key, count in enumerate(before)]
    counted = lists.counts.tolist()
    for slot, key in lists.asking[first:last]:
        counted[slot] += expected[key]
    for count, read in zip(versions("count"), versions("read_counts"), strict=True):
        table, counts = before.copy(), lists.counts.copy()
        count(lists.rows, lists.group, lists.codes, lists.cardinality, table, start, stop)
        assert table.tolist() == expected
        read(lists.queries, lists.query_group, lists.query_codes, lists.cardinality, table, counts, first, last)
        assert counts.tolist() == counted


@settings(max_examples=50, deadline=None)
@given(SEEDS)
def test_keys_of_queries_that_are_not_alone_are_marked_numbered_and_kept(seed: int) -> None:
    random = np.random.default_rng(seed)
    lists = draw_lists(random)
    table = random.integers(0, 3, lists.groups * lists.cardinality).astype(np.int32)
    stay = [(slot, key) for slot, key in lists.asking if lists.counts[slot] > 1 and table[key] > 0]
    number = {key: at for at, key in enumerate(sorted({key for _, key in stay}))}
    for mark, name, keep in zip(versions("mark"), versions("number"), versions("keep_queries"), strict=True):
        own, marked = table.copy(), np.zeros(len(table), np.uint8)
        lookup = (lists.queries, lists.query_group, lists.query_codes, lists.cardinality, own, lists.counts)
        assert mark(*lookup, marked) == len(stay)
        assert np.flatnonzero(marked).tolist() == sorted(number)
        assert name(own, marked) == (len(number), sum(int(table[key]) for key in number))
        assert own.tolist() == [number.get(key, -1) + 1 for key in range(len(table))]
        slots, groups = np.full((2, ROWS), UNTOUCHED, np.uint32)
        keep(*lookup, slots, groups)
        rest = [UNTOUCHED] * (ROWS - len(stay))
        assert slots.tolist() == [slot for slot, _ in stay] + rest
        assert groups.tolist() == [number[key] for _, key in stay] + rest


@settings(max_examples=50, deadline=None)
@given(SEEDS)
def test_records_of_a_slice_in_numbered_groups_are_counted_and_written_from_a_place_on(seed: int) -> None:
    random = np.random.default_rng(seed)
    lists = draw_lists(random)
    keys = lists.groups * lists.cardinality
    table = (random.permutation(keys) + 1).astype(np.int32) * (random.random(keys) < random.choice([0.5, 1.0]))
    start, stop = draw_slice(random, len(lists.group))
    to = int(random.integers(0, 3))
    stay = [(row, int(table[key]) - 1) for row, key in lists.records[start:stop] if table[key]]
    arguments = (lists.rows, lists.group, lists.codes, lists.cardinality, table)

    def fill_untouched(written: list[int]) -> list[int]:
        """The output array as it should be: what was written at its place, and nothing changed around it."""
        return [UNTOUCHED] * to + written + [UNTOUCHED] * (ROWS - len(written))

    for staying, keep in zip(versions("staying"), versions("keep"), strict=True):
        assert staying(*arguments, start, stop) == len(stay)
        for with_rows in (True, False):
            rows, groups = np.full((2, to + ROWS), UNTOUCHED, np.uint32)
            keep(*arguments, rows if with_rows else None, groups, start, stop, to)
            assert rows.tolist() == fill_untouched([row for row, _ in stay] if with_rows else [])
            assert groups.tolist() == fill_untouched([group for _, group in stay])


@settings(max_examples=50, deadline=None)
@given(SEEDS)
def test_keys_are_numbered_group_by_group_as_they_first_occur_and_queries_without_records_have_none(seed: int) -> None:
    lists = draw_lists(np.random.default_rng(seed))
    numbers: dict[int, int] = {}
    for at in np.argsort(lists.group, kind="stable"):
        numbers.setdefault(lists.records[at][1], len(numbers))
    for sort, number_keys in zip(versions("sort_by_group"), versions("number_keys"), strict=True):
        order, begin = sort(lists.group, lists.groups)
        query_order, query_begin = sort(lists.query_group, lists.groups)
        new, query_new = np.full(len(lists.group), UNTOUCHED, np.uint32), np.full(len(lists.queries), -1, np.int64)
        keys = number_keys(
            lists.rows, lists.codes, order, begin, lists.queries, lists.query_codes, query_order, query_begin, lists.cardinality,
            new, query_new,
        )  # fmt: skip
        assert keys == len(numbers)
        assert new.tolist() == [numbers[key] for _, key in lists.records]
        assert query_new.tolist() == [numbers.get(key, -1) for _, key in lists.asking]


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_only_queries_that_are_not_alone_stay_active(seed: int) -> None:
    lists = draw_lists(np.random.default_rng(seed))
    stay = [slot for slot, _ in lists.asking if lists.counts[slot] > 1]
    for keep in versions("keep_not_alone"):
        active = np.full(ROWS, UNTOUCHED, np.uint32)
        assert keep(lists.queries, lists.counts, active) == len(stay)
        assert active.tolist() == stay + [UNTOUCHED] * (ROWS - len(stay))


@dataclass
class Terms:
    """Coefficients of a set by pattern, what each query would learn, and the sums before the set."""

    active: Any
    counts: Any
    pattern: Any
    coefficients: list[Any]
    weight: Any
    rest: Any
    single: Any
    member: Any
    chance: float
    node: int
    rank: Any
    sums: dict[str, Any]


def draw_terms(random: np.random.Generator, singles: int) -> Terms:
    """Best terms are often the set's own up to rounding, or differ by a little more than that."""
    chance, nodes = 0.5, 3
    counts = random.choice([1, 2, 4], ROWS).astype(np.int32)
    single = random.choice([0.0, 0.25, 0.5], (ROWS, singles))
    weight, member = single.sum(axis=1) + random.choice([0.25, 1.0], ROWS), random.random(singles) < 0.5
    near_ties = 1 + random.choice([-0.5, -1e-11, -4e-13, 0.0, 4e-13, 1e-11, 1.0], (2, ROWS))
    sums = {
        "near": random.random(ROWS),
        "far": random.random(ROWS),
        "likelihood": chance / counts * near_ties[0],
        "top": chance / counts * (weight - single[:, member].sum(axis=1)) * near_ties[1],
        "top_node": random.integers(0, nodes, ROWS),
    }
    return Terms(
        random.permutation(ROWS)[: random.integers(0, ROWS)].astype(np.uint32), counts, random.integers(0, 2, ROWS),
        [random.random((2, 1 + singles)) for _ in range(4)], weight, random.random(ROWS) / 8, single, member, chance,
        int(random.integers(0, nodes)), random.permutation(nodes), sums,
    )  # fmt: skip


def is_new_best(part: float, best: float, terms: Terms, top_node: int) -> bool:
    """Whether a term is larger than the best, or equal up to rounding and of a set that stands earlier in the table."""
    if abs(part - best) <= best * 1e-12:
        return bool(terms.rank[terms.node] < terms.rank[top_node])
    return part > best


@settings(max_examples=50, deadline=None)
@given(SEEDS)
def test_a_set_adds_its_chance_over_the_count_and_the_whole_subtree_where_a_query_is_alone(seed: int) -> None:
    random = np.random.default_rng(seed)
    terms = draw_terms(random, 0)
    start, stop = draw_slice(random, len(terms.active))
    expected = {name: values.tolist() for name, values in terms.sums.items()}
    for slot in terms.active[start:stop].tolist():
        kept, whole, kept_below, whole_below = (one[terms.pattern[slot], 0] for one in terms.coefficients)
        count = int(terms.counts[slot])
        expected["near"][slot] += kept_below if count == 1 else kept / count
        expected["far"][slot] += whole_below if count == 1 else whole / count
        part = terms.chance / count
        if is_new_best(part, expected["likelihood"][slot], terms, expected["top_node"][slot]):
            expected["top_node"][slot] = terms.node
        expected["likelihood"][slot] = max(expected["likelihood"][slot], part)
    for add in versions("add_plain"):
        sums = {name: values.copy() for name, values in terms.sums.items()}
        add(
            terms.active, terms.counts, terms.pattern, *terms.coefficients, terms.chance, terms.node, terms.rank,
            sums["near"], sums["far"], sums["likelihood"], sums["top_node"], start, stop,
        )  # fmt: skip
        for name, values in sums.items():
            assert values.tolist() == pytest.approx(expected[name], rel=1e-14, abs=0), name


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(0, 3))
def test_a_set_adds_what_its_members_do_not_tell_and_the_whole_subtree_where_a_query_is_alone(seed: int, singles: int) -> None:
    random = np.random.default_rng(seed)
    terms = draw_terms(random, singles)
    start, stop = draw_slice(random, len(terms.active))
    expected = {name: values.tolist() for name, values in terms.sums.items()}
    for slot in terms.active[start:stop].tolist():
        kept, whole, kept_below, whole_below = (one[terms.pattern[slot]] for one in terms.coefficients)
        count, weights = int(terms.counts[slot]), terms.single[slot]
        near, far = (kept_below, whole_below) if count == 1 else (kept, whole)
        expected["near"][slot] += (near[0] * terms.weight[slot] + near[1:] @ weights) / count
        expected["far"][slot] += (far[0] * (terms.weight[slot] - terms.rest[slot]) + far[1:] @ weights) / count
        expected["likelihood"][slot] = max(expected["likelihood"][slot], terms.chance / count)
        part = terms.chance / count * (terms.weight[slot] - weights[terms.member].sum())
        if is_new_best(part, expected["top"][slot], terms, expected["top_node"][slot]):
            expected["top"][slot], expected["top_node"][slot] = part, terms.node
    for add in versions("add"):
        sums = {name: values.copy() for name, values in terms.sums.items()}
        add(
            terms.active, terms.counts, terms.pattern, terms.weight, terms.rest, terms.single, *terms.coefficients, terms.member,
            terms.chance, terms.node, terms.rank, sums["near"], sums["far"], sums["likelihood"], sums["top"], sums["top_node"],
            start, stop,
        )  # fmt: skip
        for name, values in sums.items():
            assert values.tolist() == pytest.approx(expected[name], rel=1e-14, abs=0), name


@given(st.lists(st.integers(0, 3), max_size=8), st.lists(st.booleans(), min_size=4, max_size=4))
def test_records_with_a_heavy_value_are_flagged_and_flags_of_other_attributes_stay(codes: list[int], heavy: list[bool]) -> None:
    for mark in (_mark.function, small_kernels.mark_heavy):  # type: ignore[attr-defined]
        flags = np.array([at == 1 for at in range(len(codes))], dtype=np.bool_)
        mark(np.array(codes, dtype=np.uint8), np.array(heavy), flags)
        assert flags.tolist() == [heavy[code] or at == 1 for at, code in enumerate(codes)]
