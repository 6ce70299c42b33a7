"""Allowances: how much of something costly a person or a network may do at once, and how fast what was used comes back.

An allowance that is used up for a long time stays used up: it comes back by the second, not all at once after a while, so a
program that never pauses gets no more than the rate.
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass, field

MAX_REMEMBERED = 10_000


@dataclass
class Allowances:
    """How much is left of the allowance of each key; a key that is not remembered has all of it."""

    size: float
    per_second: float
    """How much of it comes back per second."""
    _left: dict[Hashable, tuple[float, float]] = field(default_factory=dict)

    def spend(self, key: Hashable) -> bool:
        """Use one of the allowance; False if nothing is left."""
        left = self._count_left(key)
        if left < 1.0:
            return False
        if len(self._left) >= MAX_REMEMBERED and key not in self._left:
            self._forget_full()
        self._left[key] = left - 1.0, time.monotonic()
        return True

    def is_spent(self, key: Hashable) -> bool:
        """Whether nothing is left."""
        return self._count_left(key) < 1.0

    def give_back(self, key: Hashable) -> None:
        """Take back a use that turned out to be harmless."""
        if key in self._left:
            self._left[key] = min(self.size, self._count_left(key) + 1.0), time.monotonic()

    def _count_left(self, key: Hashable) -> float:
        left, at = self._left.get(key, (self.size, 0.0))
        return min(self.size, left + (time.monotonic() - at) * self.per_second)

    def _forget_full(self) -> None:
        """Forget the keys whose allowance is back, and if that is not enough, the oldest half."""
        self._left = {key: entry for key, entry in self._left.items() if self._count_left(key) < self.size}
        if len(self._left) >= MAX_REMEMBERED:
            newest = sorted(self._left.items(), key=lambda item: item[1][1])[MAX_REMEMBERED // 2 :]
            self._left = dict(newest)
