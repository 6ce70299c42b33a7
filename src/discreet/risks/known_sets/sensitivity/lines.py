"""Lines through the space of guesses along which a verdict is searched: all probabilities by a factor, or a single guess.

Along a line on which a single guess moves, both bounds of every sum are linear, so two points give all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.model.policy import Policy
from discreet.risks.known_sets.sensitivity.counted import Counted, Point
from discreet.risks.known_sets.sensitivity.guesses import known_probabilities, with_known, with_sensitivity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass
class Line:
    """The points of each intruder at the values of one guess; ``counted`` are the counts that they are computed from."""

    kind: str
    attribute: str | None
    given: float
    span: tuple[float, float]
    policy_at: Callable[[float], Policy]
    counted: Sequence[Counted]
    is_straight: bool
    _points: dict[float, Sequence[Point]] = field(default_factory=dict)

    def points(self, value: float) -> Sequence[Point]:
        """The point of each intruder at a value; few are kept, for each is as long as the table."""
        known = self._points.get(value)
        if known is None:
            if self.is_straight and value not in (0.0, 1.0):
                return [low.towards(high, value) for low, high in zip(self.points(0.0), self.points(1.0), strict=True)]
            known = [counted.point_at(self.policy_at(value)) for counted in self.counted]
            for old in [place for place in self._points if place not in (0.0, 1.0, self.given)][: len(self._points) - 6]:
                del self._points[old]
            self._points[value] = known
        return known

    def recentred(self, value: float) -> Line:
        """The same line with the sets counted anew that matter most at another value."""
        counted = [Counted(part.spec, known_probabilities(self.policy_at(value), part.spec.names)) for part in self.counted]
        return Line(self.kind, self.attribute, self.given, self.span, self.policy_at, counted, self.is_straight)


def factor_line(policy: Policy, names: Sequence[str], counted: Sequence[Counted]) -> Line:
    """All probabilities times a factor, cut off at 1; the line ends where all are 1."""
    given: NDArray[np.float64] = known_probabilities(policy, names)
    positive = given[given > 0]
    last = float(1 / positive.min()) if len(positive) else 1.0

    def policy_at(factor: float) -> Policy:
        return with_known(policy, {name: min(1.0, known * factor) for name, known in zip(names, given.tolist(), strict=True)})

    return Line("factor", None, 1.0, (0.0, max(last, 1.0)), policy_at, counted, is_straight=False)


def known_line(policy: Policy, name: str, counted: Sequence[Counted]) -> Line:
    """The probability of one attribute from 0 to 1."""
    given = float(known_probabilities(policy, [name])[0])
    return Line("known", name, given, (0.0, 1.0), lambda value: with_known(policy, {name: value}), counted, is_straight=True)


def sensitivity_line(policy: Policy, name: str, counted: Sequence[Counted]) -> Line:
    """The sensitivity of one attribute from 0 to 1."""
    given = float(policy.attributes[name].sensitivity)
    return Line(
        "sensitivity", name, given, (0.0, 1.0), lambda value: with_sensitivity(policy, name, value), counted, is_straight=True
    )
