"""Gaps in the evidence that a plan causes: what the final assessment of its release would find beside the limits.

An assessment is incomplete where the measure ``coverage`` finds masked values that the release gives back or columns that nobody
looked at, and where a score has a gap of its own. Some of these gaps are the policy's: the table without its identifiers, of
which nothing else is masked, has them too. They stay until the owner settles them, whatever the plan; those beyond them tell
plans apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from discreet import registry
from discreet.assessment.verdicts import Evidence
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan
from discreet.model.score import Score

_COVERAGE = "coverage"


@dataclass(frozen=True)
class Gaps:
    """The number of gaps that a plan causes, and the columns that cause them: masked as well, they would close them.

    ``keys`` are the keys whose masked values are given back: left as they are, they would need no masking of others.
    """

    number: int
    columns: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    coverage: Score | None = None
    """The score that they were read off."""


class GapCounter:
    """Counts the gaps of masked tables beyond those of the original without its identifiers.

    ``before`` are the scores of the original table.
    """

    def __init__(self, data: Microdata, before: Evidence) -> None:
        self.data = data
        self.measure = registry.create("risk", _COVERAGE, data.policy.risk.get(_COVERAGE), origin=data.policy.origin)
        self.gaps_before = _gaps_of_scores(before)

    def count(self, masked: Microdata, plan: Plan, evidence: Evidence) -> Gaps:
        """Columns that are restored or read back, columns of concern, and gaps of the scores that limits are judged on."""
        score = self.measure_coverage(masked.with_policy(masked.policy.with_(plan=plan)), plan)
        # the unmasked table takes as long to measure as this one: only where there is something to compare it with
        open_gaps = {kind: number for kind, number in _count_by_kind(score).items() if number}
        beyond = sum(max(0, number - self._unmasked[kind]) for kind, number in open_gaps.items())
        columns = tuple(name for name in columns_of_concern(score) if name not in self.columns_unmasked)
        number = beyond + max(0, _gaps_of_scores(evidence) - self.gaps_before)
        return Gaps(number, columns, keys_given_back(score, self.data) if number else (), score)

    def measure_coverage(self, masked: Microdata, plan: Plan) -> Score:
        """The coverage of the table as it is written."""
        return self.measure.measure(masked.drop(self.withheld_columns(masked, plan)), original=self.data)

    def withheld_columns(self, masked: Microdata, plan: Plan) -> list[str]:
        """The columns that are not written: identifiers and persons that no step changed, unless the plan keeps them."""
        if plan.identifiers != "removed":
            return []
        exposed = masked.named(Role.IDENTIFIER, Role.PERSON)
        return [name for name in exposed if masked.frame[name].equals(self.data.frame[name])]

    @cached_property
    def _coverage_unmasked(self) -> Score:
        return self.measure_coverage(self.data, self.data.policy.plan.model_copy(update={"steps": ()}))

    @property
    def _unmasked(self) -> dict[str, int]:
        return _count_by_kind(self._coverage_unmasked)

    @property
    def columns_unmasked(self) -> list[str]:
        """The columns of concern of the table of which nothing but identifiers is masked."""
        return columns_of_concern(self._coverage_unmasked)


def columns_of_concern(score: Score) -> list[str]:
    """The columns that give masked ones back, in the order of coverage, then the others that are a concern themselves."""
    table = score.per_attribute
    if table is None:
        return []
    open_rows = table.filter(pl.col("accepted").is_null() & pl.col("concern").is_not_null())
    giving = [name for sources in open_rows["sources"].to_list() for name in sources]
    alone = open_rows.filter(pl.col("released") & (pl.col("sources").list.len() == 0))["attribute"].to_list()
    return list(dict.fromkeys([*giving, *alone]))


def keys_given_back(score: Score, data: Microdata) -> tuple[str, ...]:
    """The keys of which released columns give masked values back."""
    table = score.per_attribute
    if table is None:
        return ()
    rows = table.filter(pl.col("accepted").is_null() & pl.col("concern").is_not_null() & (pl.col("sources").list.len() > 0))
    keys = set(data.named(Role.KEY))
    return tuple(name for name in rows["attribute"].to_list() if name in keys)


def _count_by_kind(score: Score) -> dict[str, int]:
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
