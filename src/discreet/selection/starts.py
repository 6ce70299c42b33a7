"""The rules: points that a statistician would try first, from roles, levels and the risk profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from discreet import registry
from discreet.errors import DiscreetError
from discreet.model.microdata import Microdata
from discreet.selection.proposals import released
from discreet.selection.space import LIGHT, Choice, Point, Space

_FIRST = (
    "balanced_partition",
    "full_domain",
    "partition",
    "balanced_persons",
    "balanced",
    "microaggregation",
    "local_suppression",
)


def risk_profile(data: Microdata) -> tuple[list[str], list[str]]:
    """The attributes of the sets by which the riskiest records are found, and the sensitive ones in those records.

    Both fall by how many of the thousand riskiest records they concern; empty where known_sets cannot be measured.
    """
    try:
        measure = registry.make("risk", "known_sets", data.policy.risk.get("known_sets"), origin=data.policy.origin)
        table = measure.measure(data).per_record
    except DiscreetError:
        return [], []
    if table is None or not table.height:
        return [], []
    order = np.argsort(-table["risk"].to_numpy(), kind="stable")[:1000]
    names = set(data.columns)
    sets = Counter(
        name for text in table["top_set"].gather(order.tolist()).to_list() for name in text.split(", ") if name in names
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
    targets = [name for name in space.choices.get("target", ["none"]) if name != "none"] or ["none"]
    hide = len(space.hidable) if "hide" in space.choices and targets == ["none"] else 0
    made: list[Point] = []

    def add(**changes: Choice) -> None:
        point = space.plain() | {name: value for name, value in changes.items() if name in space.choices}
        if point not in made:
            made.append(point)

    light: dict[str, Choice] = {f"weight:{name}": LIGHT for name in space.numeric}
    for target in targets:
        if "balanced_partition" in finishes:
            add(finish="balanced_partition", target=target, hide=hide, **light)
        for finish in finishes:
            add(finish=finish, target=target, hide=hide, suppression=0.02)
    knowable = [name for name in top if f"level:{name}" in space.choices]
    lead = finishes[0]
    for number in range(1, min(4, len(knowable)) + 1):
        away: dict[str, Choice] = {f"level:{name}": space.heights[name] for name in knowable[:number]}
        for finish in dict.fromkeys((lead, "full_domain", "none")):
            if finish in finishes:
                add(finish=finish, target=targets[0], hide=hide, suppression=0.02, **light, **away)
    for level in (1, 2):
        coarse: dict[str, Choice] = {f"level:{name}": min(level, max(height - 1, 0)) for name, height in space.heights.items()}
        for finish in ("local_suppression", lead):
            if finish in finishes:
                add(finish=finish, target=targets[0], hide=hide, **coarse)
    for k in list(space.choices.get("k", ()))[1:4:2]:
        add(finish=lead, target=targets[0], hide=hide, k=k)
    for suppression in (0.0, 0.1, 0.4):
        if "full_domain" in finishes:
            add(finish="full_domain", target=targets[0], hide=hide, suppression=suppression)
    add(finish=lead, target="none", publish="ranges")
    add(finish=lead, target=targets[0], order="first", hide=hide)
    # nothing but what every record says alike: if this does not meet a limit on risk, nothing here will
    add(finish="none", hide=len(space.hidable), **{f"level:{name}": height for name, height in space.heights.items()})
    return made
