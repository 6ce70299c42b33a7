"""From a point of the search space to a plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Step
from discreet.selection.space.dimensions import (
    AS_IT_IS,
    DROPPED,
    IN_RANGES,
    TARGETED_GENERALIZATION,
    WITH_KEYS,
    Choice,
    Point,
    Space,
)
from discreet.selection.steps.classes import class_steps
from discreet.selection.steps.columns import blanking_step, close_columns, numeric_key_step, range_steps, recoding_steps
from discreet.selection.steps.targeted import targeted_steps


def build_plan(data: Microdata, space: Space, point: Point, *, scale: float = 1.0) -> Plan:
    """The plan of a point; on a sample of the share ``scale``, class sizes shrink with it."""
    steps: list[Step] = []
    if data.named(Role.IDENTIFIER):
        steps.append(Step(method="remove_identifiers"))
    finish = str(point["finish"])
    if finish == "given":
        policy_steps = [step for step in data.policy.plan.steps if step.method != "remove_identifiers" or not steps]
        return data.policy.plan.model_copy(
            update={"steps": (*steps, *policy_steps, *targeted_steps(data.policy, point, space.protected))}
        )
    over = space.known if point.get("over") == "all" and finish in space.finishes_over_known else space.keys
    levels, dropped = _choose_recoding_levels(space, point, finish, over)
    k = scaled_count(int(point.get("k", 2)), scale)
    treated = [name for name in space.keys if name not in levels] if over == space.keys else []
    treatments = {name: str(point.get(f"numbers:{name}", "as is")) for name in treated}
    hidden = space.blankable[: int(point.get("hide", 0))]
    coarser = {*levels, *(name for name, treatment in treatments.items() if treatment != "as is")}
    treated_beside = _treat_companions(space, point, finish, coarser)
    closed = [name for name, treatment in treated_beside.items() if treatment != WITH_KEYS and name not in hidden]
    in_ranges = [name for name in closed if treated_beside[name] == IN_RANGES]
    # no other step changes a column that becomes a single value or ranges; most methods build classes over original values only
    untouched = {*closed, *(treated_beside if finish != "local_suppression" else ())}
    levels = {name: level for name, level in levels.items() if name not in untouched}
    dropped &= set(levels)
    for name, treatment in treatments.items():
        # microaggregation refuses a column with too few values for one group
        if treatment != "as is" and not (treatment == "microaggregation" and data.frame[name].count() < k):
            steps.append(numeric_key_step(treatment, name, k))
    for level, drop in sorted({(level, name in dropped) for name, level in levels.items()}):
        recoded = tuple(name for name in levels if (levels[name], name in dropped) == (level, drop))
        steps += recoding_steps(recoded, space, level, drop=drop)
    steps += [blanking_step(data, name) for name in hidden]
    steps += close_columns(data, [name for name in closed if name not in in_ranges], space.required_k)
    steps += range_steps(data, in_ranges, space.required_k)
    # a column beside the keys may be known itself, and is then in classes over all known attributes already
    joined = [name for name, treatment in treated_beside.items() if treatment == WITH_KEYS and name not in over]
    # what was missing in a dropped key still differs from what was dropped
    in_classes = [
        name
        for name in over
        if name not in closed and (name not in dropped or (finish == "local_suppression" and data.frame[name].has_nulls()))
    ]
    building = class_steps(data, point, finish, [*in_classes, *joined], k, space.protected)
    # targeted generalization starts from original values, and no method that builds classes takes its cells further
    clash = point.get("target") == TARGETED_GENERALIZATION and finish not in ("none", "local_suppression")
    lowering = [] if clash else targeted_steps(data.policy, point, space.protected)
    steps += [*lowering, *building] if point.get("order") == "first" else [*building, *lowering]
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
