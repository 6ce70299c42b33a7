"""The steps that lower the risk of single records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.engine.known_sets.effective_size import FEW
from discreet.model.policy import Policy, Step
from discreet.selection.space.dimensions import (
    SCORE_TARGET,
    SPARED,
    Point,
)

_LIMITS_ON_SIZES = {"known_sets.below_5", "known_sets.effective_k_min", "known_sets.effective_k_median"}


def targeted_steps(policy: Policy, point: Point, protected: Sequence[str]) -> list[Step]:
    """The step that lowers the risk of the records above the threshold.

    It takes the parameters of the policy's ``risk`` section. Only where the limits are on effective class sizes alone, its
    threshold is the size that they ask for, times the margin of the point.
    """
    method, _, side = str(point.get("target", "none")).partition(" ")
    if method == "none":
        return []
    spared = [name.removeprefix("spare:") for name, choice in point.items() if name.startswith("spare:") and choice == SPARED]
    whole = tuple(dict.fromkeys([*protected, *spared]))
    step: dict[str, Any] = {"method": method} | ({"protect": whole} if whole else {})
    if point["target"] == SCORE_TARGET:
        return [Step.model_validate(step | {"risk": "special_uniques"} | _score_threshold(policy))]
    size = required_effective_size(policy)
    if size is not None:
        step["threshold"] = {"among": round(size * float(point.get("margin", 1.0)), 6)}
    if side:
        step["side"] = side
        # the cost of a blank is unknown where a blank is a category of its own; a wildcard is a good approximation
        step |= {"missing": "wildcard", "choose": "fewest"} if side == "cheapest" else {}
    return [Step.model_validate(step)]


def required_effective_size(policy: Policy) -> float | None:
    """The smallest effective class size that the limits ask for; None where they ask for none, or limit known_sets otherwise.

    None too where they are about the population, of whose classes those of the file tell little.
    """
    if policy.risk.get("known_sets", {}).get("population", "none") != "none":
        return None
    limits = {limit: number for limit, number in policy.limits.items() if limit.startswith("known_sets.")}
    few = float(FEW) if "known_sets.below_5" in limits else 0.0
    size = max(few, limits.get("known_sets.effective_k_min", 0.0))
    return size if size > 1 and limits.keys() <= _LIMITS_ON_SIZES else None


def _score_threshold(policy: Policy) -> dict[str, float]:
    """The largest score that the limits on special_uniques allow; the policy's own threshold where a limit counts by that."""
    limits = {limit.split(".")[1]: value for limit, value in policy.limits.items() if limit.startswith("special_uniques.")}
    if set(limits) <= {"high_risk"}:
        return {}
    return {"threshold": limits["score_max"] if set(limits) == {"score_max"} else 0.0}
