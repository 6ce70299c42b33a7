"""Neighbours of a plan in the search space, which a model of the whole space would be slow to propose."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Collection, Mapping

from discreet.model.policy import Plan
from discreet.selection.outcome import TriedPlan
from discreet.selection.search.spreading import WEIGHTED_FINISHES, spread_loss
from discreet.selection.space.dimensions import Point, Space

_FINE_DIMENSIONS = ("weight", "suppression", "k")
"""Dimensions that tune a plan: they are changed more often than those that change its methods."""
_SPREADING_SHARE = 0.3
"""Share of the neighbours of a plan in which the weights of all keys are changed at once, to spread the loss over them."""
_MUTATIONS_TRIED = 20
"""Attempts to find a neighbouring point whose plan is new."""


def draw_neighbour(
    space: Space, build: Callable[[Point], Plan], known: Collection[str], origin: TriedPlan, rng: random.Random
) -> Point | None:
    """A point that differs from that of a plan in one to three dimensions, and whose plan is new; None if none was drawn.

    ``known`` are the plans tried so far, as JSON.
    """
    if origin.point.get("finish") in WEIGHTED_FINISHES and rng.random() < _SPREADING_SHARE:
        point = spread_loss(space, origin.point, origin.outcome, rng)
        if point is not None and plan_as_json(build(point)) not in known:
            return point
    dimensions = list(space.choices)
    weights = [_mutation_weight(name, origin.outcome.loss_by_attribute) for name in dimensions]
    for _ in range(_MUTATIONS_TRIED):
        point = dict(origin.point)
        for name in dict.fromkeys(rng.choices(dimensions, weights, k=rng.choice((1, 1, 2, 3)))):
            choices = list(space.choices[name])
            if name in space.ordered:
                index = min(max(choices.index(point[name]) + rng.choice((-2, -1, 1, 2)), 0), len(choices) - 1)
            else:
                index = rng.randrange(len(choices))
            point[name] = choices[index]
        if plan_as_json(build(point)) not in known:
            return point
    return None


def _mutation_weight(dimension: str, loss_by_attribute: Mapping[str, float]) -> float:
    """How often a dimension is changed: tuning dimensions more often, and attributes by their information loss."""
    kind, _, attribute = dimension.partition(":")
    if not attribute:
        return 4.0 if kind in _FINE_DIMENSIONS else 1.0
    total = sum(loss_by_attribute.values())
    # all attributes together weigh as much as a few other dimensions; half of that follows their losses
    share = (loss_by_attribute.get(attribute, 0.0) / total if total else 0.0) + 1 / max(len(loss_by_attribute), 6)
    return 6.0 * share


def plan_as_json(plan: Plan) -> str:
    return json.dumps(plan.model_dump(mode="json"), sort_keys=True)
