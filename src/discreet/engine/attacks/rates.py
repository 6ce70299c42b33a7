"""The success of an attack in excess of its control, with an interval.

With a the success rate on people in the data and c that on people who are not (the control), the risk is

    risk = (a - c) / (1 - c),

the share of attacks that would fail without the data and succeed with it (Giomi et al. 2023, eq. 2), 0 where it is negative. The
risk grows with a and falls with c, so over a rectangle of both it is smallest at (lowest a, highest c) and largest at (highest a,
lowest c). Each rate has Wilson's interval at the level 1 - (1 - confidence)/2; both hold at once with at least the confidence
(Bonferroni), whatever the dependence of the two, and so do the ends of the risk. Without control people c is the rate of blind
guesses; where that is computed and not sampled, only a has an interval, at the confidence itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.statistics.wilson import wilson_interval
from discreet.model.contracts import Direction

if TYPE_CHECKING:
    from numpy.typing import NDArray

BETTER: Mapping[str, Direction] = {"risk": "low", "lower": "low", "upper": "low", "attack": "low"}
NEUTRAL = ("control", "blind", "attacks", "controls")
WORST: Mapping[str, float] = {"risk": 1.0, "lower": 1.0, "upper": 1.0, "attack": 1.0}
MEANING: Mapping[str, str] = {
    "risk": "(attack - control) / (1 - control): attacks that succeed due to the release; blind in place of a missing control",
    "lower": "lower confidence bound of risk",
    "upper": "upper confidence bound of risk",
    "attack": "share of attacks on people in the release that succeed",
    "control": "share of the same attacks on people outside the release that succeed; empty without such people",
    "blind": "share of blind guesses that succeed, without the release's record of the person",
    "attacks": "people in the release that were attacked",
    "controls": "people outside the release that were attacked",
}
NO_CONTROL = (
    "nobody outside the release was attacked, so the risk is in excess of blind guesses and counts what the release tells of "
    "people in general as well; set holdout in the plan, or give a control table"
)


@dataclass(frozen=True)
class Rates:
    """Successes of single attacks, each from 0 to 1 (an expectation where the intruder has to choose), and the blind rate."""

    attack: NDArray[np.float64]
    control: NDArray[np.float64]
    blind: float
    confidence: float
    blind_guesses: int = 0
    """Number of blind guesses where they are sampled; 0 where their rate is computed."""

    @property
    def attack_rate(self) -> float:
        return float(self.attack.mean()) if len(self.attack) else 0.0

    @property
    def control_rate(self) -> float | None:
        return float(self.control.mean()) if len(self.control) else None

    def risk_interval(self) -> tuple[float, float, float]:
        """The risk, and the ends of its interval; see the module's docstring."""
        control = self.control_rate
        hits, number = float(self.control.sum()), len(self.control)
        if control is None and self.blind_guesses:
            control, hits, number = self.blind, self.blind * self.blind_guesses, self.blind_guesses
        if control is None:
            low, high = wilson_interval(float(self.attack.sum()), len(self.attack), self.confidence)
            return tuple(excess(rate, self.blind) for rate in (self.attack_rate, low, high))  # type: ignore[return-value]
        level = 1 - (1 - self.confidence) / 2
        low, high = wilson_interval(float(self.attack.sum()), len(self.attack), level)
        control_low, control_high = wilson_interval(hits, number, level)
        return excess(self.attack_rate, control), excess(low, control_high), excess(high, control_low)

    def summary(self) -> dict[str, int | float | None]:
        """The fields that all attacks share."""
        risk, lower, upper = self.risk_interval()
        return {
            "risk": risk, "lower": lower, "upper": upper, "attack": self.attack_rate, "control": self.control_rate,
            "blind": self.blind, "attacks": len(self.attack), "controls": len(self.control),
        }  # fmt: skip

    def notes(self) -> tuple[str, ...]:
        """What a reader of the risk must know about its baseline."""
        notes: tuple[str, ...] = () if len(self.control) else (NO_CONTROL,)
        if len(self.attack) and self.attack_rate < self.blind:
            notes += ("the attack succeeds less often than blind guesses, so it is too weak to say that the release is safe",)
        return notes


def excess(rate: float, baseline: float) -> float:
    """The share of what the baseline misses that the rate reaches, from 0 to 1.

    >>> excess(0.6, 0.2), excess(0.1, 0.2), excess(1.0, 1.0)
    (0.49999999999999994, 0.0, 0.0)
    """
    return max(0.0, min(1.0, (rate - baseline) / (1 - baseline))) if baseline < 1 else 0.0
