"""Gaps in the evidence that a plan causes: what the final assessment of its release would find beside the limits.

An assessment is incomplete where the measure ``coverage`` finds masked values that the release gives back or columns that nobody
looked at, and where a score has a gap of its own. Some of these gaps are the policy's: the table without its identifiers, of
which nothing else is masked, has them too. They stay until the owner settles them, whatever the plan; those beyond them tell
plans apart.
"""

from __future__ import annotations

from functools import cached_property

import polars as pl

from discreet import registry
from discreet.assessment.verdicts import Evidence
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan
from discreet.model.score import Score

_COVERAGE = "coverage"


class GapCounter:
    """Counts the gaps of masked tables beyond those of the original without its identifiers.

    ``before`` are the scores of the original table.
    """

    def __init__(self, data: Microdata, before: Evidence) -> None:
        self.data = data
        self.measure = registry.create("risk", _COVERAGE, data.policy.risk.get(_COVERAGE), origin=data.policy.origin)
        self.gaps_before = _gaps_of_scores(before)

    def count(self, masked: Microdata, plan: Plan, evidence: Evidence) -> int:
        """Columns that are restored or read back, columns of concern, and gaps of the scores that limits are judged on."""
        found = self._gaps_of_coverage(masked.with_policy(masked.policy.with_(plan=plan)), plan)
        beyond = sum(max(0, number - self._unmasked[kind]) for kind, number in found.items())
        return beyond + max(0, _gaps_of_scores(evidence) - self.gaps_before)

    @cached_property
    def _unmasked(self) -> dict[str, int]:
        return self._gaps_of_coverage(self.data, self.data.policy.plan.model_copy(update={"steps": ()}))

    def _gaps_of_coverage(self, masked: Microdata, plan: Plan) -> dict[str, int]:
        """The gaps by kind, of the table as it is written: without identifiers and persons that no step changed."""
        withheld: list[str] = []
        if plan.identifiers == "removed":
            exposed = masked.named(Role.IDENTIFIER, Role.PERSON)
            withheld = [name for name in exposed if masked.frame[name].equals(self.data.frame[name])]
        score = self.measure.measure(masked.drop(withheld), original=self.data)
        numbers = {name: score.summary[name] for name in ("unexamined", "restorable")}
        counts = {name: int(number) if isinstance(number, int | float) else 0 for name, number in numbers.items()}
        return counts | {"read_back": _columns_read_back(score)}


def _columns_read_back(score: Score) -> int:
    """The columns of which another row shows some masked value."""
    table = score.per_attribute
    if table is None or not score.summary["read_back"]:
        return 0
    return table.filter((pl.col("read_back") > 0) & pl.col("accepted").is_null()).height


def _gaps_of_scores(evidence: Evidence) -> int:
    scores = (*evidence.release.values(), *evidence.informed.values(), *evidence.losses.values())
    return len({gap for score in scores for gap in score.gaps})
