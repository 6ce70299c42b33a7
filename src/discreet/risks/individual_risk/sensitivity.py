"""How far verdicts on individual risks hold where the sampling weights are wrong.

With f records in a class and F the sum of their weights, the expected value of 1 / F under the negative binomial model falls
where F rises: of two such distributions that with the smaller success probability is stochastically larger. All fields rise with
every record's risk, so they fall where any weight rises, and the corners of a box of weights decide it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.statistics.guess_lines import GuessLine, Judge, Numbers, examine_lines
from discreet.model.contracts import Direction
from discreet.model.sensitivity import Sensitivity

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIELDS = ("expected", "mean", "max", "high_risk", "household_expected", "household_max")
_FARTHEST = 1000.0
_BASIS = "the risk of a record falls where a sampling weight of its class rises, and every field rises with the risks (certified)"


def examine_weights(
    summary_of: Callable[[NDArray[np.float64]], Mapping[str, float | None]], weights: NDArray[np.float64], fraction: float | None,
    limits: Mapping[str, float], better: Mapping[str, Direction], records: int, seconds: float,
) -> Sensitivity:  # fmt: skip
    """``summary_of`` gives the fields under other weights; ``fraction`` is the parameter, if it is set.

    No weight falls below 1, because a record stands for itself at least.
    """
    floor = np.minimum(weights, 1.0)

    def at(factor: float) -> Numbers:
        return [summary_of(np.maximum(weights * factor, floor))]

    judge = Judge("individual_risk", limits, better)
    least = float(weights.min()) if len(weights) else 1.0
    lowest = min(1.0, 1 / least) if least > 0 else 1.0
    if fraction is not None:
        line = GuessLine("sampling_fraction", fraction, (fraction / _FARTHEST, 1.0), lambda value: at(fraction / value), _FIELDS)
    else:
        line = GuessLine("factor on all sampling weights", 1.0, (lowest, _FARTHEST), at, _FIELDS)

    def corners(share: float) -> tuple[Numbers, Numbers]:
        return at(1 + share), at(1 - share)

    return examine_lines(judge, records, at(1.0), [line], seconds, _BASIS, corners=corners)
