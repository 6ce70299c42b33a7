"""How narrow the interval of each record has to be: within a tolerance, and on one side of its levels."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def contains_level(
    lower: NDArray[np.float64], upper: NDArray[np.float64], levels: Sequence[NDArray[np.float64]]
) -> NDArray[np.bool_]:
    """Which intervals contain a level."""
    undecided = np.zeros(len(lower), dtype=np.bool_)
    for level in levels:
        undecided |= (lower <= level) & (upper > level)
    return undecided


@dataclass(frozen=True)
class Requirements:
    """A largest width as a share of the lower end (None: any), levels that intervals must not contain, and a time limit.

    A level is a threshold per record. ``deadline`` is a moment of ``time.monotonic``.
    """

    tolerance: float | None
    levels: Sequence[NDArray[np.float64]]
    deadline: float | None = None

    def are_too_wide(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which intervals are wider than the tolerance or contain a level."""
        wide = contains_level(lower, upper, self.levels)
        if self.tolerance is not None:
            wide |= upper - lower > self.tolerance * lower
        return wide

    def is_too_wide(self, record: int, lower: float, upper: float) -> bool:
        """The same for the interval of one record."""
        if self.tolerance is not None and upper - lower > self.tolerance * lower:
            return True
        return any(lower <= level[record] < upper for level in self.levels)

    def allowed_widths(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.float64]:
        """The width that each interval may have; a tenth of it where it contains a level, which decides most records."""
        allowed = np.full(len(lower), np.inf) if self.tolerance is None else self.tolerance * lower
        undecided = contains_level(lower, upper, self.levels)
        return np.where(undecided, np.minimum(allowed, 0.1 * (upper - lower)), allowed)

    def part(self, records: NDArray[np.int64], scale: float = 1.0) -> Requirements:
        """The requirements of some records, with levels divided by a scale."""
        return Requirements(self.tolerance, [level[records] / scale for level in self.levels], self.deadline)

    def is_past(self) -> bool:
        """Whether the time limit has been reached."""
        return self.deadline is not None and time.monotonic() > self.deadline
