"""What the later verbs return: a release, and the assessment of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan
from discreet.model.score import Score
from discreet.model.showing import Shown

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


@dataclass(frozen=True)
class Release:
    """Masked microdata with the plan that made it and a log a step.

    ``link`` ties each masked record to its original and stays with the owner: nothing of it is ever written.
    """

    original: Microdata
    masked: Microdata
    plan: Plan
    log: tuple[StepLog, ...] = ()
    warnings: tuple[str, ...] = ()
    stages: tuple[Microdata, ...] = field(default=(), repr=False, compare=False)
    """The table after each step that ran; they share the columns that a step left alone, so they are cheap to keep."""

    @property
    def link(self) -> NDArray[np.int64]:
        """For each masked record the row of its original, or a negative number where it was simulated."""
        return self.masked.records

    @property
    def exposed(self) -> list[str]:
        """Columns that name people and are in the masked table all the same."""
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
        """The sampling factor r / n, seed 002 (3.9)."""
        return self.r / self.n if self.n else 1.0

    @property
    def fs(self) -> float:
        """The simulated factor (t - r) / t, seed 002 (3.8)."""
        return (self.t - self.r) / self.t if self.t else 0.0


@dataclass(frozen=True)
class Verdict:
    """One limit, what was measured, and whether it is kept."""

    limit: str
    wanted: float
    found: float | None
    kept: bool
    sentence: str


@dataclass(frozen=True)
class Assessment(Shown):
    """Risks before and after, losses, and the verdict limit by limit.

    ``after`` is the masked table measured on its own, as anyone can who has only the file; ``informed`` is the same
    intruder holding the true values, for the measures where that makes a difference.
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
    """Makes the table that ``per_record`` gives; it is not made before somebody asks."""

    def per_record(self) -> pl.DataFrame:
        """A row a masked record: its chance of being found by each adversary, the worst of them, and what it would take."""
        return self.records() if self.records is not None else pl.DataFrame()

    @property
    def ok(self) -> bool:
        """Whether every limit is kept."""
        return all(verdict.kept for verdict in self.verdicts)
