"""The outcome of one plan: its risk and loss, what it changes, and by how much it misses the limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from discreet import registry
from discreet.model.policy import Plan
from discreet.selection.changes import AttributeChange
from discreet.selection.space.dimensions import Point

MOST_BLANK = 0.6
"""The share of a key's values from which suppressing them counts as losing the key."""
GAP_PENALTY = 4.0
"""Added to the loss by which plans are ranked where the release leaves a gap in the evidence: more than all other penalties."""
LARGEST_CHANGE_OF_EFFECT = 0.25
"""The change of a named regression effect, as a share of it, from which the effect counts as lost."""
_LOST_EFFECT_PENALTY = 0.5
"""Added to the loss by which plans are ranked where a named regression effect is lost; less than for a lost key."""
STOPPED = "it was stopped"
"""The start of the error of a plan that took too long."""
CANNOT_RUN = 1e6
"""The violation of a limit by a plan that cannot run, or for which the limit cannot be measured."""
_CONDITIONS_FIRST = 1e4
"""The distance of a plan that changes a protected column: more than limits can be missed by in practice, less than a plan that
cannot run."""
_LEAST_DISTANCE = 1e-9
"""Added to the distance of a plan that misses some limit: it ranks behind all that meet every limit."""
_JOURNAL_NAMES = {"measured": "found", "loss_by_attribute": "lost"}
"""Fields of an outcome that journals hold under another name, so that earlier searches can be resumed."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a plan: its risk and loss, the measured values of the limits, and by how much each limit is missed.

    ``missed`` has one entry per unmet limit: the violation as a share of the larger of the limit and the value of the original.
    """

    risk: float
    loss: float
    measured: Mapping[str, float | None] = field(default_factory=dict)
    """The values of the limits and of the map's axes, by MEASURE.FIELD."""
    missed: Mapping[str, float] = field(default_factory=dict)
    error: str | None = None
    seconds: float = 0.0
    loss_by_attribute: Mapping[str, float] = field(default_factory=dict)
    """The loss of each attribute, where the measure has one: the search changes attributes with much loss more often."""
    blank: float = 0.0
    """The largest share of the values of a key that the plan suppresses."""
    blank_keys: float = 0.0
    """The share of the keys of which the plan suppresses most values."""
    unjudged: float = 0.0
    """Added to the distance if the intruder who knows the original values was not measured: the release alone misses a limit."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """The parts of the objective: information, falsehood, associations."""
    changes: Mapping[str, AttributeChange] = field(default_factory=dict)
    """What the plan does to each attribute that it changes, most penalised first."""
    skipped: bool = False
    """Whether a limit was left undecided because the plan loses more than one that meets the limits."""
    gaps: int | None = None
    """The gaps in the evidence that the plan itself causes; None: not measured, so nothing is known of them."""
    gap_columns: tuple[str, ...] = ()
    """The columns that cause these gaps."""
    gap_keys: tuple[str, ...] = ()
    """The keys of which these columns give masked values back."""
    effect: float = 0.0
    """The largest change of a regression effect that the owner names, as a share of it."""

    @property
    def meets_limits(self) -> bool:
        return not self.missed and self.error is None

    @property
    def was_stopped(self) -> bool:
        """Whether the plan took too long to be tried."""
        return self.error is not None and self.error.startswith(STOPPED)

    @property
    def is_acceptable(self) -> bool:
        """Whether the plan meets every limit and an assessment of its release finds no gap that the plan causes."""
        return self.meets_limits and self.gaps == 0

    @property
    def distance(self) -> float:
        """The distance from meeting all limits: the sum of the violations."""
        return CANNOT_RUN if self.error is not None else sum(self.missed.values()) + self.unjudged

    @property
    def distance_of_risks(self) -> float:
        """The distance from meeting the limits on disclosure risk: the sum of their violations."""
        if self.error is not None:
            return CANNOT_RUN
        return self.unjudged + sum(violation for limit, violation in self.missed.items() if _is_on_disclosure(limit))

    @property
    def rank(self) -> tuple[float, float, float]:
        """Less is better: by loss if the limits are met, else by distance, that of the risks first, and then by risk.

        What the owner asks of columns (``protect``, ``keep``) comes before all distances: no such column is given up for a limit.
        Where a limit on loss cannot be met together with one on risk, the table as it is would be the closest plan otherwise.
        A plan that suppresses most of a key ranks behind all plans that do not. One that leaves gaps in the evidence, or of
        which nobody looked for them, ranks behind all others that meet the limits.
        """
        loss = self.ranked_loss + (GAP_PENALTY if self.gaps is None else 0.0)
        if self.meets_limits:
            return 0.0, loss, self.risk
        conditions = sum(self.missed[name] for name in self.missed_conditions)
        return _LEAST_DISTANCE + _CONDITIONS_FIRST * conditions + self.distance_of_risks, self.distance, self.risk

    @property
    def missed_conditions(self) -> tuple[str, ...]:
        """What the owner asks of columns by ``protect`` and ``keep`` and the plan does not meet."""
        return tuple(name for name in self.missed if " " in name)

    @property
    def ranked_loss(self) -> float:
        """The loss with what is added for lost keys, lost regression effects and known gaps in the evidence.

        1 and the share of such keys if most of a key is suppressed, 0.5 if a named effect is lost, and 4 for gaps.
        """
        lost_keys = 1.0 + self.blank_keys if self.blank > MOST_BLANK else 0.0
        lost_effect = _LOST_EFFECT_PENALTY if self.effect > LARGEST_CHANGE_OF_EFFECT else 0.0
        return self.loss + lost_keys + lost_effect + (GAP_PENALTY if self.gaps else 0.0)

    @property
    def share_changed(self) -> float:
        """The values that are not exactly as in the original, in columns: 1 is one whole column."""
        return sum(change.suppressed + change.coarser + change.false for change in self.changes.values())

    def is_no_better_than(self, other: Outcome) -> bool:
        """Whether another plan has no more risk, no more loss, and is at least as truthful."""
        own_false, other_false = self.parts.get("falsehood", 0.0), other.parts.get("falsehood", 0.0)
        truthful = (other_false, other.share_changed) <= (own_false, self.share_changed)
        return other.risk <= self.risk and other.ranked_loss <= self.ranked_loss and truthful

    def to_journal(self) -> dict[str, Any]:
        """The fields under the names that a journal holds."""
        return {_JOURNAL_NAMES.get(name, name): value for name, value in asdict(self).items()}

    @classmethod
    def from_journal(cls, content: Mapping[str, Any]) -> Self:
        """The outcome that :meth:`to_journal` gave."""
        fields = {name: field for field, name in _JOURNAL_NAMES.items()}
        values = {fields.get(name, name): value for name, value in content.items()}
        changes = {name: AttributeChange(**change) for name, change in values.get("changes", {}).items()}
        names = {field: tuple(values.get(field, ())) for field in ("gap_columns", "gap_keys")}
        return cls(**values | {"changes": changes} | names)


@dataclass(frozen=True)
class TriedPlan:
    """A plan that was tried, the point that it was built from, and its outcome."""

    point: Point
    plan: Plan
    outcome: Outcome


def _is_on_disclosure(limit: str) -> bool:
    """Whether a limit is on disclosure risk; what the owner asks for by ``keep`` and ``protect`` is not."""
    return " " not in limit and registry.judges_disclosure(limit)
