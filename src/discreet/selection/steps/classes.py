"""The steps that build equivalence classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.engine.classes.groups import class_sizes
from discreet.engine.encoding.columns import encode
from discreet.model.attribute import Level
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy, Step
from discreet.selection.space.dimensions import (
    Point,
)

_MDAV_RECORDS, _FEWEST_GROUPS, _MOST_GROUPS = 20_000, 20, 400
"""MDAV takes time that grows with the square of the records, so it works on parts of the table: of this many records, but of at
least 20 and at most 400 groups. The groups are nearly as good as those of the whole table."""
_CLASS_RISKS = ("k_anonymity", "known_sets", "l_diversity", "t_closeness", "target_linkage")
"""Risks that count records in equivalence classes, where a null is a value of its own unless the policy says otherwise."""
_PROTECTING_COST = 1e6
"""The cost of suppressing a value of a protected key, of which others cost 1."""


def class_steps(data: Microdata, point: Point, finish: str, keys: list[str], k: int, protected: Sequence[str]) -> list[Step]:
    """The step that builds equivalence classes of at least k records; none for the finish "none".

    Local suppression leaves protected keys as they are if it can do without them. Groups of near records are formed among those
    that agree on the protected keys. The other methods work on the other keys, and local suppression follows, because classes
    that agree on these keys may differ in the protected ones.
    """
    fixed = [name for name in keys if name in protected]
    if fixed and finish == "clusters" and len(fixed) < len(keys) and smallest_class(data, fixed) >= k:
        (grouping,) = class_steps(data, point, finish, [name for name in keys if name not in protected], k, ())
        return [Step.model_validate({**grouping.model_dump(), "strata": tuple(fixed)})]
    if fixed and finish != "none":
        last = Step.model_validate(_local_suppression(data, point, keys, k, fixed))
        free = [name for name in keys if name not in protected]
        return [last] if finish == "local_suppression" else [*class_steps(data, point, finish, free, k, ()), last]
    if finish == "none" or not keys:
        return []
    limits = data.policy.limits
    step: dict[str, Any] = {"columns": tuple(keys)}
    if finish in ("full_domain", "partition"):
        step |= {"method": "generalization", "k": k, "algorithm": finish} | _diversity_parameters(data, limits)
        if finish == "full_domain":
            step |= {"suppression_limit": point["suppression"], "loss": "ncp"}
    elif finish.startswith("balanced"):
        step |= {"method": "balanced_partition", "publish": point["publish"], "scale": point["scale"]}
        step |= {"whole": True} if point["publish"] == "means" else {}
        weights = {name: float(point[f"weight:{name}"]) for name in keys if point.get(f"weight:{name}", 1.0) != 1.0}
        step |= {"weights": weights} if weights else {}
        if finish == "balanced":
            step |= {"g": min(0.99, limits.get("repeated_records.min_g", 0.5))}
            step |= {"h": limits["repeated_records.max_h"]} if "repeated_records.max_h" in limits else {}
        else:
            step |= {"criterion": "persons" if finish == "balanced_persons" else "records", "k": k}
    elif finish in ("microaggregation", "clusters"):
        step |= {"publish": "ranges"} if finish == "clusters" else {"whole": True}
        step |= {
            "method": "microaggregation",
            "size": k,
            "how": "mdav",
            "exact_up_to": max(_FEWEST_GROUPS * k, min(_MDAV_RECORDS, _MOST_GROUPS * k)),
            "scale": "range" if point.get("scale") == "range" else "std",
            "missing": "category" if finish == "clusters" else point.get("missing", "apart"),
        }
        weights = {name: _column_weight(data, point, name) for name in keys}
        step["weights"] = {name: weight for name, weight in weights.items() if weight != 1.0}
    else:
        step = _local_suppression(data, point, keys, k)
    return [Step.model_validate(step)]


def _local_suppression(
    data: Microdata, point: Point, keys: Sequence[str], k: int, protected: Sequence[str] = ()
) -> dict[str, Any]:
    """The step that suppresses until k records agree, where a null is read as the limited risks read it.

    The weight of a key is the cost of suppressing one of its values.
    """
    costs = {name: _PROTECTING_COST if name in protected else float(point.get(f"weight:{name}", 1.0)) for name in keys}
    importance = {name: cost for name, cost in costs.items() if cost != 1.0}
    is_category = point.get("blanks", "category") == "category" and "category" in null_readings(data.policy)
    blanks = {"blanks": "category"} if is_category else {}
    step = {"method": "local_suppression", "columns": tuple(keys), "k": k} | blanks
    return step | ({"importance": importance} if importance else {})


def _column_weight(data: Microdata, point: Point, name: str) -> float:
    """The weight of a column in the distance of records: its own weight, times the common weight of numbers if it is one."""
    weight = float(point.get(f"weight:{name}", 1.0))
    return weight * float(point.get("weight", 1.0)) if data.level(name) is Level.NUMERIC else weight


def _diversity_parameters(data: Microdata, limits: Mapping[str, float]) -> dict[str, Any]:
    """The parameters of l-diversity and t-closeness, as far as they are limited."""
    definitions = {"l_diversity.l": "distinct", "l_diversity.entropy_l": "entropy", "l_diversity.recursive_l": "recursive"}
    parameters: dict[str, Any] = {}
    for limit, definition in definitions.items():
        if limit in limits:
            parameters |= {"l": limits[limit], "diversity": definition}
    if "t_closeness.t" in limits:
        parameters["t"] = limits["t_closeness.t"]
    risk = data.policy.risk
    sensitive = risk.get("l_diversity", {}).get("sensitive") or risk.get("t_closeness", {}).get("sensitive")
    return parameters | ({"sensitive": tuple(sensitive)} if parameters and sensitive else {})


def smallest_class(data: Microdata, names: Sequence[str]) -> int:
    """The number of records in the smallest equivalence class of some columns."""
    return int(class_sizes(encode(data, names), len(data)).min())


def null_readings(policy: Policy) -> set[str]:
    """How the limited risks that count classes read a null: as a ``category`` of its own or as a ``wildcard``."""
    limited = {limit.split(".")[0] for limit in policy.limits}
    return {policy.risk.get(name, {}).get("missing", "category") for name in limited & set(_CLASS_RISKS)}
