"""Hierarchies for the attributes that an intruder may know and that have none, so that a search can recode them.

Where the analyzer has no rule (categories in words), rare values are pooled: each value of at least 5 % of the records stays, the
others become one group; where fewer than two values are rare, the rarer half of the values becomes the group.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.analysis.hierarchies import propose_hierarchy
from discreet.analysis.levels import propose_level
from discreet.engine.recognition.value_facts import Facts, facts_of
from discreet.model.attribute import Attribute, Level, Role
from discreet.model.cells import Group
from discreet.model.hierarchy import HierarchySpec
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

_EXCLUDED_ROLES = (Role.IDENTIFIER, Role.PERSON, Role.WEIGHT)
_TOO_FEW_VALUES, _MOST_VALUES = 2, 200
"""Values of an attribute are pooled where there are more than the first, and at most the second."""
_COMMON_SHARE = 0.05
_MOST_LISTED, _LONGEST_LABEL = 4, 60
"""Values and letters of the label of a group up to which it lists its values."""


def knowable_attributes(data: Microdata) -> list[str]:
    """The attributes by which records can be recognised: the keys, and the others that an intruder may know."""
    attributes = data.policy.at_largest_known().attributes
    return [
        name
        for name in data.columns
        if (attribute := attributes.get(name, data.attribute(name))).role not in _EXCLUDED_ROLES
        and (attribute.role is Role.KEY or (attribute.known > 0 and attribute.role is Role.OTHER))
    ]


def released_attributes(data: Microdata) -> list[str]:
    """The attributes that a release publishes: all but identifiers, weights, and numbers of persons and households."""
    return [name for name in data.columns if data.attribute(name).role not in (*_EXCLUDED_ROLES, Role.HOUSEHOLD)]


def add_missing_hierarchies(data: Microdata) -> Policy:
    """The policy with a hierarchy for each knowable attribute that can have one; hierarchies of the policy stay.

    >>> from discreet.testing import table
    >>> data = table({"age": list(range(100))}, key=["age"])
    >>> add_missing_hierarchies(data).attributes["age"].hierarchy.widths
    (5.0, 10.0, 20.0, 40.0)
    """
    missing = {name for name in knowable_attributes(data) if data.attribute(name).hierarchy is None}
    attributes = dict(data.policy.attributes)
    for facts in facts_of(data):
        if facts.name in missing and (spec := _propose_hierarchy(facts, data)) is not None:
            attribute = attributes.get(facts.name, Attribute())
            attributes[facts.name] = attribute.model_copy(update={"hierarchy": spec})
    return data.policy.with_(attributes=attributes)


def _propose_hierarchy(facts: Facts, data: Microdata) -> HierarchySpec | None:
    is_number = facts.dtype.is_numeric()
    # the policy's level decides what the values mean: a number declared ordinal or nominal gets no intervals
    if not is_number or data.level(facts.name) is Level.NUMERIC:
        spec = propose_hierarchy(facts, propose_level(facts))
        if spec is not None:
            return spec
    return None if is_number or facts.dtype.is_temporal() else _pool_rare_values(facts)


def _pool_rare_values(facts: Facts) -> HierarchySpec | None:
    values, counts = facts.column.values.cast(str).to_list(), facts.counts[: facts.distinct].tolist()
    if not _TOO_FEW_VALUES < len(values) <= _MOST_VALUES:
        return None
    by_frequency = sorted(range(len(values)), key=lambda index: (-counts[index], values[index]))
    common = [index for index in by_frequency if counts[index] >= _COMMON_SHARE * facts.present]
    # a group needs at least two values, and at least one value must stay
    single = set((common if len(values) - len(common) >= 2 else by_frequency[: len(values) // 2]) or by_frequency[:1])
    pooled = tuple(value for index, value in enumerate(values) if index not in single)
    return HierarchySpec(
        groups=({value: (value,) for index, value in enumerate(values) if index in single} | {_label_of(pooled, values): pooled},)
    )


def _label_of(pooled: Sequence[str], values: Sequence[str]) -> str:
    """The values of a group, or their number where they are many; a word such as "other" would read as a category of its own."""
    label = str(Group(frozenset(pooled)))
    if len(pooled) > _MOST_LISTED or len(label) > _LONGEST_LABEL:
        label = f"one of {len(pooled)} values"
    return label if label not in values else f"{label} of this column"
