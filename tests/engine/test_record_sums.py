"""Sums per query that are put together from parts, and given to the records that ask the same."""

from __future__ import annotations

import numpy as np

from discreet.engine.known_sets.risk_sums import RecordSums

FIELDS = ("risk", "lower", "upper", "top", "top_node", "likelihood", "count_all", "kept_mass", "whole_mass")


def make_sums(numbers: list[int], visited: int) -> RecordSums:
    """Sums that differ in every field."""
    columns = [np.array(numbers) + 100 * at for at in range(len(FIELDS))]
    sums = RecordSums.empty(len(numbers))
    for name, column in zip(FIELDS, columns, strict=True):
        getattr(sums, name)[:] = column
    sums.visited = visited
    return sums


def test_parts_fill_their_own_slots_and_the_longest_walk_counts() -> None:
    whole = RecordSums.empty(5)
    assert whole.visited == 0
    whole.fill(np.array([3, 0]), make_sums([7, 8], 4))
    whole.fill(np.array([2]), make_sums([9], 3))
    assert whole.visited == 4
    for at, name in enumerate(FIELDS):
        assert getattr(whole, name).tolist() == [100 * at + 8, 0, 100 * at + 9, 100 * at + 7, 0], name


def test_each_record_gets_the_sums_of_the_one_it_asks_like() -> None:
    spread = make_sums([7, 8], 4).spread(np.array([1, 0, 1]))
    assert spread.visited == 4
    for at, name in enumerate(FIELDS):
        assert getattr(spread, name).tolist() == [100 * at + 8, 100 * at + 7, 100 * at + 8], name
