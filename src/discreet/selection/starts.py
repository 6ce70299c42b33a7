"""The rules: points that a statistician would try first, from roles, levels and the risk profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from discreet import registry
from discreet.errors import DiscreetError
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.selection.proposals import released
from discreet.selection.space import BESIDE_NAMES, GENERALIZED, LIGHT, Choice, Point, Space

_FIRST = (
    "balanced_partition",
    "full_domain",
    "partition",
    "balanced_persons",
    "balanced",
    "microaggregation",
    "local_suppression",
)
_MANY = 30
"""Values of a name from which on groups of near records are made of coarser ones to begin with."""


def risk_profile(data: Microdata, known: Score | None = None) -> tuple[list[str], list[str]]:
    """The attributes of the sets by which the riskiest records are found, and the sensitive ones in those records.

    Both fall by how many of the thousand riskiest records they concern; empty where known_sets cannot be measured. It is
    measured unless it was before, and is given as ``known``.
    """
    try:
        measure = registry.make("risk", "known_sets", data.policy.risk.get("known_sets"), origin=data.policy.origin)
        table = (known or measure.measure(data)).per_record
    except DiscreetError:
        return [], []
    if table is None or not table.height:
        return [], []
    order = np.argsort(-table["risk"].to_numpy(), kind="stable")[:1000]
    names = set(data.columns)
    sets = Counter(
        name for text in table["top_set"].gather(order.tolist()).to_list() for name in text.split("+") if name in names
    )
    sensitive: Counter[str] = Counter()
    for name in released(data):
        attribute = data.attribute(name)
        if attribute.sensitivity > 0:
            values = data.frame[name].gather(order.tolist()).to_list()
            sensitive[name] = sum(attribute.value_weight(value) > 0 for value in values)
    return [name for name, _ in sets.most_common()], [name for name, _ in sensitive.most_common()]


def starts(space: Space, top: Sequence[str] = ()) -> list[Point]:
    """Points to begin with, the most promising first; ``top`` are the attributes of the riskiest known sets."""
    listed = list(space.choices["finish"])
    finishes = [name for name in _FIRST if name in listed] + [name for name in ("given", "none") if name in listed]
    offered = space.choices.get("target", ["none"])
    targets = [name for name in offered if name not in ("none", GENERALIZED)] or ["none"]
    hide = len(space.hidable) if "hide" in space.choices and targets == ["none"] else 0
    made: list[Point] = []

    def add(**changes: Choice) -> None:
        point = space.plain() | {name: value for name, value in changes.items() if name in space.choices}
        if point not in made:
            made.append(point)

    def weighing(weight: float) -> dict[str, Choice]:
        return {f"weight:{name}": weight for name in space.numeric}

    lead, first = finishes[0], targets[0]
    quick = [name for name in ("full_domain", "partition") if name in finishes]
    light = LIGHT if lead == "balanced_partition" else ()
    for weight in light[:1]:
        add(finish=lead, target=first, hide=hide, **weighing(weight))
    # classes so large that hardly anybody in them is above the threshold, and then what is left
    finds = next((name for name in targets if str(name).endswith(" known")), first)
    grouped = [name for name in ("microaggregation", "partition", lead) if name in space.wide]
    sizes = list(space.choices.get("k", ()))
    large = sizes[4:][::3] or sizes[-1:]
    # of names with many values hardly two in a class agree
    coarse: dict[str, Choice] = {
        f"level:{name}": space.heights[name] - 1
        for name, count in space.counts.items()
        if count > _MANY and space.heights[name] > 1
    }
    for levels in (coarse, {}) if grouped else ():
        for weight in BESIDE_NAMES:
            for k in large:
                add(finish=grouped[0], over="all", target=finds, k=k, weight=weight, **levels)
    if GENERALIZED in offered:  # by itself: it starts from values, and what it makes coarse no other method takes further
        add(finish="none", target=GENERALIZED)
    for weight in light[1:]:
        add(finish=lead, target=first, hide=hide, **weighing(weight))
    for finish in quick or finishes[:1]:
        add(finish=finish, target=first, hide=hide, suppression=0.02)
    for finish in grouped[1:]:
        add(finish=finish, over="all", target=finds, k=large[0])
    for target in targets[1:]:
        for finish in dict.fromkeys((*quick, lead)):
            add(finish=finish, target=target, suppression=0.02, **weighing(LIGHT[0]))
    for finish in finishes:
        add(finish=finish, target=first, hide=hide, suppression=0.02)
    away: dict[str, Choice] = {}
    for name in [name for name in top if f"level:{name}" in space.choices][:3]:
        away[f"level:{name}"] = space.heights[name]
        for finish in dict.fromkeys((*quick[:1], lead)):
            add(finish=finish, target=targets[-1], hide=hide, suppression=0.02, **weighing(LIGHT[0]), **away)
    for level in (1, 2):
        coarser: dict[str, Choice] = {f"level:{name}": min(level, max(height - 1, 0)) for name, height in space.heights.items()}
        add(finish="local_suppression" if "local_suppression" in finishes else lead, target=first, hide=hide, **coarser)
    for k in list(space.choices.get("k", ()))[2:4]:
        add(finish=lead, target=first, hide=hide, k=k)
    for suppression in (0.0, 0.1, 0.4):
        if "full_domain" in finishes:
            add(finish="full_domain", target=first, hide=hide, suppression=suppression)
    add(finish=lead, target=targets[-1], order="first", hide=hide)
    # nothing but what every record says alike: if this does not meet a limit on risk, nothing here will
    add(finish="none", hide=len(space.hidable), **{f"level:{name}": height for name, height in space.heights.items()})
    return made
