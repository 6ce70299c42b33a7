"""The budget of a search: a number of plans and a deadline."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """A number of different plans and a deadline (of ``time.monotonic``), whichever is reached first.

    ``reserved`` are the seconds needed after the search, besides twice those of the best plan, which is run again.
    """

    trials: int | None
    deadline: float | None
    reserved: float = 0.0

    def allows_another(self, tried: int, expected_seconds: float, best_seconds: float) -> bool:
        """Whether another plan fits in, if it takes the expected time; ``best_seconds`` is the time of the best plan so far."""
        if self.trials is not None and tried >= self.trials:
            return False
        return self.deadline is None or time.monotonic() + expected_seconds < self.search_end(best_seconds)

    def search_end(self, best_seconds: float) -> float:
        """When the search itself must have ended."""
        if self.deadline is None:
            return math.inf
        return self.deadline - self.reserved - (2 * best_seconds if self.reserved else 0.0)
