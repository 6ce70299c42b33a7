"""The division of known sets between tables and shuffles: everything is counted once, where it can be, and in few shuffles."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.known_sets_spark import plan as known_plan
from discreet.engine.known_sets_spark.packing import packing
from discreet.engine.known_sets_spark.plan import Counting, Heavy, plan, room
from discreet.engine.spark.value_counts import Dictionary

NAMES = "abcdef"
ROWS = 1000


def dictionary(name: str, cardinality: int, most: float, wide: bool = False) -> Dictionary:
    """Values of which the first has this share of the rows."""
    first = int(most * ROWS)
    counts = np.full(cardinality, (ROWS - first) // max(cardinality - 1, 1), dtype=np.int64)
    counts[0] = first
    return Dictionary(name, pl.Series(range(cardinality - wide)), counts, False, wide)


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(1, 60), st.floats(0.02, 1.0), st.booleans()), min_size=6, max_size=6),
    st.integers(1, 500),
    st.integers(5, 600),
    st.integers(1, 30),
)
def test_every_set_is_counted_once_and_where_it_can_be(
    shapes: list[tuple[int, float, bool]], largest: int, rows: int, partitions: int
) -> None:
    found = {
        name: dictionary(name, cardinality + wide, most, wide)
        for name, (cardinality, most, wide) in zip(NAMES, shapes, strict=True)
    }
    sets = [one for width in range(5) for one in combinations(NAMES, width)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_plan, "LARGEST_TABLE", largest)
        patch.setattr(known_plan, "MOST_ROWS", rows)
        made = plan(sets, found, ROWS, partitions, lambda key, most: heavy(found, key, most))
        assert sorted([*made.tables, *(one for shuffle in made.shuffles for one in shuffle.sets)]) == list(range(len(sets)))
        for at in made.tables:
            assert room(sets[at], found) <= largest
        for shuffle in made.shuffles:
            for at in shuffle.sets:
                assert set(shuffle.key) <= set(sets[at])
                others = set(sets[at]) - set(shuffle.key)
                assert not shuffle.heavy or len(shuffle.heavy) * room(frozenset(others), found) <= max(
                    largest, len(shuffle.heavy)
                )


def heavy(found: dict[str, Dictionary], key: tuple[str, ...], most: int) -> Heavy:
    """The one value that may have more rows than that: the first of every attribute."""
    share = min(found[name].most for name in key)
    return (
        ((0,) * len(key),) if share > most and not all(found[name].wide and not len(found[name].values) for name in key) else ()
    )


def test_students_need_one_shuffle() -> None:
    sizes = {"gender": 2, "ethnicity": 6, "parish": 64, "school": 1280, "grade": 14}
    found = {name: dictionary(name, size, 1 / size) for name, size in sizes.items()}
    sets = [one for width in range(6) for one in combinations(sizes, width)]
    made: Counting = plan(sets, found, 1_000_000, 4, lambda *_: ())
    assert [shuffle.key for shuffle in made.shuffles] == [("school",)]
    assert all("school" in sets[at] for shuffle in made.shuffles for at in shuffle.sets)


@settings(max_examples=100)
@given(st.lists(st.integers(1, 1 << 20), min_size=1, max_size=12), st.integers(0, 2**32 - 1))
def test_codes_survive_their_packing(sizes: list[int], seed: int) -> None:
    found = {f"a{at}": Dictionary(f"a{at}", pl.Series(range(1)), np.ones(1), False, False) for at in range(len(sizes))}
    for (name, one), size in zip(found.items(), sizes, strict=True):
        object.__setattr__(one, "values", _Long(size))
        assert found[name].cardinality == size
    places = packing(found, list(found))
    random = np.random.default_rng(seed)
    codes = {name: random.integers(0, size, 9) for name, size in zip(found, sizes, strict=True)}
    words = places.pack(codes, 9)
    for name, own in codes.items():
        assert places.unpack(words, name).tolist() == own.tolist()


class _Long:
    """As many values as are asked for, without them."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size
