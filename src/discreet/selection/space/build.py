"""The search space of a table, by rules from roles, levels of measurement and limits."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.engine.cells.hierarchies import hierarchy_of
from discreet.model.attribute import Level, Role
from discreet.model.microdata import Microdata
from discreet.selection.options import SelectOptions
from discreet.selection.proposals import knowable_attributes
from discreet.selection.recodings import needed_class_size
from discreet.selection.space.dimensions import (
    Choice,
    Space,
)
from discreet.selection.space.finishes import (
    is_number,
    list_finishes,
    list_finishes_over_known,
    list_uncompiled_finishes,
)
from discreet.selection.space.settings import can_lower_weight, class_choices, list_treatments, recoding_choices, target_choices


def build_space(data: Microdata, options: SelectOptions | None = None, *, top: Sequence[str] = ()) -> Space:
    """The search space of a table whose policy has all hierarchies; ``top``: the sensitive attributes, riskiest first."""
    options = options or SelectOptions()
    empty = {name for name in data.columns if data.frame[name].null_count() == len(data)}  # nothing can be done to them
    keys = tuple(name for name in _keys_of_classes(data) if name not in empty)
    known = (*keys, *(name for name in knowable_attributes(data) if name not in keys and name not in empty))
    numeric = tuple(name for name in known if is_number(data, name))
    heights = {name: hierarchy_of(data, name).height for name in known}
    limited = {limit.split(".")[0] for limit in data.policy.limits}
    limits_known_sets = "known_sets" in limited
    finishes = list_finishes(data, keys, limited, options, heights)
    over_known = list_finishes_over_known(data, keys, known, heights, finishes) if limits_known_sets else []
    blankable = tuple(name for name in top if can_lower_weight(data, name) and name not in options.protect)
    if not options.may_perturb("microaggregation") and any(not is_number(data, name) for name in known):
        over_known = [finish for finish in over_known if finish != "microaggregation"]
    # the order of the dimensions decides which of them a draw changes: keep it, so that a seed finds the same plans
    choices: dict[str, Sequence[Choice]] = {"finish": finishes}
    if keys:
        choices |= class_choices(data, known, numeric, finishes, weighted=known if over_known else keys)
    if over_known:
        choices["over"] = ["keys", "all"]
    choices |= target_choices(data, limited)
    choices |= recoding_choices(keys, known, list_treatments(data, numeric), heights, options.protect)
    if blankable and limits_known_sets:
        choices["hide"] = list(range(len(blankable) + 1))
    required_k = needed_class_size(data.policy)
    ordered = {"k", "suppression", "hide", "weight", "margin"}
    ordered |= {name for name in choices if name.startswith(("level:", "weight:"))}
    categorical = [name for name in known if data.level(name) in (Level.NOMINAL, Level.ORDINAL)]
    return Space(
        choices,
        frozenset(ordered),
        keys,
        heights,
        blankable,
        numeric,
        known,
        frozenset(over_known),
        {name: data.frame[name].n_unique() for name in categorical},
        options.protect,
        {name: data.frame[name].n_unique() for name in known},
        tuple(name for name in keys if name in options.analysed_attributes),
        required_k,
        list_uncompiled_finishes(data, keys) if options.seconds is not None else frozenset(),
    )


def _keys_of_classes(data: Microdata) -> list[str]:
    """The keys that the policy names for k_anonymity; default: all attributes with the role key."""
    named = data.policy.risk.get("k_anonymity", {}).get("keys") or ()
    return [name for name in named if name in data.columns] or data.named(Role.KEY)
