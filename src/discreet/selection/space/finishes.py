"""The methods that can build equivalence classes on a table, which are the finishes of a plan."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from discreet import registry
from discreet.engine.runtime.compiled import FEW_ROWS, was_compiled
from discreet.errors import DiscreetError
from discreet.model.attribute import Level, Role
from discreet.model.microdata import Microdata
from discreet.selection.options import SelectOptions
from discreet.selection.space.dimensions import (
    Choice,
)

_LARGEST_LATTICE = 50_000
"""Full-domain recoding over all known attributes is offered only up to this many nodes of the generalization lattice."""
_LARGEST_KEY_LATTICE = 100_000
"""Full-domain recoding over the keys is offered only up to this many nodes: beyond, one plan takes as long as many others."""
_SECONDS_WITH_COMPILER = 40.0
"""A search that is shorter than this uses no finish that has to be compiled first, which takes long and nothing can stop."""
_COMPILED_MODULES = {
    "clusters": "mdav",
    "microaggregation": "mdav",
    "partition": "mondrian_kernels",
    "balanced_partition": "split",
}
"""The modules of the kernels that finishes run in."""
CLASS_METHODS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "full_domain": ("generalization", {"k": 2, "algorithm": "full_domain"}),
    "partition": ("generalization", {"k": 2, "algorithm": "partition"}),
    "balanced_partition": ("balanced_partition", {"k": 2, "criterion": "records"}),
    "microaggregation": ("microaggregation", {"size": 2, "how": "mdav"}),
    "local_suppression": ("local_suppression", {"k": 2}),
    "clusters": ("microaggregation", {"size": 2, "how": "mdav", "publish": "ranges", "missing": "category"}),
}
"""The methods that build classes, with parameters for checking whether they can work on a set of columns."""


def list_finishes(
    data: Microdata, keys: Sequence[str], limited: Collection[str], options: SelectOptions, heights: Mapping[str, int]
) -> list[Choice]:
    """The methods that can build classes on this table: none, the policy's own plan ("given"), then the class methods.

    Full-domain recoding is left out where its lattice has so many nodes that one plan would take the time of the search, and
    microaggregation where it would change categories although the owner wants them true.
    """
    finishes: list[Choice] = ["none"]
    if data.policy.plan.steps and any(step.method != "remove_identifiers" for step in data.policy.plan.steps):
        finishes.append("given")
    if keys:
        unwanted: set[str] = set()
        if math.prod(heights[name] + 1 for name in keys) > _LARGEST_KEY_LATTICE:
            unwanted.add("full_domain")
        if not options.may_perturb("microaggregation") and any(not is_number(data, name) for name in keys):
            unwanted.add("microaggregation")
        if options.seconds is not None and options.seconds < _SECONDS_WITH_COMPILER:
            unwanted |= list_uncompiled_finishes(data, keys)
        candidates = [finish for finish in CLASS_METHODS if finish not in unwanted]
        finishes += [finish for finish in candidates if can_build_classes(data, finish, keys)]
        if "repeated_records" in limited and data.named(Role.PERSON):
            finishes += ["balanced_persons", "balanced"]
    return finishes


def list_finishes_over_known(
    data: Microdata, keys: Sequence[str], known: Sequence[str], heights: Mapping[str, int], finishes: Sequence[Choice]
) -> list[str]:
    """The finishes that can build classes over all known attributes in acceptable time; none if only keys are known."""
    if len(known) == len(keys):
        return []
    lattice_nodes = math.prod(heights[name] + 1 for name in known)
    too_slow = {"full_domain"} if lattice_nodes > _LARGEST_LATTICE else set()
    return [
        str(finish)
        for finish in finishes
        if finish in CLASS_METHODS and finish not in too_slow and can_build_classes(data, str(finish), known)
    ]


def list_uncompiled_finishes(data: Microdata, keys: Sequence[str]) -> frozenset[str]:
    """The finishes whose kernels would have to be compiled first, on this table and machine; small tables need no compiler."""
    is_small = len(data) * len(keys) <= FEW_ROWS
    return frozenset(
        finish for finish, module in _COMPILED_MODULES.items() if not was_compiled(module) and not (is_small and module != "mdav")
    )


def can_build_classes(data: Microdata, finish: str, columns: Sequence[str]) -> bool:
    """Whether the check of a method that builds classes accepts these columns."""
    name, parameters = CLASS_METHODS[finish]
    try:
        registry.create("masking", name, parameters, origin="select").check(data, columns)
    except DiscreetError:
        return False
    return True


def is_number(data: Microdata, name: str) -> bool:
    return data.level(name) is Level.NUMERIC and data.frame.schema[name].is_numeric()
