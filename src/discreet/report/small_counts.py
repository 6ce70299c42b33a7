"""Counts in a public report: a count from one to four is shown as "<5", and cannot be computed from the other counts.

This is primary and complementary suppression. The total of a table of counts is often known. Where the table has a small count,
one of its large cells is therefore shown as a range: all numbers that are possible given the total while every small count may be
anything from one to four. The range follows from what is shown already, so it reveals nothing more. Where no cell is large
enough, no cell of the table is shown.

Counts of records that are not cells of one table (records above a threshold, sample uniques) are compared with every sum that a
reader can compute, and shown as a range where the difference would be a small count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MIN_SHOWN_COUNT = 5
"""A count below this is not shown."""
NOT_SHOWN = "not shown"
_RANGE = re.compile(r"([\d,]+) to ([\d,]+)")


@dataclass(frozen=True)
class Range:
    """The integers from ``low`` to ``high``, both included."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"<{MIN_SHOWN_COUNT}" if (self.low, self.high) == (1, MIN_SHOWN_COUNT - 1) else f"{self.low:,} to {self.high:,}"

    def __contains__(self, value: int) -> bool:
        return self.low <= value <= self.high

    @property
    def exact(self) -> bool:
        """Whether it contains a single number."""
        return self.low == self.high


SMALL = Range(1, MIN_SHOWN_COUNT - 1)
PublicCount = int | Range | None
"""A count in a public report: exact, a range, or not shown."""


def is_small(count: int) -> bool:
    """Whether a count must not be shown."""
    return 0 < count < MIN_SHOWN_COUNT


def hide_small(count: int) -> PublicCount:
    """The public form of a count that is not part of a table."""
    return SMALL if is_small(count) else count


def hide_in_table(counts: Sequence[int], total: Range | None = None) -> list[PublicCount]:
    """The public form of the cells of one table whose total the reader knows (default: exactly their sum).

    Which cell becomes the range must not depend on the hidden numbers, or the choice itself would reveal them. Cells are
    therefore tried in their order: a cell is chosen if its range is high enough whatever the small counts are, skipped if it is
    too low whatever they are, and shown as a fixed range in between.

    >>> [str(cell) for cell in hide_in_table([2, 30, 400, 0])]
    ['<5', '28 to 31', '400', '0']
    >>> hide_in_table([2, 6])
    [None, None]
    """
    known = total or Range(sum(counts), sum(counts))
    small = sum(map(is_small, counts))
    if not small and known.exact:
        return list(counts)
    slack = (MIN_SHOWN_COUNT - 2) * small + known.high - known.low  # width of the possible values of the sum of the other cells
    lowest, safe = MIN_SHOWN_COUNT + slack, MIN_SHOWN_COUNT + 2 * slack
    shown: list[PublicCount] = [SMALL if is_small(count) else count for count in counts]
    # the sum of the cells hidden so far, at most and at least
    high, low = (MIN_SHOWN_COUNT - 1) * small, small
    rest = sum(count for count in counts if not is_small(count))
    for index, count in enumerate(counts):
        if count < lowest:
            continue
        rest -= count
        possible = Range(known.low - rest - high, known.high - rest - low)
        if possible.low >= safe:
            shown[index] = possible
            return shown
        fixed = Range(lowest, safe - 1 + slack + (high - low - (MIN_SHOWN_COUNT - 2) * small))
        shown[index] = fixed
        high, low = high + fixed.high, low + fixed.low
    return [None] * len(counts)


def running_sums(cells: Sequence[PublicCount]) -> list[Range]:
    """The sums of the first cells and of the last cells of a table, as far as they can be computed from the shown cells."""
    sums: list[Range] = []
    for order in (cells, list(reversed(cells))):
        low = high = 0
        for cell in order:
            if cell is None:
                break
            low += cell.low if isinstance(cell, Range) else cell
            high += cell.high if isinstance(cell, Range) else cell
            sums.append(Range(low, high))
    return sums


def hide_nested(counts: Mapping[str, int], total: Range, sums: Sequence[Range] = ()) -> dict[str, PublicCount]:
    """The public form of counts that may contain each other; ``sums`` are known from a table of the same records.

    >>> shown = hide_nested({"unique": 6, "fewer than 3": 8, "fewer than 5": 90}, Range(100, 100))
    >>> {name: str(count) for name, count in shown.items()}
    {'unique': '6', 'fewer than 3': '5 to 10', 'fewer than 5': '90'}
    """
    known = [Range(0, 0), total, *sums]
    shown: dict[str, PublicCount] = {}
    for name, count in sorted(counts.items(), key=lambda item: item[1]):
        public = hide_near_sums(count, known, total.high)
        shown[name] = public
        if isinstance(public, int):
            known.append(Range(public, public))
    return {name: shown[name] for name in counts}


def hide_near_sums(count: int, known: Sequence[Range], most: int) -> PublicCount:
    """The public form of one count: exact where it is far from all sums that the reader knows, or equals an exact one.

    Every known sum has a zone of four around it. Overlapping zones are merged, so that each count within is shown alike.
    """
    if is_small(count) or count == 0:
        return SMALL if count else 0
    zones = {
        known_sum: Range(known_sum.low - MIN_SHOWN_COUNT + 1, known_sum.high + MIN_SHOWN_COUNT - 1)
        for known_sum in known
        if known_sum.high > 0
    }
    if not any(count in zone for known_sum, zone in zones.items() if known_sum != Range(count, count)):
        return count
    merged: list[Range] = []
    for zone in sorted(zones.values(), key=lambda zone: zone.low):
        if merged and zone.low <= merged[-1].high:
            merged[-1] = Range(merged[-1].low, max(merged[-1].high, zone.high))
        else:
            merged.append(zone)
    around = next(zone for zone in merged if count in zone)
    return Range(max(around.low, MIN_SHOWN_COUNT), min(around.high, most))


def format_count(cell: PublicCount) -> int | str:
    """A count as the report contains it: a number, or text where it is not exact."""
    return NOT_SHOWN if cell is None else str(cell) if isinstance(cell, Range) else cell


def chart_height(cell: int | str | None) -> float | None:
    """The height of a count in a chart; None where the chart shows none.

    >>> chart_height(12), chart_height("<5"), chart_height("398 to 401"), chart_height("not shown")
    (12.0, 2.5, 399.5, None)
    """
    if isinstance(cell, int):
        return float(cell)
    if cell == str(SMALL):
        return (SMALL.low + SMALL.high) / 2
    ends = _RANGE.fullmatch(cell or "")
    return sum(int(end.replace(",", "")) for end in ends.groups()) / 2 if ends else None
