"""Counts in a public report: those from one to four are shown as "<5", and do not follow from the others.

A table of counts often stands beside its total. Where it holds a small count, its largest cell is therefore shown as a range:
exactly the numbers that the total leaves open while every small count may be anything from one to four. The range follows from
what is shown already, so it adds nothing. Where no cell is large enough for that, no cell of the table is shown.

Counts of records that are not cells of one table (records above a threshold, sample uniques) are compared with every sum that the
reader can form, and shown as a range where the difference would be a small count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LEAST = 5
"""A count below this is not shown."""
NOT_SHOWN = "not shown"
_RANGE = re.compile(r"([\d,]+) to ([\d,]+)")


@dataclass(frozen=True)
class Range:
    """Whole numbers from ``low`` to ``high``, both included."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"<{LEAST}" if (self.low, self.high) == (1, LEAST - 1) else f"{self.low:,} to {self.high:,}"

    def __contains__(self, value: int) -> bool:
        return self.low <= value <= self.high

    @property
    def exact(self) -> bool:
        """Whether it holds one number alone."""
        return self.low == self.high


SMALL = Range(1, LEAST - 1)
Shown = int | Range | None
"""A count as it may be shown: exactly, as a range, or not at all."""


def is_small(count: int) -> bool:
    """Whether a count must not be shown."""
    return 0 < count < LEAST


def hide_small(count: int) -> Shown:
    """A count that stands alone."""
    return SMALL if is_small(count) else count


def hide_in_table(counts: Sequence[int], total: Range | None = None) -> list[Shown]:
    """The cells of one table, next to a total that the reader knows (default: exactly their sum).

    >>> [str(cell) for cell in hide_in_table([2, 30, 400, 0])]
    ['<5', '30', '398 to 401', '0']
    >>> hide_in_table([2, 6])
    [None, None]
    """
    known = total or Range(sum(counts), sum(counts))
    small = [at for at, count in enumerate(counts) if is_small(count)]
    if not small and known.exact:
        return list(counts)
    largest = max(range(len(counts)), key=lambda at: (counts[at], -at), default=None)
    if largest is None:
        return []
    others = [count for at, count in enumerate(counts) if at != largest and at not in small]
    rest = sum(others)
    left = Range(known.low - rest - (LEAST - 1) * len(small), known.high - rest - len(small))
    # the range must lie above every other cell, whatever the small counts are: else the choice of the cell would tell something
    if largest in small or left.low <= max([LEAST - 1, *others]):
        return [None] * len(counts)
    return [left if at == largest else SMALL if at in small else count for at, count in enumerate(counts)]


def running_sums(cells: Sequence[Shown]) -> list[Range]:
    """Every sum of the first cells of a table and of the last ones, as far as the shown cells tell it."""
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


def hide_nested(counts: Mapping[str, int], total: Range, sums: Sequence[Range] = ()) -> dict[str, Shown]:
    """Counts of records that may contain each other; ``sums`` are those that the reader knows from a table of the same records.

    >>> shown = hide_nested({"unique": 6, "fewer than 3": 8, "fewer than 5": 90}, Range(100, 100))
    >>> {name: str(count) for name, count in shown.items()}
    {'unique': '6', 'fewer than 3': '7 to 10', 'fewer than 5': '90'}
    """
    known = [Range(0, 0), total, *sums]
    shown: dict[str, Shown] = {}
    for name, count in sorted(counts.items(), key=lambda item: item[1]):
        made = _hide_beside(count, known)
        shown[name] = made
        if isinstance(made, int):
            known.append(Range(made, made))
    return {name: shown[name] for name in counts}


def _hide_beside(count: int, known: Sequence[Range]) -> Shown:
    if is_small(count):
        return SMALL
    around = [one for one in known if count in one]
    if any(one.exact for one in around):
        return count
    if around:
        return min(around, key=lambda one: (one.high - one.low, one.low))
    below = max((one.high for one in known if one.high < count), default=0)
    above = min((one.low for one in known if one.low > count), default=None)
    if above is not None and above - count < LEAST:
        return Range(max(above - LEAST + 1, below + 1), above - 1)
    if count - below < LEAST:
        return Range(below + 1, below + LEAST - 1 if above is None else min(below + LEAST - 1, above - 1))
    return count


def text_of(cell: Shown) -> int | str:
    """A cell as the report holds it: a number, or text where it is not exact."""
    return NOT_SHOWN if cell is None else str(cell) if isinstance(cell, Range) else cell


def height_of(cell: int | str | None) -> float | None:
    """How high a chart draws a cell of a report; None where it draws nothing.

    >>> height_of(12), height_of("<5"), height_of("398 to 401"), height_of("not shown")
    (12.0, 2.5, 399.5, None)
    """
    if isinstance(cell, int):
        return float(cell)
    if cell == str(SMALL):
        return (SMALL.low + SMALL.high) / 2
    ends = _RANGE.fullmatch(cell or "")
    return sum(int(end.replace(",", "")) for end in ends.groups()) / 2 if ends else None
