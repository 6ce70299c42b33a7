"""Which values of high-risk records may be suppressed, and the outcome of suppressing or generalizing them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from discreet.engine.targeting.state import TargetingState

if TYPE_CHECKING:
    from numpy.typing import NDArray

Choice = Literal["set", "fewest"]
Side = Literal["known", "sensitive", "cheapest"]
# a risk within this relative distance below the threshold may exceed it when it is summed in another order
MARGIN = 1e-12


@dataclass
class TargetingOutcome:
    """The outcome of a targeted method.

    ``passes`` holds the number of records and of values changed in each pass; ``cascaded`` the records that became high-risk only
    through an earlier pass; ``remaining`` the records still above the threshold, and ``remaining_risk`` their risks before alpha.
    """

    values_changed: int = 0
    passes: list[tuple[int, int]] = field(default_factory=list)
    cascaded: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    remaining: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    remaining_risk: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    cost: float = 0.0
    cost_bound: float | None = None
    """A lower bound of the cost of any choice of values; None if not all choices could be tried."""
    unreachable: int = 0
    """The number of remaining records that no suppression could bring below the threshold (``missing: category``)."""
    nulls_needed: int = 0
    """How many records with nulls would be needed for the nearest of them; 0 if all records would not be enough."""
    cluster_records: int = 0
    """On Spark the number of records of the table; records are then identified by their numbers, not by their rows."""


@dataclass(frozen=True)
class SuppressionRule:
    """Which values may be suppressed (``allowed[attribute]``), at what cost, and how they are chosen.

    ``level`` is the threshold before alpha. With ``threshold: {among: ...}``, ``share`` is 1 / among; risks are then excesses
    over it, and the level is 0.
    """

    level: float
    choice: Choice
    side: Side
    allowed: NDArray[np.bool_]
    costs: NDArray[np.float64]
    check_budget: Callable[[int, int], None]
    """Called before each pass with the number of values suppressed by then and of records above; raises beyond the limit."""
    share: float = 0.0

    @property
    def limit(self) -> float:
        """The level below which a record counts as safe whatever the order of summation."""
        return self.level * (1 - MARGIN)

    def known_candidates(self, table: TargetingState, nulls: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The values that an intruder may know and that may be suppressed."""
        suppressible = self.allowed & (np.arange(len(self.allowed)) < table.tree.width)
        return ~nulls & suppressible

    def sensitive_candidates(
        self, table: TargetingState, nulls: NDArray[np.bool_], weights: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """The values whose weight is larger than that of a null and that may be suppressed."""
        return np.asarray(~nulls & self.allowed & (weights > table.null_weights))

    def candidates(self, table: TargetingState, nulls: NDArray[np.bool_], weights: NDArray[np.float64]) -> NDArray[np.bool_]:
        """All values that may be suppressed according to ``side``."""
        if self.side == "known":
            return self.known_candidates(table, nulls)
        sensitive = self.sensitive_candidates(table, nulls, weights)
        return sensitive if self.side == "sensitive" else sensitive | self.known_candidates(table, nulls)

    def cost_of(self, suppressed: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.asarray(suppressed @ self.costs)
