r"""How far a record is from being hidden among so many: the quantity that masking brings to 0.

With the share s = 1 / among, and sums before alpha over the non-empty kept sets,

    E(r) = \sum_{S \ne \emptyset} PK(S) C(r, S) (1 / count(r(S)) - s)  =  D(r) - s D1(r),

which is greater than 0 exactly where the effective class size D1 / D is below ``among``. Others' blanks, where a blank agrees
with anything, only raise counts, so they lower E as they lower D: a record that is safe stays safe.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.model.threshold import Among

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engine.known_sets.risk_sums import RecordSums

_MARGIN = 5e-10
"""The measure takes a size within 1e-9 below a number for it; half of that is asked for, so that rounding decides nothing."""


def share_of(threshold: float | Among) -> float:
    """1 / among with its margin, or 0 where the threshold is a risk."""
    return 1.0 / (threshold.among * (1 - _MARGIN)) if isinstance(threshold, Among) else 0.0


def level_of(threshold: float | Among, alpha: float) -> float:
    """What a record's risk (before alpha), or its excess, must not be greater than."""
    return 0.0 if isinstance(threshold, Among) else threshold / alpha


def excess_over(share: float, sums: RecordSums, consequence: NDArray[np.float64], records: int) -> RecordSums:
    """The sums with each risk replaced by its excess over the share; as they are where the share is 0."""
    if share == 0:
        return sums
    return replace(sums, risk=sums.risk - consequence / max(records, 1) - share * sums.kept_mass)
