"""The search for one record's bounds against a sum over every set of attributes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.known_sets.agreement_masks import AgreementMasks, merge_masks
from discreet.risks.known_sets.measure import KnownSets
from discreet.risks.known_sets.record_search import _PreparedSearch

CHANCES = st.sampled_from([0.001, 0.05, 0.3, 0.8, 1.0])
WEIGHTS = st.sampled_from([0.0, 0.0, 0.2, 1.0])


def sum_every_set(masks: list[int], chances: list[float], weights: list[float], learnt: float) -> float:
    """The definition: each set's probability times what is left to learn, over the number of masks that contain the set."""
    total = 0.0
    for size in range(len(chances) + 1):
        for chosen in itertools.combinations(range(len(chances)), size):
            bits = sum(1 << bit for bit in chosen)
            count = sum(mask & bits == bits for mask in masks)
            total += math.prod(chances[bit] for bit in chosen) * (learnt - sum(weights[bit] for bit in chosen)) / count
    return total


@settings(deadline=None, max_examples=150)
@given(st.data(), st.integers(1, 10), st.integers(1, 12), st.sampled_from([0.0, 1e-3, 0.1, 10.0]), st.sampled_from([1, 5, 10**6]))
def test_bounds_contain_the_sum_and_are_exact_where_nothing_is_allowed(
    draw: st.DataObject, width: int, height: int, allowed: float, most: int
) -> None:
    chances = [draw.draw(CHANCES) for _ in range(width)]
    weights = [draw.draw(WEIGHTS) for _ in range(width)]
    masks = [(1 << width) - 1, *(draw.draw(st.integers(0, (1 << width) - 1)) for _ in range(height - 1))]
    learnt = sum(weights) + draw.draw(st.sampled_from([0.0, 0.5]))
    table = AgreementMasks(np.array(masks, np.int64), np.ones(height, np.int64), np.arange(width))
    search = _PreparedSearch(table, np.array(chances), np.array(weights), learnt)
    low, high, visited = search.bounds(allowed, most)
    whole = sum_every_set(masks, chances, weights, learnt)
    assert low <= whole * (1 + 1e-9) + 1e-12
    assert high >= whole * (1 - 1e-9) - 1e-12
    if most > 5 and (allowed == 0 or height == 1):
        assert high - low <= 1e-9 * whole + 1e-12
    assert most > 5 or visited <= most + 2**width


@given(st.lists(st.tuples(st.integers(0, 2**62 - 1) | st.integers(0, 3), st.integers(1, 4)), max_size=40))
def test_merged_masks_are_counted_with_their_multiplicities(pairs: list[tuple[int, int]]) -> None:
    masks, times = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    distinct, merged = np.empty(len(pairs), np.int64), np.empty(len(pairs), np.int64)
    number = merge_masks(masks, times, distinct, merged)
    expected: dict[int, int] = {}
    for mask, multiplicity in pairs:
        expected[mask] = expected.get(mask, 0) + multiplicity
    assert dict(zip(distinct[:number].tolist(), merged[:number].tolist(), strict=True)) == expected


@pytest.mark.parametrize("seconds", [1e-9, 60.0])
def test_narrowing_ends_with_its_time_and_says_so(seconds: float) -> None:
    rng = np.random.default_rng(3)
    columns = {f"x{at}": rng.integers(0, 3, 60).astype(str) for at in range(8)}
    attributes = {name: {"known": 0.4, "sensitivity": 1.0} for name in columns}
    data = Microdata(pl.DataFrame(columns), Policy.from_dict({"attributes": attributes}))
    score = KnownSets(epsilon=0.3, tolerance=1e-6, seconds=seconds).measure(data)
    assert any("when the time limit was reached" in str(note) for note in score.notes) == (seconds < 1)
    assert (score["widest"] > 1e-6) == (seconds < 1)
