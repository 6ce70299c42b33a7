"""By how much a plan misses the limits of the policy, judged as ``assess`` judges a release."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from discreet.assessment.verdicts import Evidence, judge_limit, meets
from discreet.model.contracts import Direction
from discreet.selection.outcome import CANNOT_RUN


@dataclass(frozen=True)
class LimitJudge:
    """The limits, for each measured field whether less or more is better, and its value in the original table."""

    limits: Mapping[str, float]
    better: Mapping[str, Direction]
    before: Mapping[str, float | None]

    def judge(self, evidence: Evidence, measured: dict[str, float | None]) -> dict[str, float]:
        """By how much each limit is missed, judged as by ``assess``; sets the judged values in ``measured``."""
        missed: dict[str, float] = {}
        for limit, required in self.limits.items():
            verdict = judge_limit(limit, required, evidence)
            measured[limit] = finite_or_none(verdict.found)
            undecided = verdict.found is not None and not meets(verdict.found, required, self.better[limit])
            if measured[limit] is None or (verdict.status == "incomplete" and not undecided):
                missed[limit] = CANNOT_RUN
            elif verdict.status != "met":  # an undecided limit is missed by its worst possible value
                missed[limit] = self.violation(limit, verdict.found)
        return missed

    def surely_missed(self, evidence: Evidence, measured: dict[str, float | None]) -> dict[str, float]:
        """The limits that the release alone misses whatever lies between the bounds: no other intruder need be measured."""
        certified = replace(evidence, certified=True)
        missed = {}
        for limit, required in self.limits.items():
            verdict = judge_limit(limit, required, certified)
            if verdict.status == "not met":
                measured[limit] = finite_or_none(verdict.found)
                missed[limit] = self.violation(limit, verdict.found)
        return missed

    def violation(self, limit: str, number: float | None) -> float:
        """By how much a number misses a limit, as a share of the larger of the limit and the original's value; 0 if it is met."""
        if number is None:
            return CANNOT_RUN
        required, before = self.limits[limit], self.before.get(limit)
        excess = number - required if self.better[limit] == "low" else required - number
        return max(excess, 0.0) / (max(abs(required), abs(before or 0.0)) or 1.0)


def finite_or_none(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None
