"""Counts in a public report: those from one to four are shown as "<5", and do not follow from the others.

A table of counts often stands beside its total. Where it holds a small count, one of its large cells is therefore shown as a
range: the numbers that the total leaves open while every small count may be anything from one to four. The range follows from
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

    Which cell becomes the range must not depend on the hidden numbers, or the choice itself would tell them. Cells are therefore
    tried in their order: one is taken where its range lies high enough whatever the small counts are, passed over where it
    is too low whatever they are, and shown as a fixed range in between.

    >>> [str(cell) for cell in hide_in_table([2, 30, 400, 0])]
    ['<5', '28 to 31', '400', '0']
    >>> hide_in_table([2, 6])
    [None, None]
    """
    known = total or Range(sum(counts), sum(counts))
    small = sum(map(is_small, counts))
    if not small and known.exact:
        return list(counts)
    slack = (LEAST - 2) * small + known.high - known.low  # how far the sum of the other cells is open
    lowest, safe = LEAST + slack, LEAST + 2 * slack
    shown: list[Shown] = [SMALL if is_small(count) else count for count in counts]
    # the hidden cells so far, at their highest and at their lowest
    high, low = (LEAST - 1) * small, small
    rest = sum(count for count in counts if not is_small(count))
    for at, count in enumerate(counts):
        if count < lowest:
            continue
        rest -= count
        left = Range(known.low - rest - high, known.high - rest - low)
        if left.low >= safe:
            shown[at] = left
            return shown
        between = Range(lowest, safe - 1 + slack + (high - low - (LEAST - 2) * small))
        shown[at] = between
        high, low = high + between.high, low + between.low
    return [None] * len(counts)


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
    {'unique': '6', 'fewer than 3': '5 to 10', 'fewer than 5': '90'}
    """
    known = [Range(0, 0), total, *sums]
    shown: dict[str, Shown] = {}
    for name, count in sorted(counts.items(), key=lambda item: item[1]):
        made = _hide_beside(count, known, total.high)
        shown[name] = made
        if isinstance(made, int):
            known.append(Range(made, made))
    return {name: shown[name] for name in counts}


def _hide_beside(count: int, known: Sequence[Range], most: int) -> Shown:
    """One count next to sums that the reader knows: exact where it is far from all of them, or equals one that is exact.

    Every sum has a zone of four around it. Zones that overlap are one, so that each count in them is shown alike.
    """
    if is_small(count) or count == 0:
        return SMALL if count else 0
    zones = {one: Range(one.low - LEAST + 1, one.high + LEAST - 1) for one in known if one.high > 0}
    if not any(count in zone for one, zone in zones.items() if one != Range(count, count)):
        return count
    joined: list[Range] = []
    for zone in sorted(zones.values(), key=lambda one: one.low):
        if joined and zone.low <= joined[-1].high:
            joined[-1] = Range(joined[-1].low, max(joined[-1].high, zone.high))
        else:
            joined.append(zone)
    around = next(zone for zone in joined if count in zone)
    return Range(max(around.low, LEAST), min(around.high, most))


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
