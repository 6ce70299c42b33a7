"""No hidden count of a public report can be computed, also by a reader who knows the program: tried on all small tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.report.small_counts import (
    LEAST,
    Range,
    height_of,
    hide_in_table,
    hide_nested,
    is_small,
    running_sums,
    text_of,
)


def look_through(tables: Iterable[tuple[int, ...]], total: Range | None = None) -> None:
    """Group tables by what is shown of them: in each group a hidden count may still be anything from one to four."""
    alike: dict[tuple[int | str, ...], list[tuple[int, ...]]] = defaultdict(list)
    for counts in tables:
        alike[tuple(text_of(cell) for cell in hide_in_table(counts, total))].append(counts)
    for shown, behind in alike.items():
        for at, cell in enumerate(shown):
            values = {counts[at] for counts in behind}
            if cell == "<5":
                assert values == {1, 2, 3, 4}, (shown, behind)
            elif isinstance(cell, int):
                assert values == {cell}
            elif cell != "not shown":
                low, high = map(int, cell.split(" to "))
                assert len(values) >= 3
                assert values <= set(range(low, high + 1))


@pytest.mark.parametrize(("cells", "most"), [(1, 40), (2, 40), (3, 34), (4, 18)])
def test_no_small_count_follows_from_the_others_and_the_total(cells: int, most: int) -> None:
    for total in range(most):
        look_through(
            (*counts, total - sum(counts)) for counts in product(range(total + 1), repeat=cells - 1) if sum(counts) <= total
        )


def test_no_small_count_follows_where_the_total_itself_is_a_range() -> None:
    for total in range(0, 30, 3):
        known = Range(total + 1, total + 4)
        look_through((counts for counts in product(range(total + 5), repeat=3) if sum(counts) in known), known)


@given(st.lists(st.integers(0, 400), min_size=1, max_size=8))
def test_no_count_below_five_is_shown(counts: list[int]) -> None:
    for count, cell in zip(counts, hide_in_table(counts), strict=True):
        if isinstance(cell, int):
            assert cell == count
            assert not is_small(cell)
        elif cell is not None:
            assert count in cell


@given(st.lists(st.integers(0, 300), min_size=2, max_size=6), st.lists(st.integers(0, 300), min_size=1, max_size=5))
def test_no_difference_of_shown_counts_is_small(cells: list[int], counts: list[int]) -> None:
    total = max(sum(cells), *counts)
    sums = running_sums(hide_in_table(cells))
    shown = hide_nested({str(at): count for at, count in enumerate(counts)}, Range(total, total), sums)
    exact = [cell for cell in shown.values() if isinstance(cell, int)]
    for one in exact:
        for other in [*exact, total, *(known.low for known in sums if known.exact)]:
            assert one == 0 or not is_small(abs(one - other))
    for at, count in enumerate(counts):
        cell = shown[str(at)]
        assert cell == count if isinstance(cell, int) else cell is not None and count in cell


def test_a_range_in_words_is_drawn_at_its_middle() -> None:
    assert [height_of(cell) for cell in (0, 7, "<5", "1,200 to 1,203", "not shown", None)] == [0.0, 7.0, 2.5, 1201.5, None, None]
    assert LEAST == 5
