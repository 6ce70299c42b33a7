"""The plans of a search as a page shows them: points of the risk-utility map, and which of them are dominated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from discreet.selection.choices import PlanChoice, dominating_plans
from discreet.selection.frontier import MapPoint, explain_domination, frontier, mark_dominated
from discreet.selection.objective import OBJECTIVE
from discreet.web.jobs.queue import Job

MAX_TABLE_ROWS = 60
"""Maximum number of rows in the table below the map."""


@dataclass(frozen=True)
class CandidatePlan:
    """One plan that the search has measured."""

    number: int
    risk: float
    loss: float
    numbers: Mapping[str, float | None]
    """The measured values of the limits and axes, by MEASURE.FIELD."""
    meets_limits: bool
    whole_table: bool
    """Whether it was measured on the whole table rather than on a sample."""
    dominated: bool
    plan: dict[str, Any]
    words: tuple[str, ...] = ()
    """What the plan does to each attribute."""
    why_dominated: str = ""
    """Why a plan that meets the limits is not on their frontier, with numbers."""
    gaps: Literal["", "left", "not looked for"] = ""
    """Why a plan whose limits are met does not count: it leaves gaps in the evidence, or nobody looked for them."""

    @property
    def verdict(self) -> str:
        """Whether the limits are met, in words."""
        return "meets every limit" if self.meets_limits else f"gaps {self.gaps}" if self.gaps else "a limit is not met"

    @property
    def displayed_risk(self) -> float:
        """The risk in the direction of its measure; measures for which high is safe are stored with a negative sign."""
        return abs(self.risk)


@dataclass(frozen=True)
class PlanSearch:
    """The current state of a search."""

    plans: list[CandidatePlan]
    failed_count: int
    best: CandidatePlan | None
    risk_name: str
    loss_name: str
    reasons: list[str]
    met: bool | None
    """Whether the chosen plan meets every limit; None while the search runs."""
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    """The hierarchies that the search added to the policy, by attribute: the plans refer to their levels."""
    choices: list[PlanChoice] = field(default_factory=list)
    """The three plans to choose from, once the search has ended."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """The limits that the search had to meet: the required number, by MEASURE.FIELD; empty while it runs."""

    @property
    def table_rows(self) -> list[CandidatePlan]:
        """The rows of the table: plans measured on the whole table first, the frontier before dominated plans, then by loss."""
        return sorted(self.plans, key=lambda plan: (not plan.whole_table, plan.dominated, plan.loss, plan.risk))[:MAX_TABLE_ROWS]

    @property
    def chart_points(self) -> list[dict[str, Any]]:
        """The points of the chart, read by static/frontier.js."""
        return [
            {
                "number": plan.number, "risk": plan.displayed_risk, "loss": plan.loss, "met": plan.meets_limits,
                "whole": plan.whole_table, "dominated": plan.dominated, "verdict": plan.verdict,
            }
            for plan in self.plans
        ]  # fmt: skip

    @property
    def higher_is_safer(self) -> bool:
        """Whether high values of the risk measure are safe, as for the k of k-anonymity."""
        return any(plan.risk < 0 for plan in self.plans)

    def find(self, number: int) -> CandidatePlan | None:
        """The plan with a number."""
        return next((plan for plan in self.plans if plan.number == number), None)


def read_search(job: Job) -> PlanSearch:
    """Read the plans of a search job so far, and its result if it has ended."""
    trials = list(job.partial or ())
    result = job.result or {}
    measured = [trial for trial in trials if trial.get("error") is None and _all_finite(trial.get("risk"), trial.get("loss"))]
    plans: list[CandidatePlan] = []
    for whole in (True, False):
        same_table = [trial for trial in measured if bool(trial["whole"]) is whole]
        points = [MapPoint(f"plan {trial['number']}", trial["risk"], trial["loss"], trial["kept"]) for trial in same_table]
        marks, why = mark_dominated(points), _explain_dominated(points)
        plans += [
            CandidatePlan(
                trial["number"], trial["risk"], trial["loss"], {**trial.get("risks", {}), **trial.get("losses", {})},
                trial["kept"], whole, mark.dominated, trial["plan"], tuple(trial.get("words", ())), why.get(mark.name, ""),
                _describe_gaps(trial),
            )
            for trial, mark in zip(same_table, marks, strict=True)
        ]  # fmt: skip
    return PlanSearch(
        plans,
        len(trials) - len(measured),
        _choose_best(plans, result),
        _axis_name(result, "risk", job) or _infer_risk_name(plans),
        _axis_name(result, "loss", job) or OBJECTIVE,
        [str(reason) for reason in result.get("why", [])],
        result.get("met"),
        next((trial["hierarchies"] for trial in trials if trial.get("hierarchies")), {}),
        [PlanChoice.from_dict(choice) for choice in result.get("choices", ())],
        dict(result.get("limits_wanted") or {}),
    )


def _describe_gaps(trial: Mapping[str, Any]) -> Literal["", "left", "not looked for"]:
    if trial["kept"] or trial.get("missed"):
        return ""
    return "left" if trial.get("gaps") else "not looked for"


def _explain_dominated(points: list[MapPoint]) -> dict[str, str]:
    """Why each dominated plan that meets the limits is not on their frontier."""
    by_name = {point.name: point for point in points}
    dominating = dominating_plans(points, frontier([point for point in points if point.kept]))
    return {name: explain_domination(by_name[name], by_name[better]) for name, better in dominating.items()}


def _choose_best(plans: list[CandidatePlan], result: Mapping[str, Any]) -> CandidatePlan | None:
    """The plan that the search chose; before it has ended, the plan with the least loss that meets every limit."""
    chosen = [
        plan for plan in plans if plan.whole_table and result and plan.plan.get("steps") == result.get("plan", {}).get("steps")
    ]
    acceptable = [plan for plan in plans if plan.whole_table and plan.meets_limits]
    return min(chosen or acceptable, key=lambda plan: (plan.loss, plan.risk), default=None)


def _axis_name(result: Mapping[str, Any], kind: str, job: Job) -> str:
    """The measure of an axis: from the result of the search, else from its parameters."""
    axis = result.get(kind)
    return str(axis.get("name", kind)) if isinstance(axis, Mapping) else str(job.parameters.get(kind) or "")


def _infer_risk_name(plans: list[CandidatePlan]) -> str:
    """The name of the measured value that equals the risk of every plan so far."""
    names = plans[0].numbers if plans else ()
    return next((name for name in names if all(plan.numbers.get(name) == plan.displayed_risk for plan in plans)), "risk")


def _all_finite(*numbers: Any) -> bool:
    return all(isinstance(number, int | float) and math.isfinite(number) for number in numbers)
