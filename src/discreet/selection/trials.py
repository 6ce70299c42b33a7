"""Reports of the plans that the wizard tries, one by one, while it searches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from discreet import registry
from discreet.model.policy import Plan
from discreet.selection.changes import describe_changes
from discreet.selection.outcome import Outcome


@dataclass(frozen=True)
class Trial:
    """A plan that was tried: a point of the map.

    ``number`` counts from 1 over the whole search; ``plan`` is the content of a policy's ``plan`` section. ``risk`` and
    ``loss`` are the coordinates on the map, less of either is better (a risk of which more is safer has its sign reversed);
    ``risks`` and ``losses`` are the measured values of the limits and of the axes, by MEASURE.FIELD, in the direction of their
    measures. ``kept`` says whether every limit is met and an assessment of the release finds no gap that the plan causes,
    ``missed`` by how much each unmet limit is missed (see :class:`~discreet.selection.outcome.Outcome`), ``gaps`` the number of
    such gaps (None: not measured, because an earlier plan is at least as good in everything, because there was no time, or on a
    sample), and ``best`` whether no earlier plan on the same table was better.

    Only trials with ``whole`` were measured on the whole table. The others were measured on a sample, against limits scaled to
    its size: they guide the search and say nothing about a release. ``error`` is the reason why a plan could not run; such a
    trial has no measured values. ``parts`` are the parts of the objective, ``words`` what the plan does to each attribute.
    """

    number: int
    plan: Mapping[str, Any]
    risk: float
    loss: float
    risks: Mapping[str, float | None]
    losses: Mapping[str, float | None]
    kept: bool
    missed: Mapping[str, float]
    whole: bool
    best: bool
    error: str | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    gaps: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


OnTrial = Callable[[Trial], None]


class TrialReporter:
    """Numbers the trials and passes them to ``on_trial``; ``report`` is called once per plan, in the order of the trials."""

    def __init__(self, on_trial: OnTrial | None) -> None:
        self.on_trial = on_trial
        self.number = 0
        self.best_ranks: dict[bool, tuple[float, float, float]] = {}
        """The best rank so far, on the whole table (True) and on the sample (False)."""

    def report(self, plan: Plan, outcome: Outcome, *, whole: bool) -> None:
        self.number += 1
        best = outcome.error is None and (whole not in self.best_ranks or outcome.rank < self.best_ranks[whole])
        if best:
            self.best_ranks[whole] = outcome.rank
        if self.on_trial is None:
            return
        kinds = {name: registry.resolve_limit(name, origin="select")[0] for name in outcome.measured}
        risks, losses = (
            {name: value for name, value in outcome.measured.items() if kinds[name] == kind} for kind in ("risk", "loss")
        )
        kept = outcome.is_acceptable if whole else outcome.meets_limits
        words = tuple(describe_changes(outcome.changes)) if outcome.error is None else ()
        content = plan.model_dump(mode="json", exclude_defaults=True)
        self.on_trial(
            Trial(
                self.number, content, outcome.risk, outcome.loss, risks, losses, kept, dict(outcome.missed),
                whole, best, outcome.error, dict(outcome.parts), words, outcome.gaps,
            )
        )  # fmt: skip
