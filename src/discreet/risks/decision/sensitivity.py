r"""How far verdicts on the decision-theoretic risk hold where weights, or the prior over dictionaries, are wrong.

Every Phi of Lebanon et al. is a sum of products of weights, or its exponential, so no loss falls where a weight rises: weights
are searched by bisection, and the corners of a box decide it. The Bayes risk is linear in the prior; among all priors within a
total variation distance h of the given one, it is largest where the mass h is taken from the dictionaries with the least risk and
given to that with the largest (moving mass from a lower to a higher risk never lowers the sum). That is exact for every h.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.disclosure.sensitivity import Sensitivity as Weighting
from discreet.engine.disclosure.sensitivity import loss
from discreet.engine.statistics.guess_lines import GuessLine, Judge, Numbers, examine_lines
from discreet.model.contracts import Direction
from discreet.model.sensitivity import Sensitivity
from discreet.risks.decision.summary import LossStatistics, summarize

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIELDS = ("risk", "bayes", "worst", "unmatched")
_FARTHEST = 1000.0
_BASIS = (
    "no loss falls where a weight rises, and the worst prior within a total variation distance of the given one moves mass from "
    "the least to the most risky dictionary (certified)"
)


def worst_prior(risks: Sequence[float], prior: Sequence[float], distance: float) -> list[float]:
    """The prior with the largest Bayes risk within a total variation distance of the given one.

    >>> worst_prior([0.1, 0.5, 0.3], [0.5, 0.2, 0.3], 0.6)
    [0.0, 0.8, 0.2]
    """
    moved = list(prior)
    top = max(range(len(risks)), key=risks.__getitem__)
    remaining = min(distance, 1 - moved[top])
    for at in sorted((at for at in range(len(risks)) if at != top), key=risks.__getitem__):
        taken = min(moved[at], remaining)
        moved[at], moved[top], remaining = moved[at] - taken, moved[top] + taken, remaining - taken
    return [round(chance, 15) for chance in moved]


class DecisionGuesses:
    """One intruder: how many persons agree with each record in each dictionary, and the weights of what is disclosed."""

    def __init__(
        self, function: Weighting, disclosed: Sequence[NDArray[np.bool_]], rhos: Mapping[str, NDArray[np.int64]],
        prior: Sequence[float] | None, records: int,
    ) -> None:  # fmt: skip
        self.function, self.disclosed, self.rhos, self.prior, self.records = function, disclosed, rhos, prior, records
        self.unmatched = int(np.logical_and.reduce([rho == 0 for rho in rhos.values()]).sum())

    def summary(self, function: Weighting | None = None, distance: float = 0.0) -> Mapping[str, float | None]:
        """The fields under other weights, or under the worst prior at a distance."""
        phi = (self.function if function is None else function).phi(self.disclosed, self.records)
        totals = {name: float(loss(phi, rho).sum()) for name, rho in self.rhos.items()}
        statistics = LossStatistics(self.records, totals, self.unmatched, self.prior)
        if self.prior is not None and distance > 0:
            risks = list(statistics.risks.values())
            statistics = replace(statistics, prior=worst_prior(risks, self.prior, distance))
        return {name: value for name, value in summarize(statistics).items() if name in _FIELDS}


def examine_decision(
    guesses: Sequence[DecisionGuesses], limits: Mapping[str, float], better: Mapping[str, Direction], seconds: float, *,
    one_by_one: bool,
) -> Sensitivity:  # fmt: skip
    """Search the weights (all by a factor, and each), and the distance of the prior from the given one."""
    judge = Judge("decision", {field: limits[field] for field in limits}, better)
    given: Numbers = [guess.summary() for guess in guesses]
    first = guesses[0].function
    lines: list[GuessLine] = []
    uses_weights = first.form != "phi2" and not set(first.names) <= set(first.of_cell)

    def at_weights(change: Callable[[Weighting], Weighting]) -> Numbers:
        return [guess.summary(change(guess.function)) for guess in guesses]

    def scaled(factor: float) -> Numbers:
        return at_weights(lambda function: _scale(function, factor))

    if uses_weights:
        lines.append(GuessLine("factor on all weights", 1.0, (0.0, _FARTHEST), scaled, _FIELDS))
        for name, weight in first.weights.items() if one_by_one else ():
            if name in first.names and name not in first.of_cell and math.isfinite(weight):
                lines.append(_weight_line(name, float(weight), at_weights))
    if guesses[0].prior is not None and len(guesses[0].rhos) > 1:
        lines.append(
            GuessLine(
                "distance (total variation) of the prior", 0.0, (0.0, 1.0),
                lambda distance: [guess.summary(distance=distance) for guess in guesses], _FIELDS,
            )
        )  # fmt: skip
    notes = [] if uses_weights else ["the weights of attributes are not used, so they are not searched"]
    corners = (lambda share: (scaled(1 - share), scaled(1 + share))) if uses_weights else None
    return examine_lines(judge, guesses[0].records, given, lines, seconds, _BASIS, corners=corners, notes=notes)


def _weight_line(name: str, weight: float, at_weights: Callable[[Callable[[Weighting], Weighting]], Numbers]) -> GuessLine:
    def at(value: float) -> Numbers:
        return at_weights(lambda function: replace(function, weights={**function.weights, name: value}))

    return GuessLine("weight", weight, (0.0, max(weight, 1.0) * _FARTHEST), at, _FIELDS, name)


def _scale(function: Weighting, factor: float) -> Weighting:
    """All weights of attributes and sets of attributes times a factor; an infinite weight times 0 is 0."""

    def times(weight: float) -> float:
        return 0.0 if factor == 0 else weight * factor

    return replace(
        function,
        weights={name: times(weight) for name, weight in function.weights.items()},
        sets={members: times(weight) for members, weight in function.sets.items()},
    )
