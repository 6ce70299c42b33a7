"""The results of mask and assess: a release, and its assessment."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from discreet.errors import redact_credentials
from discreet.model.attribute import Role
from discreet.model.display import Described, format_shape, list_names
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan
from discreet.model.presets.catalogue import NO_COMPLIANCE, describe_preset
from discreet.model.score import Score
from discreet.model.showing import Plottable

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class StepLog:
    """What one step of a plan did."""

    step: int
    method: str
    columns: tuple[str, ...]
    values_changed: int
    records_removed: int
    records_added: int
    seconds: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Release(Described):
    """Masked microdata with its plan and a log of each step.

    ``link`` gives the original of each masked record and is for the data controller only: it is never written with the release.
    """

    original: Microdata
    masked: Microdata
    plan: Plan
    log: tuple[StepLog, ...] = ()
    warnings: tuple[str, ...] = ()
    draw_key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False, compare=False)
    """The secret key of all random draws of this release: never displayed, and never part of anything that is published."""
    stages: tuple[Microdata, ...] = field(default=(), repr=False, compare=False)
    """The table after each step; the tables share the columns that a step did not change, so they need little memory."""

    def describe(self) -> tuple[str, dict[str, str]]:
        """Source, sizes and the steps; see :mod:`discreet.model.display`."""
        facts = {
            "steps": list_names(step.method for step in self.plan.steps if step.enabled) or "none",
            "columns": list_names(self.masked.columns),
        }
        if self.warnings:
            facts["warnings"] = f"{len(self.warnings):,}"
        size = format_shape(self.t, len(self.masked.columns))
        return f"of {redact_credentials(self.original.source)}: {size}, from {self.n:,} records", facts

    @property
    def link(self) -> NDArray[np.int64]:
        """For each masked record the row of its original, or a negative number where it was simulated."""
        return self.masked.records

    @property
    def exposed(self) -> list[str]:
        """Columns that identify persons and are still in the masked table."""
        return self.masked.named(Role.IDENTIFIER, Role.PERSON)

    @property
    def n(self) -> int:
        """Records in the initial microdata."""
        return len(self.original)

    @property
    def t(self) -> int:
        """Records in the masked microdata."""
        return len(self.masked)

    @property
    def r(self) -> int:
        """Masked records that have an original."""
        return int((self.masked.records >= 0).sum())

    @property
    def sf(self) -> float:
        """The sampling factor r / n, Truta et al., eq. 3.9."""
        return self.r / self.n if self.n else 1.0

    @property
    def fs(self) -> float:
        """The simulated factor (t - r) / t, Truta et al., eq. 3.8."""
        return (self.t - self.r) / self.t if self.t else 0.0


Status = Literal["met", "not met", "incomplete"]
"""The states of a verdict; ``incomplete``: the evidence does not cover everything that has to be judged."""

RELEASE_ALONE = "release alone"
KNOWS_ORIGINALS = "knows the original values"
NO_LIMITS = "no limits are set, so the release was not judged"
NO_RISK_LIMIT = "no limit on disclosure risk is set, so nothing says how safe the release must be"


@dataclass(frozen=True)
class Verdict:
    """One limit, what was measured, and whether it is met.

    ``found`` is the number that was judged: the worse of those of the intruders that were measured. ``measured_release`` is that
    of an intruder who has the release only, ``measured_informed`` that of an intruder who also knows the original values; either
    is None where the measure has no such intruder or could not be computed. ``intruder`` names the intruder who was judged, and
    is None for a limit on information loss.
    """

    limit: str
    wanted: float
    found: float | None
    status: Status
    sentence: str
    intruder: str | None = None
    measured_release: float | None = None
    measured_informed: float | None = None

    @property
    def kept(self) -> bool:
        """Whether the limit is met; False where the evidence is incomplete."""
        return self.status == "met"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; ``wanted``, ``found`` and ``kept`` are the names that programs rely on."""
        return {
            "limit": self.limit,
            "wanted": self.wanted,
            "found": self.found,
            "kept": self.kept,
            "status": self.status,
            "intruder": self.intruder,
            "measured_release": self.measured_release,
            "measured_informed": self.measured_informed,
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class Assessment(Plottable):
    """Risks before and after, losses, and the verdict limit by limit.

    ``after`` are the risks of the masked table alone, for an intruder who has only the file; ``informed`` are those of an
    intruder who also knows the original values, for the measures where this makes a difference. ``gaps`` are sentences on what
    the evidence does not cover; ``judge`` says whether limits on risk were judged on the worse of both intruders or on the
    release alone.
    """

    before: Mapping[str, Score]
    after: Mapping[str, Score]
    informed: Mapping[str, Score]
    losses: Mapping[str, Score]
    verdicts: tuple[Verdict, ...]
    records_before: int
    records_after: int
    warnings: tuple[str, ...] = ()
    records: Callable[[], pl.DataFrame] | None = field(default=None, repr=False, compare=False)
    """Builds the table of ``per_record`` on demand."""
    gaps: tuple[str, ...] = ()
    judge: Literal["both", "release"] = "both"
    presets: tuple[Mapping[str, Any], ...] = ()
    """The presets that the limits come from, with what each checks and which of its limits were changed."""

    def __getstate__(self) -> dict[str, Any]:
        """The assessment with its table per record, because the function that builds it cannot be pickled."""
        return vars(self) | {"records": _Built(self.records()) if self.records is not None else None}

    def __repr__(self) -> str:
        met = sum(verdict.status == "met" for verdict in self.verdicts)
        facts = [
            f"{self.status}: {met:,} of {len(self.verdicts):,} limits met",
            f"{self.records_before:,} records before, {self.records_after:,} after",
            f"risks: {list_names(self.after) or 'none'}",
            f"losses: {list_names(self.losses) or 'none'}",
        ]
        return f"<Assessment {'; '.join(facts)}>"

    def per_record(self) -> pl.DataFrame:
        """One row per masked record: its re-identification probability by intruder, the worst, and what that attack requires."""
        return self.records() if self.records is not None else pl.DataFrame()

    @property
    def coverage(self) -> Score | None:
        """The coverage score: what no intruder model and no step examined, by column; None where it could not be measured."""
        return self.after.get("coverage")

    @property
    def status(self) -> Status:
        """``not met`` where a limit is not met; else ``incomplete`` where something could not be judged; else ``met``."""
        states = {verdict.status for verdict in self.verdicts}
        if "not met" in states:
            return "not met"
        return "met" if states == {"met"} and not self.gaps else "incomplete"

    @property
    def ok(self) -> bool:
        """Whether every limit is met and the evidence covers the release."""
        return self.status == "met"

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict in sentences, the most important first: what was not judged, the state, and each gap."""
        not_judged = "Judged on the release alone, as the policy says (judge: release): what an intruder who knows the original "
        not_judged += "values learns was not judged."
        first = (*((not_judged,) if self.judge == "release" else ()), *self._accepted())
        return (*first, f"{_headline(self)}", *(f"{gap[:1].upper()}{gap[1:]}." for gap in self.gaps))

    @property
    def preset_sentences(self) -> tuple[str, ...]:
        """What each preset checks, its conditions, and that this is no statement of compliance; empty without presets."""
        sentences = [text for use in self.presets for text in (describe_preset(use), *use["conditions"])]
        return (*dict.fromkeys(sentences), NO_COMPLIANCE) if sentences else ()

    def _accepted(self) -> tuple[str, ...]:
        """The columns that the data controller accepted despite a concern, with the reasons."""
        table = self.coverage.per_attribute if self.coverage is not None else None
        if table is None or "accepted" not in table.columns:
            return ()
        rows = table.drop_nulls("accepted").select("attribute", "accepted").rows()
        listed = "; ".join(f"'{column}' ({reason})" for column, reason in rows)
        return (f"Accepted by the owner, not judged: {listed}.",) if rows else ()

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain JSON values, without the scores."""
        return {
            "ok": self.ok,
            "status": self.status,
            "judge": self.judge,
            "gaps": list(self.gaps),
            "limits": [verdict.to_dict() for verdict in self.verdicts],
            "presets": [dict(use) for use in self.presets],
        }


@dataclass(frozen=True)
class _Built:
    """A table that was built already, in place of the function that builds it."""

    table: pl.DataFrame

    def __call__(self) -> pl.DataFrame:
        return self.table


def _headline(assessment: Assessment) -> str:
    """The verdict in one sentence, with the number of limits in each state."""
    number = len(assessment.verdicts)
    limits = "the one limit is" if number == 1 else f"all {number} limits are"
    missed = sum(verdict.status == "not met" for verdict in assessment.verdicts)
    unjudged = sum(verdict.status == "incomplete" for verdict in assessment.verdicts)
    if assessment.status == "met":
        return f"Met: {limits} met."
    if assessment.status == "not met":
        which = "the one limit is" if number == 1 else f"{missed} of {number} limits {'is' if missed == 1 else 'are'}"
        more = f"; {unjudged} more could not be judged" if unjudged else ""
        return f"Not met: {which} not met{more}."
    if unjudged:
        which = "the one limit" if number == 1 else f"{unjudged} of {number} limits"
        return f"Incomplete: {which} could not be judged."
    return "Incomplete: the evidence does not cover the release" + (f", although {limits} met." if number else ".")
