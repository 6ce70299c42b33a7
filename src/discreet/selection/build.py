"""From a point of the search space to a plan."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from discreet.engine.classes.groups import class_sizes
from discreet.engine.encoding.columns import encode
from discreet.model.attribute import Level, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy, Step
from discreet.selection.gaps.companions import is_number_of_group
from discreet.selection.space import (
    AS_IT_IS,
    CODED_SHARE,
    DROPPED,
    SCORE_TARGET,
    TARGETED_GENERALIZATION,
    WITH_KEYS,
    Choice,
    Point,
    Space,
)

_MDAV_RECORDS, _FEWEST_GROUPS, _MOST_GROUPS = 20_000, 20, 400
"""MDAV takes time that grows with the square of the records, so it works on parts of the table: of this many records, but of at
least 20 and at most 400 groups. The groups are nearly as good as those of the whole table."""


_CLASS_RISKS = ("k_anonymity", "known_sets", "l_diversity", "t_closeness", "target_linkage")
"""Risks that count records in equivalence classes, where a null is a value of its own unless the policy says otherwise."""
_PROTECTING_COST = 1e6
"""The cost of suppressing a value of a protected key, of which others cost 1."""


_CLASSES_OF_A_WEIGHT, _RECORDS_OF_A_WEIGHT = 5, 25
"""Records that share an averaged sampling weight: so many times the class size, and at least so many."""


def build_plan(data: Microdata, space: Space, point: Point, *, scale: float = 1.0) -> Plan:
    """The plan of a point; on a sample of the share ``scale``, class sizes shrink with it."""
    steps: list[Step] = []
    if data.named(Role.IDENTIFIER):
        steps.append(Step(method="remove_identifiers"))
    finish = str(point["finish"])
    if finish == "given":
        policy_steps = [step for step in data.policy.plan.steps if step.method != "remove_identifiers" or not steps]
        return data.policy.plan.model_copy(
            update={"steps": (*steps, *policy_steps, *_targeted_steps(data.policy, point, space.protected))}
        )
    over = space.known if point.get("over") == "all" and finish in space.finishes_over_known else space.keys
    levels, dropped = _choose_recoding_levels(space, point, finish, over)
    k = scaled_count(int(point.get("k", 2)), scale)
    treated = [name for name in space.keys if name not in levels] if over == space.keys else []
    treatments = {name: str(point.get(f"numbers:{name}", "as is")) for name in treated}
    for name, treatment in treatments.items():
        # microaggregation refuses a column with too few values for one group
        if treatment != "as is" and not (treatment == "microaggregation" and data.frame[name].count() < k):
            steps.append(_numeric_key_step(treatment, name, k))
    for level, drop in sorted({(level, name in dropped) for name, level in levels.items()}):
        recoded = tuple(name for name in levels if (levels[name], name in dropped) == (level, drop))
        steps += _recoding_steps(recoded, space, level, drop=drop)
    steps += [_blanking_step(data, name) for name in space.blankable[: int(point.get("hide", 0))]]
    coarser = {*levels, *(name for name, treatment in treatments.items() if treatment != "as is")}
    treated_beside = _treat_companions(space, point, finish, coarser)
    steps += close_columns(data, [name for name, treatment in treated_beside.items() if treatment != WITH_KEYS], space.required_k)
    joined = [name for name, treatment in treated_beside.items() if treatment == WITH_KEYS]
    # what was missing in a dropped key still differs from what was dropped
    in_classes = [
        name for name in over if name not in dropped or (finish == "local_suppression" and data.frame[name].has_nulls())
    ]
    class_steps = _class_steps(data, point, finish, [*in_classes, *joined], k, space.protected)
    # targeted generalization starts from original values, and no method that builds classes takes its cells further
    clash = point.get("target") == TARGETED_GENERALIZATION and finish not in ("none", "local_suppression")
    targeted_steps = [] if clash else _targeted_steps(data.policy, point, space.protected)
    steps += [*targeted_steps, *class_steps] if point.get("order") == "first" else [*class_steps, *targeted_steps]
    return data.policy.plan.model_copy(update={"steps": tuple(steps)})


def scaled_count(count: int, scale: float) -> int:
    """A number of records of the whole table, scaled to a sample of it; never less than 2."""
    return count if scale == 1.0 else max(2, math.ceil(count * scale))


def _choose_recoding_levels(space: Space, point: Point, finish: str, over: Sequence[str]) -> tuple[dict[str, int], set[str]]:
    """The level to recode each attribute to, and the attributes that are dropped, that is recoded to a single value.

    A method that builds classes starts from original values, so the columns ``over`` which it works are dropped or left as they
    are. Before microaggregation categorical attributes can be recoded as well: with many categories the records of a group would
    hardly agree on one.
    """
    levels = {name: int(point[f"level:{name}"]) for name in space.heights if int(point[f"level:{name}"]) > 0}
    dropped = {name for name, level in levels.items() if level == space.heights[name]}
    if finish not in ("none", "local_suppression"):
        recodable = space.category_counts if finish == "microaggregation" else ()
        levels = {name: level for name, level in levels.items() if name not in over or name in dropped or name in recodable}
    return levels, dropped


def _treat_companions(space: Space, point: Point, finish: str, coarser: AbstractSet[str]) -> dict[str, Choice]:
    """What happens to each column beside the keys that is not left as it is; ``coarser`` keys are recoded.

    A plan that changes no key needs nothing. A class of records that agree on a recoded key and on a column beside it shows what
    the recoding hid, so that column is dropped, and so it is where the finish cannot build classes over it.
    """
    treated: dict[str, Choice] = {}
    changes_keys = finish != "none" or bool(coarser) or point.get("target", "none") != "none"
    for name, keys in space.companions.items() if changes_keys else ():
        treatment = point.get(f"beside:{name}", AS_IT_IS)
        if treatment == WITH_KEYS and (finish == "none" or coarser & set(keys) or name not in space.joinable.get(finish, ())):
            is_needed = bool(keys) or finish != "none"
            treatment = DROPPED if is_needed and DROPPED in space.choices[f"beside:{name}"] else AS_IT_IS
        if treatment != AS_IT_IS:
            treated[name] = treatment
    return treated


def close_columns(data: Microdata, names: Sequence[str], k: int) -> list[Step]:
    """The steps after which columns no longer say which values were masked elsewhere.

    The numbers of persons and households are taken out and sampling weights averaged, so that their total stays; of any other
    column all values become one.
    """
    groups = tuple(name for name in names if is_number_of_group(data, name))
    weights = [name for name in names if data.attribute(name).role is Role.WEIGHT]
    size = min(max(_RECORDS_OF_A_WEIGHT, _CLASSES_OF_A_WEIGHT * k), max(2, len(data) // 2))
    return [
        *([Step(method="remove_identifiers", columns=groups)] if groups else []),
        *(Step.model_validate({"method": "microaggregation", "columns": (name,), "size": size}) for name in weights),
        *(_blanking_step(data, name) for name in names if name not in groups and name not in weights),
    ]


def _recoding_steps(names: Sequence[str], space: Space, level: int, *, drop: bool) -> list[Step]:
    if not drop:
        return [Step(method="global_recoding", columns=tuple(names), level=level)]  # type: ignore[call-arg]
    heights = sorted({space.heights[name] for name in names})
    return [
        Step(method="global_recoding", columns=tuple(name for name in names if space.heights[name] == height), level=height)  # type: ignore[call-arg]
        for height in heights
    ]


def _numeric_key_step(treatment: str, name: str, k: int) -> Step:
    if treatment == "microaggregation":
        return Step(method="microaggregation", columns=(name,), size=max(2, k), whole=True)  # type: ignore[call-arg]
    return Step(method="top_bottom_coding", columns=(name,), top_share=CODED_SHARE, bottom_share=CODED_SHARE, replace="mean")  # type: ignore[call-arg]


def _blanking_step(data: Microdata, name: str) -> Step:
    from discreet.engine.cells.hierarchies import hierarchy_of

    return Step(method="global_recoding", columns=(name,), level=hierarchy_of(data, name).height)  # type: ignore[call-arg]


def _class_steps(data: Microdata, point: Point, finish: str, keys: list[str], k: int, protected: Sequence[str]) -> list[Step]:
    """The step that builds equivalence classes of at least k records; none for the finish "none".

    Local suppression leaves protected keys as they are if it can do without them. Groups of near records are formed among those
    that agree on the protected keys. The other methods work on the other keys, and local suppression follows, because classes
    that agree on these keys may differ in the protected ones.
    """
    fixed = [name for name in keys if name in protected]
    if fixed and finish == "clusters" and len(fixed) < len(keys) and smallest_class(data, fixed) >= k:
        (grouping,) = _class_steps(data, point, finish, [name for name in keys if name not in protected], k, ())
        return [Step.model_validate({**grouping.model_dump(), "strata": tuple(fixed)})]
    if fixed and finish != "none":
        last = Step.model_validate(_local_suppression(data, point, keys, k, fixed))
        free = [name for name in keys if name not in protected]
        return [last] if finish == "local_suppression" else [*_class_steps(data, point, finish, free, k, ()), last]
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


def smallest_class(data: Microdata, names: Sequence[str]) -> int:
    """The number of records in the smallest equivalence class of some columns."""
    return int(class_sizes(encode(data, names), len(data)).min())


def null_readings(policy: Policy) -> set[str]:
    """How the limited risks that count classes read a null: as a ``category`` of its own or as a ``wildcard``."""
    limited = {limit.split(".")[0] for limit in policy.limits}
    return {policy.risk.get(name, {}).get("missing", "category") for name in limited & set(_CLASS_RISKS)}


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


def _targeted_steps(policy: Policy, point: Point, protected: Sequence[str]) -> list[Step]:
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
