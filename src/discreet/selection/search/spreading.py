"""A move of the search: the loss is spread over the keys.

Local suppression blanks the key that saves most records for its cost. With equal costs that is often one key, which ends up blank
in most records. Groups of near records lose most of the key that counts least in their distance. The weights of the keys that
lose too much are raised and those of the others lowered, by powers of two.
"""

from __future__ import annotations

import math
import random

from discreet.selection.outcome import Outcome
from discreet.selection.space.dimensions import WITH_KEYS, Point, Space

WEIGHTED_FINISHES = ("local_suppression", "clusters", "balanced_partition", "microaggregation")
"""The finishes of which each key has a weight."""
_SMALLEST_SHARE = 0.01
"""Added to the losses, so that a key that loses nothing has a finite ratio to the mean."""
_LARGEST_STEP = 3


def spread_loss(space: Space, point: Point, outcome: Outcome, rng: random.Random) -> Point | None:
    """The point with other weights of the keys, and of the columns masked with them; None where there is nothing to spread.

    The loss of a key is the share of suppressed values for local suppression, and its mean penalty else. A key that is recoded to
    a single value is blank already and keeps its weight.
    """
    by_suppression = point.get("finish") == "local_suppression"
    losses = {name: change.suppressed if by_suppression else change.penalty for name, change in outcome.changes.items()}
    joined = [name for name in space.companions if point.get(f"beside:{name}") == WITH_KEYS]
    shares = {
        name: losses.get(name, 0.0)
        for name in dict.fromkeys((*space.keys, *joined))
        if name not in space.protected
        and len(space.choices.get(f"weight:{name}", ())) > 1
        and int(point.get(f"level:{name}", 0)) < space.heights.get(name, 1)
    }
    if len(shares) < 2 or max(shares.values()) == 0.0:
        return None
    mean = sum(shares.values()) / len(shares)
    strength = rng.choice((0.5, 1.0))
    changed = dict(point)
    for name, share in shares.items():
        choices = list(space.choices[f"weight:{name}"])
        step = round(strength * math.log2((share + _SMALLEST_SHARE) / (mean + _SMALLEST_SHARE)))
        step = min(max(step, -_LARGEST_STEP), _LARGEST_STEP)
        index = choices.index(point[f"weight:{name}"]) + step
        changed[f"weight:{name}"] = choices[min(max(index, 0), len(choices) - 1)]
    return changed if changed != point else None
