"""Dimensions for columns that give keys back: what can happen to each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from discreet.model.attribute import Level, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.selection.gaps.companions import Companions, is_number_of_group
from discreet.selection.options import SelectOptions
from discreet.selection.space.dimensions import (
    AS_IT_IS,
    AVERAGED,
    COLUMN_WEIGHTS,
    DROPPED,
    IN_RANGES,
    SPARED,
    WITH_KEYS,
    Choice,
    Space,
)
from discreet.selection.space.finishes import (
    CLASS_METHODS,
    can_build_classes,
    is_number,
)
from discreet.selection.steps.columns import size_of_ranges

_GROUPS_NEAR_VALUES = ("clusters", "balanced_partition", "partition", "microaggregation")
"""The finishes that group near numbers and dates, however rare each value is."""
_MANY_VALUES, _TWENTIETHS = 64, 20
_RESTORED, _GAIN = 0.5, 0.2
"""What ``coverage`` calls restored by default: a share of the values, and so much more than the best guess without the column."""


def with_companions(space: Space, data: Microdata, options: SelectOptions, companions: Companions) -> Space:
    """The space with a dimension for each column beside the keys that can be treated; those that it has already stay.

    A column that can be masked with the keys has a weight like theirs.
    """
    listed = {name: _companion_treatments(data, name, space.required_k, options, companions[name]) for name in companions}
    beside = {name: treatments for name, treatments in listed.items() if treatments}
    names = [*space.companions, *beside]
    weighted = [name for name, treatments in beside.items() if WITH_KEYS in treatments]
    return replace(
        space,
        choices={
            **space.choices,
            **{f"beside:{name}": treatments for name, treatments in beside.items()},
            **{f"weight:{name}": list(COLUMN_WEIGHTS) for name in weighted if f"weight:{name}" not in space.choices},
        },
        ordered=space.ordered | {f"weight:{name}" for name in weighted},
        companions={**space.companions, **{name: tuple(companions[name]) for name in beside}},
        joinable={
            finish: frozenset(name for name in names if _can_join(data, space, finish, name))
            for finish in map(str, space.choices["finish"])
            if finish in CLASS_METHODS
        },
    )


def _can_join(data: Microdata, space: Space, finish: str, name: str) -> bool:
    """Whether a finish can build classes over a column together with the keys, without blanking most of its values."""
    builds = _is_frequent(data, name, space.required_k) or finish in _GROUPS_NEAR_VALUES
    return builds and can_build_classes(data, finish, [*space.keys, name])


def _companion_treatments(data: Microdata, name: str, k: int, options: SelectOptions, restored: Sequence[str]) -> list[Choice]:
    """What can happen to a column that gives keys back, the most promising first; empty if nothing can.

    Classes over it are built where its values are frequent enough, or are numbers or dates, of which near ones can be grouped. A
    number or date with rare values is rather released in ranges of many records, unless these would give the ``restored`` keys
    back too. A column that a regression or a risk of the policy names is never dropped, one with rare values is left as it is at
    first, and one that a risk names is never masked: what is measured on it would no longer be measured.
    """
    if name in named_by_risks(data.policy):
        return []
    if data.attribute(name).role is Role.WEIGHT:
        return [AVERAGED, AS_IT_IS] if name not in options.keep and is_number(data, name) else []
    dropping: list[Choice] = [] if name in options.analysed_attributes or name in options.keep else [DROPPED]
    ranges: list[Choice] = [IN_RANGES] if dropping and _has_ranges(data, name, k, restored) else []
    if _is_frequent(data, name, k):
        return [WITH_KEYS, *ranges, *dropping, AS_IT_IS]
    joining: list[Choice] = [WITH_KEYS] if _is_ordered(data, name) else []
    if not dropping:
        return [AS_IT_IS, *joining] if joining else []
    return [*ranges, *joining, *dropping, AS_IT_IS]


def _is_frequent(data: Microdata, name: str, k: int) -> bool:
    """Whether the values of a column have the records of a class on average."""
    return not is_number_of_group(data, name) and data.frame[name].n_unique() * k <= len(data)


def _is_ordered(data: Microdata, name: str) -> bool:
    """Whether a column is a number or date whose values can be grouped with near ones."""
    if is_number_of_group(data, name) or data.level(name) not in (Level.NUMERIC, Level.DATE):
        return False
    column = data.frame[name]
    finite = not column.dtype.is_float() or not column.is_infinite().any()
    return finite and (column.dtype.is_numeric() or column.dtype.is_temporal())


def _has_ranges(data: Microdata, name: str, k: int, restored: Sequence[str]) -> bool:
    """Whether a column is a number or date with values for several ranges of many records, which hide the ``restored`` keys."""
    column, size = data.frame[name], size_of_ranges(len(data), k)
    if not _is_ordered(data, name) or column.count() < 2 * size or column.n_unique() * size <= len(data):
        return False
    ranges = column.rank("ordinal").fill_null(0) // size
    return all(_hides(data.frame[key], ranges) for key in restored if key in data.columns)


def _hides(key: pl.Series, ranges: pl.Series) -> bool:
    """Whether the commonest value of each range is wrong for most records, or hardly better than that of the whole table.

    Of numbers with many values the right twentieth of the records counts as right, as the measure ``coverage`` has it.
    """
    if key.n_unique() > _MANY_VALUES and (key.dtype.is_numeric() or key.dtype.is_temporal()):
        key = key.rank("ordinal") * _TWENTIETHS // (len(key) + 1)
    counts = pl.DataFrame({"range": ranges, "key": key}).group_by("range", "key").len()
    right = counts.group_by("range").agg(pl.col("len").max()).get_column("len").to_numpy().sum() / len(key)
    best_guess = counts.group_by("key").agg(pl.col("len").sum()).get_column("len").to_numpy().max() / len(key)
    return bool(right < _RESTORED or right - best_guess < _GAIN)


def with_gap_columns(space: Space, data: Microdata, options: SelectOptions, names: Sequence[str]) -> Space:
    """The space with a dimension for each of the columns that cause gaps, if it may be masked and has none yet."""
    new = [name for name in maskable_columns(data, options, names) if name not in space.companions]
    return with_companions(space, data, options, dict.fromkeys(new, ())) if new else space


def with_spared_keys(space: Space, names: Sequence[str]) -> Space:
    """The space with a dimension for each of some keys: whether a targeted method may suppress its values."""
    new = [name for name in names if name in space.known and f"spare:{name}" not in space.choices]
    if not new or "target" not in space.choices:
        return space
    return replace(space, choices={**space.choices, **{f"spare:{name}": [AS_IT_IS, SPARED] for name in new}})


def maskable_columns(data: Microdata, options: SelectOptions, names: Sequence[str]) -> list[str]:
    """The columns that cause gaps and that may be masked: no keys, and none that the owner or a measure needs."""
    needed = {*options.protect, *options.keep, *options.analysed_attributes, *named_by_risks(data.policy)}
    return [name for name in names if name not in needed and data.attribute(name).role is not Role.KEY]


def named_by_risks(policy: Policy) -> set[str]:
    """The columns that parameters of the policy's risks name."""
    lists = [value for parameters in policy.risk.values() for value in parameters.values() if isinstance(value, list | tuple)]
    texts = [value for parameters in policy.risk.values() for value in parameters.values() if isinstance(value, str)]
    return {name for names in lists for name in names if isinstance(name, str)} | set(texts)
