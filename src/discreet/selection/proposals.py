"""The policy completed for a search: hierarchies for the attributes that an intruder may know and that have none.

Where the analyzer has no rule (words), rare values are pooled: each value that at least a twentieth of the records hold stays,
the others become one group; where hardly any is that rare, the rarer half of them does.
"""

from __future__ import annotations

from discreet.analysis.hierarchies import hierarchy_of
from discreet.analysis.levels import level_of
from discreet.engine.recognition.value_facts import Facts, facts_of
from discreet.model.attribute import Attribute, Level, Role
from discreet.model.hierarchy import HierarchySpec
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

_HIDDEN = (Role.IDENTIFIER, Role.PERSON, Role.WEIGHT)
_FEWEST_POOLED, _MOST_POOLED = 2, 200
_RARE = 0.05


def knowable(data: Microdata) -> list[str]:
    """The attributes that make records recognisable: the keys, and whatever an intruder may know."""
    return [
        name
        for name in data.columns
        if (one := data.attribute(name)).role not in _HIDDEN
        and (one.role is Role.KEY or (one.known > 0 and one.role is Role.OTHER))
    ]


def released(data: Microdata) -> list[str]:
    """The attributes whose values a release is for."""
    return [name for name in data.columns if data.attribute(name).role not in _HIDDEN]


def completed(data: Microdata) -> Policy:
    """The policy with a hierarchy for each knowable attribute that can have one; what the owner said stays.

    >>> from discreet.testing import table
    >>> data = table({"age": list(range(100))}, key=["age"])
    >>> completed(data).attributes["age"].hierarchy.widths
    (5.0, 10.0, 20.0, 40.0)
    """
    wanted = {name for name in knowable(data) if data.attribute(name).hierarchy is None}
    attributes = dict(data.policy.attributes)
    for facts in facts_of(data):
        if facts.name in wanted and (spec := _proposed(facts, data)) is not None:
            given = attributes.get(facts.name, Attribute())
            attributes[facts.name] = given.model_copy(update={"hierarchy": spec})
    return data.policy.with_(attributes=attributes)


def _proposed(facts: Facts, data: Microdata) -> HierarchySpec | None:
    found = level_of(facts)
    number = facts.dtype.is_numeric()
    # the owner's level decides what the values mean; a number called ordinal or nominal is not cut by width
    if not number or data.level(facts.name) is Level.NUMERIC:
        spec = hierarchy_of(facts, found)
        if spec is not None:
            return spec
    return None if number or facts.dtype.is_temporal() else _pooled(facts)


def _pooled(facts: Facts) -> HierarchySpec | None:
    values, counts = facts.column.values.cast(str).to_list(), facts.counts[: facts.distinct].tolist()
    if not _FEWEST_POOLED < len(values) <= _MOST_POOLED:
        return None
    falling = sorted(range(len(values)), key=lambda at: (-counts[at], values[at]))
    common = [at for at in falling if counts[at] >= _RARE * facts.present]
    # where nearly all are common the rarer half is pooled: there must be two to pool, and one to keep
    kept = set((common if len(values) - len(common) >= 2 else falling[: len(values) // 2]) or falling[:1])
    label = next(word for word in ("other", "other values", "all other values") if word not in values)
    pooled = tuple(value for at, value in enumerate(values) if at not in kept)
    return HierarchySpec(groups=({value: (value,) for at, value in enumerate(values) if at in kept} | {label: pooled},))
