"""The budget of a search: a number of plans and a deadline."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

_ONCE_MORE, _ONCE_MORE_IF_KNOWN = 1.0, 0.25
"""How many times as long as its trial the assessment of the best plan's release takes, which measures more; less where the scores
of its limits and losses are known by then."""


@dataclass(frozen=True)
class Budget:
    """A number of different plans and a deadline (of ``time.monotonic``), whichever is reached first.

    ``reserved`` are the seconds needed after the search, besides those of the best plan, whose release is assessed; ``settled``
    are those needed once the best plan is known to leave no gaps in the evidence.
    """

    trials: int | None
    deadline: float | None
    reserved: float = 0.0
    scores_known: bool = False
    """Whether the scores of the best plan need not be measured again."""
    settled: float | None = None

    def when_settled(self) -> Budget:
        """The budget of a search whose best plan leaves no gaps: they need not be looked for at its end."""
        return self if self.settled is None else replace(self, reserved=self.settled)

    def allows_another(self, tried: int, expected_seconds: float, best_seconds: float) -> bool:
        """Whether another plan fits in, if it takes the expected time; ``best_seconds`` is the time of the best plan so far."""
        if self.trials is not None and tried >= self.trials:
            return False
        return self.deadline is None or time.monotonic() + expected_seconds < self.search_end(best_seconds)

    def search_end(self, best_seconds: float) -> float:
        """When the search itself must have ended."""
        if self.deadline is None:
            return math.inf
        once_more = _ONCE_MORE_IF_KNOWN if self.scores_known else _ONCE_MORE
        return self.deadline - self.reserved - (once_more * best_seconds if self.reserved else 0.0)
