"""Keyed randomness: draws depend on the record, not on its row, and are random otherwise."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.engine.draws.draw import KeyedDraw

MANY = np.arange(200_000)


@given(st.integers(0, 2**40), st.integers(0, 50), st.permutations(range(12)))
def test_a_draw_depends_on_seed_step_stream_and_record_alone(seed: int, step: int, shuffled: list[int]) -> None:
    draw, order = KeyedDraw(seed, step), np.array(shuffled)
    records = np.arange(12)
    assert (draw.uniform(records[order], "s") == draw.uniform(records, "s")[order]).all()
    assert (draw.normal(records[order]) == draw.normal(records)[order]).all()
    assert (records[order][draw.order(records[order])] == records[draw.order(records)]).all()
    others = [
        KeyedDraw(seed + 1, step).uniform(records, "s"),
        KeyedDraw(seed, step + 1).uniform(records, "s"),
        draw.uniform(records, "t"),
    ]
    assert all((other != draw.uniform(records, "s")).any() for other in others)


def test_uniform_numbers_are_uniform_and_streams_are_independent() -> None:
    first_stream, second_stream = KeyedDraw(1).uniform(MANY), KeyedDraw(1).uniform(MANY, "other")
    counts = np.histogram(first_stream, bins=20, range=(0, 1))[0]
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 50  # chi-squared with 19 degrees of freedom: one in 10,000
    assert abs(np.corrcoef(first_stream, second_stream)[0, 1]) < 0.01
    assert abs(np.corrcoef(first_stream[1:], first_stream[:-1])[0, 1]) < 0.01


def test_normal_numbers_are_normal() -> None:
    drawn = KeyedDraw(1).normal(MANY)
    assert abs(drawn.mean()) < 0.01
    assert abs(drawn.std() - 1) < 0.01
    assert abs((drawn**4).mean() - 3) < 0.1


def test_an_order_contains_every_record_once() -> None:
    assert sorted(KeyedDraw(3).order(np.arange(1000))) == list(range(1000))
