"""From a point of the search to a plan."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.model.attribute import Level, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Step
from discreet.selection.space import Point, Space

_PART, _FEWEST_GROUPS, _MOST_GROUPS = 20_000, 20, 400
"""Records that mdav takes at once, and the groups it makes of them: nearly as good as the whole table, whose time grows with the
square."""


def plan_of(data: Microdata, space: Space, point: Point, *, scale: float = 1.0) -> Plan:
    """The plan of a point; on a sample of the share ``scale`` counts that are asked for shrink with it."""
    steps: list[Step] = []
    if data.named(Role.IDENTIFIER):
        steps.append(Step(method="remove_identifiers"))
    finish = str(point["finish"])
    if finish == "given":
        given = [step for step in data.policy.plan.steps if step.method != "remove_identifiers" or not steps]
        return data.policy.plan.model_copy(update={"steps": (*steps, *given, *_target(point))})
    over = space.known if point.get("over") == "all" and finish in space.wide else space.keys
    levels, dropped = _levels(space, point, finish, over)
    k = scaled_count(int(point.get("k", 2)), scale)
    ways = {name: str(point.get(f"numbers:{name}", "as is")) for name in space.keys if name not in levels and over == space.keys}
    steps += [_number(way, name, k) for name, way in ways.items() if way != "as is"]
    for level in sorted({(level, name in dropped) for name, level in levels.items()}):
        named = tuple(name for name, at in levels.items() if (at, name in dropped) == level)
        steps += _recode(named, space, level[0], drop=level[1])
    steps += [_hide(data, name) for name in space.hidable[: int(point.get("hide", 0))]]
    classes = _classes(data, point, finish, [name for name in over if name not in dropped], k)
    target = _target(point)
    steps += [*target, *classes] if point.get("order") == "first" else [*classes, *target]
    return data.policy.plan.model_copy(update={"steps": tuple(steps)})


def scaled_count(count: int, scale: float) -> int:
    """What a count of records in the whole table corresponds to in a sample of it; never less than 2, which is a crowd."""
    return count if scale == 1.0 else max(2, math.ceil(count * scale))


def _levels(space: Space, point: Point, finish: str, over: Sequence[str]) -> tuple[dict[str, int], set[str]]:
    """Levels to recode to, and the keys that say nothing afterwards.

    A method that makes classes starts from values, not from coarser ones, so its keys are left as they are or dropped; but
    names whose groups are near records can be coarser before: of many values hardly any group has one in common.
    """
    levels = {name: int(point[f"level:{name}"]) for name in space.heights if int(point[f"level:{name}"]) > 0}
    dropped = {name for name, level in levels.items() if level == space.heights[name]}
    if finish not in ("none", "local_suppression"):
        coarser = space.counts if finish == "microaggregation" else ()
        levels = {name: level for name, level in levels.items() if name not in over or name in dropped or name in coarser}
    return levels, dropped


def _recode(names: Sequence[str], space: Space, level: int, *, drop: bool) -> list[Step]:
    if not drop:
        return [Step(method="global_recoding", columns=tuple(names), level=level)]  # type: ignore[call-arg]
    heights = sorted({space.heights[name] for name in names})
    return [
        Step(method="global_recoding", columns=tuple(name for name in names if space.heights[name] == height), level=height)  # type: ignore[call-arg]
        for height in heights
    ]


def _number(way: str, name: str, k: int) -> Step:
    if way == "microaggregation":
        return Step(method="microaggregation", columns=(name,), size=max(2, k), whole=True)  # type: ignore[call-arg]
    return Step(method="top_bottom_coding", columns=(name,), top_share=0.02, bottom_share=0.02, replace="mean")  # type: ignore[call-arg]


def _hide(data: Microdata, name: str) -> Step:
    from discreet.engine.cells.hierarchies import hierarchy_of

    return Step(method="global_recoding", columns=(name,), level=hierarchy_of(data, name).height)  # type: ignore[call-arg]


def _classes(data: Microdata, point: Point, finish: str, keys: list[str], k: int) -> list[Step]:
    """The step that makes classes of at least k records."""
    if finish == "none" or not keys:
        return []
    limits = data.policy.limits
    content: dict[str, Any] = {"columns": tuple(keys)}
    if finish in ("full_domain", "partition"):
        content |= {"method": "generalization", "k": k, "algorithm": finish} | _diversity(data, limits)
        if finish == "full_domain":
            content |= {"suppression_limit": point["suppression"], "loss": "ncp"}
    elif finish.startswith("balanced"):
        content |= {"method": "balanced_partition", "publish": point["publish"], "scale": point["scale"]}
        weights = {name: float(point[f"weight:{name}"]) for name in keys if point.get(f"weight:{name}", 1.0) != 1.0}
        content |= {"weights": weights} if weights else {}
        if finish == "balanced":
            content |= {"g": min(0.99, limits.get("repeated_records.min_g", 0.5))}
            content |= {"h": limits["repeated_records.max_h"]} if "repeated_records.max_h" in limits else {}
        else:
            content |= {"criterion": "persons" if finish == "balanced_persons" else "records", "k": k}
    elif finish == "microaggregation":
        content |= {
            "method": "microaggregation",
            "size": k,
            "how": "mdav",
            "whole": True,
            "exact_up_to": max(_FEWEST_GROUPS * k, min(_PART, _MOST_GROUPS * k)),
            "scale": "range" if point.get("scale") == "range" else "std",
            "missing": point.get("missing", "apart"),
        }
        weights = {name: _importance(data, point, name) for name in keys}
        content["weights"] = {name: weight for name, weight in weights.items() if weight != 1.0}
    else:
        content |= {"method": finish, "k": k}
    return [Step.model_validate(content)]


def _importance(data: Microdata, point: Point, name: str) -> float:
    """What a column counts for where near records are grouped: its own weight, times that of all numbers where it is one."""
    own = float(point.get(f"weight:{name}", 1.0))
    return own * float(point.get("weight", 1.0)) if data.level(name) is Level.NUMERIC else own


def _diversity(data: Microdata, limits: Mapping[str, float]) -> dict[str, Any]:
    """Both l and t where they are limited."""
    kinds = {"l_diversity.l": "distinct", "l_diversity.entropy_l": "entropy", "l_diversity.recursive_l": "recursive"}
    made: dict[str, Any] = {}
    for limit, kind in kinds.items():
        if limit in limits:
            made |= {"l": limits[limit], "diversity": kind}
    if "t_closeness.t" in limits:
        made["t"] = limits["t_closeness.t"]
    said = data.policy.risk.get("l_diversity", {}).get("sensitive") or data.policy.risk.get("t_closeness", {}).get("sensitive")
    return made | ({"sensitive": tuple(said)} if made and said else {})


def _target(point: Point) -> list[Step]:
    """The step that lowers the risk of the records above the threshold, by the policy's own numbers."""
    words = str(point.get("target", "none")).split()
    if words == ["none"]:
        return []
    content: dict[str, Any] = {}  # all numbers of the risk are the policy's: a step that names none takes them
    if len(words) > 1:
        content["side"] = words[1]
        # whether a blank is cheap cannot be told where it is one more value: then what agrees with anything is a good guess
        content |= {"missing": "wildcard", "choose": "fewest"} if words[1] == "cheapest" else {}
    return [Step.model_validate({"method": words[0], **content})]
