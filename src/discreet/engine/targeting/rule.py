"""Which values may be taken from records at high risk, and what was taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from discreet.engine.targeting.state import Targets

if TYPE_CHECKING:
    from numpy.typing import NDArray

Choose = Literal["set", "fewest"]
Side = Literal["known", "sensitive", "cheapest"]
# a value within this share of the threshold is not relied on to be under it
MARGIN = 1e-12


@dataclass
class Story:
    """What was done: records treated, by pass; those that only a pass made high-risk; those that stay above, with their risk."""

    taken: int = 0
    passes: list[tuple[int, int]] = field(default_factory=list)
    cascade: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    remaining: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    risk: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    cost: float = 0.0
    least: float | None = None
    """What no choice of values could cost less than, where all choices were tried."""
    hopeless: int = 0
    needed: int = 0
    elsewhere: int = 0
    """Where the table is on another engine: how many records it has. Records are then named by their numbers."""


@dataclass(frozen=True)
class Rule:
    """Which values may be taken and how they are chosen; ``level`` is the threshold before alpha.

    ``share`` is 1 / among where records are to be hidden among so many; risks are then excesses, and the level is 0.
    """

    level: float
    choose: Choose
    side: Side
    may: NDArray[np.bool_]
    costs: NDArray[np.float64]
    spend: Callable[[int, int], None]
    """Told the values taken so far and the records above before each pass; may raise."""
    share: float = 0.0

    @property
    def limit(self) -> float:
        return self.level * (1 - MARGIN)

    def known(self, table: Targets, nulls: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The values by which a record can be found, and that may be taken."""
        suppressible = self.may & (np.arange(len(self.may)) < table.tree.width)
        return ~nulls & suppressible

    def sensitive(self, table: Targets, nulls: NDArray[np.bool_], weights: NDArray[np.float64]) -> NDArray[np.bool_]:
        """The values that weigh more than a blank does, and that may be taken."""
        return np.asarray(~nulls & self.may & (weights > table.blank))

    def any(self, table: Targets, nulls: NDArray[np.bool_], weights: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Every value that the side lets be taken."""
        if self.side == "known":
            return self.known(table, nulls)
        sensitive = self.sensitive(table, nulls, weights)
        return sensitive if self.side == "sensitive" else sensitive | self.known(table, nulls)

    def cost(self, gone: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.asarray(gone @ self.costs)
