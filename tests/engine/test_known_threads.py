"""Loops over slices on several threads do what one loop over the list does."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.known_sets import small_kernels
from discreet.engine.known_sets import threads as known_threads
from discreet.engine.known_sets.threads import KernelThreads

NUMBERS = st.integers(1, 4)


def divide(slices: list[tuple[int, int]], size: int) -> bool:
    """Whether each slice begins where another ends, so that all together they are the list."""
    starts, stops = zip(*sorted(slices), strict=True)
    return (*starts, size) == (0, *stops)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 20), NUMBERS, st.integers(0, 8), st.booleans())
def test_slices_are_equal_and_cover_a_list_once(size: int, number: int, least: int, by_default: bool) -> None:
    slices: list[tuple[int, int]] = []
    with pytest.MonkeyPatch.context() as patch, KernelThreads(number) as threads:
        patch.setattr(known_threads, "SMALL", least if by_default else 0)
        threads.run_slices(
            lambda own, start, stop: own.append((start, stop)), size, slices, **({} if by_default else {"least": least})
        )
    assert len(slices) == (number if size > least else 1)
    assert divide(slices, size)
    lengths = [stop - start for start, stop in slices]
    assert max(lengths) - min(lengths) <= 1


@settings(max_examples=15, deadline=None)
@given(NUMBERS, st.lists(st.tuples(st.integers(0, 200), st.integers(1, 3)), min_size=1, max_size=4), st.booleans())
def test_each_table_of_counts_begins_at_zero_whatever_was_counted_before(
    number: int, lists: list[tuple[int, int]], several: bool
) -> None:
    slices: list[tuple[int, int]] = []

    def count(*arguments: Any) -> None:
        slices.append(arguments[-2:])
        small_kernels.count(*arguments)

    random = np.random.default_rng(0)
    with pytest.MonkeyPatch.context() as patch, KernelThreads(number) as threads:
        patch.setattr(known_threads, "SMALL", 1 if several else 1 << 16)
        for size, cardinality in lists:
            group, codes, keys = random.integers(0, 4, size).astype(np.uint32), np.arange(size) % cardinality, 4 * cardinality
            slices.clear()
            counts = threads.count_keys(count, None, group, codes, cardinality, keys)
            assert counts.tolist() == np.bincount(group * np.int64(cardinality) + codes, minlength=keys).tolist()
            assert divide(slices, size)
            assert len(slices) == (number if several and keys * number <= size // 4 else 1), "a table of every thread is worth it"


@settings(max_examples=15, deadline=None)
@given(NUMBERS, st.lists(st.booleans(), max_size=20), st.booleans())
def test_members_that_stay_are_packed_in_order_without_gaps(number: int, stays: list[bool], all_stay: bool) -> None:
    stays = [True] * len(stays) if all_stay else stays
    packed = [-1] * sum(stays)
    slices: list[tuple[int, int]] = []

    def pack(start: int, stop: int, to: int) -> None:
        slices.append((start, stop))
        own = [at for at in range(start, stop) if stays[at]]
        packed[to : to + len(own)] = own

    with pytest.MonkeyPatch.context() as patch, KernelThreads(number) as threads:
        patch.setattr(known_threads, "SMALL", 1)
        begin = None if all_stay else threads.count_staying(lambda start, stop: sum(stays[start:stop]), len(stays))
        assert begin is None or begin[-1] == sum(stays)
        threads.pack_slices(pack, len(stays), begin)
    assert packed == [at for at, stay in enumerate(stays) if stay]
    assert divide(slices, len(stays))


def test_threads_work_at_once_until_they_are_closed_and_hand_on_what_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_THREADS", "2")
    before = set(threading.enumerate())
    together = threading.Barrier(2, timeout=60)

    def meet(_start: int, _stop: int) -> None:
        together.wait()

    def fail(*_: Any) -> None:
        raise ZeroDivisionError

    with KernelThreads() as threads:
        assert threads.number == 2
        threads.run_slices(meet, 2, least=1)
        with pytest.raises(ZeroDivisionError):
            threads.run_slices(fail, 2, least=1)
    assert set(threading.enumerate()) <= before
    with KernelThreads(1) as alone:
        own: list[int] = []
        alone.run_slices(lambda _start, _stop: own.append(threading.get_ident()), 3, least=1)
        assert own == [threading.get_ident()]
        assert set(threading.enumerate()) <= before
    KernelThreads(2).run_slices(lambda *at: own.extend(at), 3, least=1)
    assert own[1:] == [0, 1, 1, 3], "one slice after the other where no threads were started"
