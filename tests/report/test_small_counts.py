"""No hidden count of a public report can be computed, even by a reader who knows the program: checked on all small tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.report.small_counts import (
    MIN_SHOWN_COUNT,
    Range,
    chart_height,
    format_count,
    hide_in_table,
    hide_nested,
    is_small,
    running_sums,
)


def check_tables(tables: Iterable[tuple[int, ...]], total: Range | None = None) -> None:
    """Group tables by their public form: within each group a hidden count must still be anything from one to four."""
    tables_by_form: dict[tuple[int | str, ...], list[tuple[int, ...]]] = defaultdict(list)
    for counts in tables:
        tables_by_form[tuple(format_count(cell) for cell in hide_in_table(counts, total))].append(counts)
    for shown, candidates in tables_by_form.items():
        for index, cell in enumerate(shown):
            values = {counts[index] for counts in candidates}
            if cell == "<5":
                assert values == {1, 2, 3, 4}, (shown, candidates)
            elif isinstance(cell, int):
                assert values == {cell}
            elif cell != "not shown":
                low, high = map(int, cell.split(" to "))
                assert len(values) >= 3
                assert values <= set(range(low, high + 1))


@pytest.mark.parametrize(("cells", "most"), [(1, 40), (2, 40), (3, 34), (4, 18)])
def test_no_small_count_can_be_computed_from_the_others_and_the_total(cells: int, most: int) -> None:
    for total in range(most):
        check_tables(
            (*counts, total - sum(counts)) for counts in product(range(total + 1), repeat=cells - 1) if sum(counts) <= total
        )


def test_no_small_count_can_be_computed_where_the_total_is_a_range() -> None:
    for total in range(0, 30, 3):
        known = Range(total + 1, total + 4)
        check_tables((counts for counts in product(range(total + 5), repeat=3) if sum(counts) in known), known)


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
    shown = hide_nested({str(index): count for index, count in enumerate(counts)}, Range(total, total), sums)
    exact = [cell for cell in shown.values() if isinstance(cell, int)]
    for count in exact:
        for known in [*exact, total, *(known_sum.low for known_sum in sums if known_sum.exact)]:
            assert count == 0 or not is_small(abs(count - known))
    for index, count in enumerate(counts):
        cell = shown[str(index)]
        assert cell == count if isinstance(cell, int) else cell is not None and count in cell


def test_a_range_is_drawn_at_its_midpoint() -> None:
    assert [chart_height(cell) for cell in (0, 7, "<5", "1,200 to 1,203", "not shown", None)] == [
        0.0,
        7.0,
        2.5,
        1201.5,
        None,
        None,
    ]
    assert MIN_SHOWN_COUNT == 5
