"""The compiled loop that adds one set of a walk to the bounds of the queries (:mod:`discreet.risks.known_sets.bound_walk`)."""

from __future__ import annotations

from typing import Any

from discreet.engine.runtime.compiled import compiled


# active[i]: slot of the i-th active query. counts[i]: records that agree with it on the set. rare_counts[i]: those with a further
# rare value. own_is_rare[slot]: whether the query itself is one of them. asks[slot, place]: searched attributes. chances[place]:
# probability that an attribute is known. spread, rest: P and D of the attributes not searched by. order: attributes that may
# still be added. O(active x attributes). Trap: the three sums are nested: own_part (the set alone) <= aside_part (with attributes
# not searched by) <= whole_part (all).
@compiled
def close_sets(
    active: Any,
    counts: Any,
    small: int,
    rare_counts: Any,
    own_is_rare: Any,
    count_all_attributes: Any,
    asks: Any,
    chances: Any,
    weights: Any,
    learnt: Any,
    spread: Any,
    rest: Any,
    chance: float,
    allowed: Any,
    order: Any,
    low: Any,
    high: Any,
    unfinished: Any,
) -> None:
    """Add one set with its unsearched attributes, and all larger sets where that is exact or narrow enough; others go on."""
    for index in range(len(active)):
        slot = active[index]
        own_part = chance * learnt[index]
        aside_part = chance * spread[slot] * (learnt[index] - rest[slot])
        full_spread, full_rest = spread[slot], rest[slot]
        for place in order:
            if asks[slot, place]:
                full_spread *= 1 + chances[place]
                full_rest += weights[slot, place] * chances[place] / (1 + chances[place])
        whole_part = chance * full_spread * (learnt[index] - full_rest)
        inverse, most = 1.0 / counts[index], 1.0 / max(1, count_all_attributes[slot])
        if counts[index] <= count_all_attributes[slot] or (whole_part - own_part) * (most - inverse) <= allowed[slot]:
            low[slot] += whole_part * inverse
            high[slot] += own_part * inverse + (whole_part - own_part) * most
        elif counts[index] <= small:
            unfinished[index] = True  # this set and all larger ones are summed exactly
        else:
            least = max(1, count_all_attributes[slot], counts[index] - rare_counts[index] + own_is_rare[slot])
            low[slot] += aside_part * inverse
            high[slot] += own_part * inverse + (aside_part - own_part) / least
            unfinished[index] = True
