"""The summary of the decision-theoretic risk (Lebanon et al. 2006) from the losses under each dictionary, on any engine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class LossStatistics:
    """Sufficient statistics: the sum of expected losses over records under each dictionary.

    ``prior`` is the probability of each dictionary, None where the worst case counts. ``unmatched`` is the number of records
    with which nobody in any dictionary is consistent.
    """

    records: int
    totals: Mapping[str, float]
    unmatched: int
    prior: Sequence[float] | None

    @cached_property
    def risks(self) -> dict[str, float]:
        """The mean expected loss per record under each dictionary."""
        return {name: total / self.records if self.records else 0.0 for name, total in self.totals.items()}

    @property
    def worst(self) -> int:
        """The position of the dictionary with the largest risk, the first of equals."""
        risks = list(self.risks.values())
        return max(range(len(risks)), key=risks.__getitem__)


def choose_prior(named: Sequence[float] | None, dictionaries: int) -> Sequence[float] | None:
    """The prior that the policy names, or certainty where there is a single dictionary."""
    return named or ([1.0] if dictionaries == 1 else None)


def summarize(statistics: LossStatistics) -> dict[str, Any]:
    """The fields of the summary; a dictionary of probability 0 does not count, even where its risk is infinite."""
    risks = statistics.risks
    worst = list(risks.values())[statistics.worst]
    bayes = None
    if statistics.prior is not None:
        bayes = math.fsum(chance * risk for chance, risk in zip(statistics.prior, risks.values(), strict=True) if chance > 0)
    return {
        "risk": worst if bayes is None else bayes,
        "bayes": bayes,
        "worst": worst,
        "unmatched": statistics.unmatched,
        "dictionaries": risks,
    }
