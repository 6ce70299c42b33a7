"""The recodings to start from: with many keys they take long, so that they must end in time."""

from __future__ import annotations

import time

import numpy as np

from discreet.selection.proposals import add_missing_hierarchies
from discreet.selection.recodings import _count_different, greedy_recodings
from discreet.selection.space.build import build_space
from discreet.testing import table


def test_recodings_end_at_their_deadline_with_the_levels_so_far() -> None:
    rng = np.random.default_rng(1)
    keys = [f"key {number}" for number in range(5)]
    data = table({name: rng.integers(0, 12, 2000).tolist() for name in keys}, key=keys)
    data = data.with_policy(data.policy.with_(limits={"k_anonymity.k": 5}))
    data = data.with_policy(add_missing_hierarchies(data))
    space = build_space(data)
    every = greedy_recodings(data, space.keys, space.heights, 5)
    assert every[-1]
    assert greedy_recodings(data, space.keys, space.heights, 5, deadline=time.monotonic() + 600) == every
    assert greedy_recodings(data, space.keys, space.heights, 5, deadline=time.monotonic() - 1) == [{}]


def test_different_numbers_are_counted_as_by_sorting() -> None:
    rng = np.random.default_rng(2)
    for size in (1, 7, 1000):
        numbers = rng.integers(0, 1 << 63, 50, dtype=np.uint64)[rng.integers(0, 50, size)]
        assert _count_different(numbers) == len(np.unique(numbers))
