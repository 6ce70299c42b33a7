"""The steps that lower the risk of single records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.model.policy import Policy, Step
from discreet.selection.space.dimensions import (
    SCORE_TARGET,
    Point,
)


def targeted_steps(policy: Policy, point: Point, protected: Sequence[str]) -> list[Step]:
    """The step that lowers the risk of the records above the threshold.

    It names no parameters of the risk, so it takes those of the policy's ``risk`` section.
    """
    method, _, side = str(point.get("target", "none")).partition(" ")
    if method == "none":
        return []
    step: dict[str, Any] = {"method": method} | ({"protect": tuple(protected)} if protected else {})
    if point["target"] == SCORE_TARGET:
        return [Step.model_validate(step | {"risk": "special_uniques"} | _score_threshold(policy))]
    if side:
        step["side"] = side
        # the cost of a blank is unknown where a blank is a category of its own; a wildcard is a good approximation
        step |= {"missing": "wildcard", "choose": "fewest"} if side == "cheapest" else {}
    return [Step.model_validate(step)]


def _score_threshold(policy: Policy) -> dict[str, float]:
    """The largest score that the limits on special_uniques allow; the policy's own threshold where a limit counts by that."""
    limits = {limit.split(".")[1]: value for limit, value in policy.limits.items() if limit.startswith("special_uniques.")}
    if set(limits) <= {"high_risk"}:
        return {}
    return {"threshold": limits["score_max"] if set(limits) == {"score_max"} else 0.0}
