"""Dimensions for columns that give keys back: what can happen to each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.selection.gaps.companions import Companions, is_number_of_group
from discreet.selection.options import SelectOptions
from discreet.selection.space.dimensions import (
    AS_IT_IS,
    AVERAGED,
    DROPPED,
    WITH_KEYS,
    Choice,
    Space,
)
from discreet.selection.space.finishes import (
    CLASS_METHODS,
    can_build_classes,
    is_number,
)


def with_companions(space: Space, data: Microdata, options: SelectOptions, companions: Companions) -> Space:
    """The space with a dimension for each column beside the keys that can be treated; those that it has already stay."""
    listed = {name: _companion_treatments(data, name, space.required_k, options) for name in companions}
    beside = {name: treatments for name, treatments in listed.items() if treatments}
    names = [*space.companions, *beside]
    return replace(
        space,
        choices={**space.choices, **{f"beside:{name}": treatments for name, treatments in beside.items()}},
        companions={**space.companions, **{name: tuple(companions[name]) for name in beside}},
        joinable={
            finish: frozenset(name for name in names if can_build_classes(data, finish, [*space.keys, name]))
            for finish in map(str, space.choices["finish"])
            if finish in CLASS_METHODS
        },
    )


def _companion_treatments(data: Microdata, name: str, k: int, options: SelectOptions) -> list[Choice]:
    """What can happen to a column that gives keys back, the most promising first; empty if nothing can.

    Classes over it are built only where its values are frequent enough. A column that a regression or a risk of the policy names
    is never dropped, and one that a risk names is never masked: what is measured on it would no longer be measured.
    """
    if name in named_by_risks(data.policy):
        return []
    if data.attribute(name).role is Role.WEIGHT:
        return [AVERAGED, AS_IT_IS] if name not in options.keep and is_number(data, name) else []
    frequent = data.frame[name].n_unique() * k <= len(data) and not is_number_of_group(data, name)
    dropping = [] if name in options.analysed_attributes or name in options.keep else [DROPPED]
    return [*([WITH_KEYS] if frequent else []), *dropping, AS_IT_IS] if frequent or dropping else []


def with_gap_columns(space: Space, data: Microdata, options: SelectOptions, names: Sequence[str]) -> Space:
    """The space with a dimension for each of the columns that cause gaps, if it may be masked and has none yet."""
    new = [name for name in maskable_columns(data, options, names) if name not in space.companions]
    return with_companions(space, data, options, dict.fromkeys(new, ())) if new else space


def maskable_columns(data: Microdata, options: SelectOptions, names: Sequence[str]) -> list[str]:
    """The columns that cause gaps and that may be masked: no keys, and none that the owner or a measure needs."""
    needed = {*options.protect, *options.keep, *options.analysed_attributes, *named_by_risks(data.policy)}
    return [name for name in names if name not in needed and data.attribute(name).role is not Role.KEY]


def named_by_risks(policy: Policy) -> set[str]:
    """The columns that parameters of the policy's risks name."""
    lists = [value for parameters in policy.risk.values() for value in parameters.values() if isinstance(value, list | tuple)]
    texts = [value for parameters in policy.risk.values() for value in parameters.values() if isinstance(value, str)]
    return {name for names in lists for name in names if isinstance(name, str)} | set(texts)
