"""Three plans to choose from: the one with the least loss, the most truthful one and the safest one.

All three meet every limit and leave no gap in the evidence, if there is such a plan. The most truthful plan has the least
falsehood and, of equal ones, the largest share of values that are exactly as in the original. The safest plan has the least risk
on the map's axis. A plan that suppresses most of a key is one of the three only if every plan that meets the limits does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self, get_args

from discreet.model.policy import Plan
from discreet.selection.changes import AttributeChange, describe_changes, format_share
from discreet.selection.frontier import MapPoint, dominates
from discreet.selection.options import Preference, SelectOptions
from discreet.selection.outcome import Outcome, TriedPlan

PREFERENCES: tuple[Preference, ...] = get_args(Preference)


@dataclass(frozen=True)
class PlanChoice:
    """One of the three plans, with what it changes in numbers and in words.

    ``name`` is its name on the map; ``parts`` are the parts of the objective, ``measured`` the values of the limits and losses by
    MEASURE.FIELD, ``blank`` the largest share of a key's values that is suppressed.
    """

    title: Preference
    name: str
    plan: Plan
    risk: float
    loss: float
    parts: Mapping[str, float]
    measured: Mapping[str, float | None]
    blank: float
    changes: Mapping[str, AttributeChange]
    sentences: tuple[str, ...]

    @property
    def number(self) -> int:
        """The number of the plan on the map."""
        return int(self.name.removeprefix("plan "))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """The choice that :meth:`to_dict` wrote; the sign of the risk, which only orders plans, is not in it."""
        return cls(
            content["title"], content["name"], Plan.model_validate(content["plan"]), content["risk"], content["loss"],
            content["parts"], content["measured"], content["blank"],
            {name: AttributeChange(**change) for name, change in content["changes"].items()}, tuple(content["words"]),
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "title": self.title,
            "name": self.name,
            "risk": abs(self.risk),
            "loss": self.loss,
            "parts": dict(self.parts),
            "measured": dict(self.measured),
            "blank": self.blank,
            "changes": {name: asdict(change) for name, change in self.changes.items()},
            "words": list(self.sentences),
            "plan": self.plan.model_dump(mode="json", exclude_defaults=True),
        }


def rank_plan(outcome: Outcome, options: SelectOptions, worst: float) -> tuple[float, float, float]:
    """By loss, or by cost, if the limits are met; else by the distance from them. ``worst`` is the risk of the original table."""
    if options.cost is None or not outcome.meets_limits:
        return outcome.rank
    risk_share = outcome.risk / abs(worst) if worst else outcome.risk
    return 0.0, options.cost.loss * outcome.ranked_loss + options.cost.risk * risk_share, outcome.risk


def choose_plan(tried: Sequence[TriedPlan], options: SelectOptions, worst: float, title: Preference = "least loss") -> TriedPlan:
    """The best plan by one of the three preferences; the closest one if none meets the limits. Of equal plans the shortest."""
    meeting = [plan for plan in tried if plan.outcome.meets_limits]
    meeting = [plan for plan in meeting if plan.outcome.gaps == 0] or meeting
    return min(meeting or tried, key=lambda plan: preference_order(plan, options, worst, title if meeting else "least loss"))


def preference_order(plan: TriedPlan, options: SelectOptions, worst: float, title: Preference) -> tuple[float, ...]:
    """By what plans are ordered under one of the three preferences; less is better."""
    outcome = plan.outcome
    orders: dict[Preference, tuple[float, ...]] = {
        "least loss": rank_plan(outcome, options, worst),
        "most truthful": (
            outcome.blank_keys,
            outcome.parts.get("falsehood", 0.0),
            outcome.share_changed,
            outcome.loss,
        ),
        "safest": (outcome.blank_keys, outcome.risk, outcome.loss),
    }
    return (*orders[title], len(plan.plan.steps))


def three_plans(named: Mapping[str, TriedPlan], options: SelectOptions, worst: float) -> tuple[PlanChoice, ...]:
    """The three plans, by name on the map; none if no plan meets the limits. One plan may be two of them, or all three."""
    if not any(plan.outcome.meets_limits for plan in named.values()):
        return ()
    choices: list[PlanChoice] = []
    for title in PREFERENCES:
        best = choose_plan(list(named.values()), options, worst, title)
        name = next(name for name, plan in named.items() if plan is best)
        same = [choice.title for choice in choices if choice.name == name]
        sentences = [f"The same plan as {same[0]}."] if same else describe_changes(best.outcome.changes)
        if title == "safest":
            sentences += _describe_safer(named, best)
        choices.append(_make_choice(title, name, best, sentences))
    return tuple(choices)


def _describe_safer(named: Mapping[str, TriedPlan], best: TriedPlan) -> list[str]:
    """A sentence if a plan with less risk was passed over because it suppresses most of a key."""
    safer = [
        (plan.outcome.risk, name, plan)
        for name, plan in named.items()
        if plan.outcome.meets_limits and not plan.outcome.gaps and plan.outcome.risk < best.outcome.risk
    ]
    if not safer or best.outcome.blank_keys >= min(plan.outcome.blank_keys for _, _, plan in safer):
        return []
    _, name, plan = min(safer, key=lambda entry: entry[:2])
    return [f"{name} has less risk, but suppresses {format_share(plan.outcome.blank)} of the values of a key."]


def _make_choice(title: Preference, name: str, tried: TriedPlan, sentences: Sequence[str]) -> PlanChoice:
    outcome = tried.outcome
    return PlanChoice(
        title, name, tried.plan, outcome.risk, outcome.loss, outcome.parts, outcome.measured, outcome.blank, outcome.changes,
        tuple(sentences),
    )  # fmt: skip


def dominating_plans(points: Sequence[MapPoint], best_points: Sequence[MapPoint]) -> dict[str, str]:
    """For each dominated plan that meets the limits, the plan of the frontier that dominates it with the least loss.

    A plan that meets the limits is only compared with plans that do.
    """
    kept = [point for point in best_points if point.kept]
    by: dict[str, str] = {}
    for point in points:
        better = [other for other in kept if dominates(other, point)] if point.kept else []
        if better:
            by[point.name] = min(better, key=lambda other: (other.loss, other.risk)).name
    return by
