"""The choices of single dimensions: class sizes and weights, targets, hierarchy levels, treatments of numbers."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from discreet import registry
from discreet.engine.targeting.readings import refuses_targeting
from discreet.model.microdata import Microdata
from discreet.selection.recodings import needed_class_size
from discreet.selection.space.dimensions import (
    CODED_SHARE,
    COLUMN_WEIGHTS,
    KNOWN_TARGET,
    SCORE_TARGET,
    TARGETED_GENERALIZATION,
    USUAL_MARGIN,
    Choice,
)
from discreet.selection.steps.targeted import required_effective_size

_TARGETS = (
    "targeted_suppression sensitive",
    "targeted_suppression cheapest",
    KNOWN_TARGET,
    TARGETED_GENERALIZATION,
)
"""Targeted methods, each with the side that it changes: sensitive values, known values, or whichever costs less."""
_MARGINS = (1.0, 1.2, USUAL_MARGIN, 1.7, 2.0, 2.8, 4.0)
"""Factors for the effective class size that the limits ask for, up to which targeted methods raise records."""
_K_MULTIPLES = (1, 2, 3, 4, 5, 6, 8, 10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320, 480, 640)
"""Factors for the required k: limits on known_sets need classes much larger than k."""
_K_FRACTIONS = (0.25, 0.34, 0.5, 0.75)
"""Factors for the required k where a blank agrees with any value."""
_MOST_KEYS_OF_MATCHING = 8
"""Local suppression by agreement with blanks tries every set of keys; with more keys one plan would take too long."""
_FEWEST_CLASSES = 20
"""A k is offered only if the table has records for at least this many classes of that size."""
_NUMERIC_WEIGHTS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
"""Weights of numbers relative to categories: small where mostly categories are lost, large where correlations must be kept."""


def class_choices(
    data: Microdata, known: Sequence[str], numeric: Sequence[str], finishes: Sequence[Choice], *, weighted: Sequence[str]
) -> dict[str, Sequence[Choice]]:
    """The settings of the methods that build classes; each of the ``weighted`` columns gets a weight."""
    required_k = needed_class_size(data.policy)
    blank_agrees = any(limit.startswith("target_linkage.") for limit in data.policy.limits)
    choices: dict[str, Sequence[Choice]] = {
        "k": _class_sizes(required_k, len(data), smaller=blank_agrees),
        "suppression": [0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4],
        "publish": ["means", "ranges"],
        "scale": ["range", "std", "none"],
    }
    choices |= {f"weight:{name}": list(COLUMN_WEIGHTS) for name in weighted}
    if blank_agrees and "local_suppression" in finishes and len(weighted) <= _MOST_KEYS_OF_MATCHING:
        choices["blanks"] = ["category", "match"]
    groups_near_records = {"microaggregation", "clusters"} & set(finishes)
    if groups_near_records and numeric:
        choices["weight"] = list(_NUMERIC_WEIGHTS)
    if "microaggregation" in finishes and any(data.frame[name].has_nulls() for name in known):
        choices["missing"] = ["category", "apart"]
    return choices


def _class_sizes(required: int, records: int, *, smaller: bool = False) -> list[Choice]:
    """The required size, a little more (local suppression may end just below it), and multiples of it.

    ``smaller`` sizes too where a blank agrees with any value: then more records agree with a record than its class has.
    """
    multiples = [required * multiple for multiple in _K_MULTIPLES if required * multiple * _FEWEST_CLASSES <= records]
    fractions = [max(2, math.ceil(required * share)) for share in _K_FRACTIONS] if smaller else []
    return list(dict.fromkeys(sorted([*fractions, required, required + 1, required + 2, *multiples])))


def target_choices(data: Microdata, limited: Collection[str]) -> dict[str, Sequence[Choice]]:
    """The methods that lower a limited risk of single records, before or after classes are built; empty if none can."""
    targets = [target for target in _TARGETS if "known_sets" in limited and _can_target(target, data)]
    limits_sizes = bool(targets) and required_effective_size(data.policy) is not None
    if limits_sizes:  # to what is not there to be learnt a record may be as easy to find as before
        targets.sort(key=lambda target: target != KNOWN_TARGET)
    if "special_uniques" in limited and _can_target(SCORE_TARGET, data):
        targets.append(SCORE_TARGET)
    choices: dict[str, Sequence[Choice]] = {"target": ["none", *targets], "order": ["last", "first"]} if targets else {}
    return choices | ({"margin": list(_MARGINS)} if limits_sizes else {})


def _can_target(target: str, data: Microdata) -> bool:
    method, _, side = target.partition(" ")
    if method not in registry.installed_names("masking"):
        return False
    if target != SCORE_TARGET and refuses_targeting(data.policy):
        return False
    return side not in ("sensitive", "cheapest") or any(can_lower_weight(data, name) for name in data.columns)


def can_lower_weight(data: Microdata, name: str) -> bool:
    """Whether some value of a sensitive attribute weighs more than a blank: only then does blanking reduce what is learnt."""
    attribute = data.attribute(name)
    return attribute.sensitivity > 0 and max(attribute.values.values(), default=0.0) > attribute.unlisted


def recoding_choices(
    keys: Collection[str],
    known: Sequence[str],
    treatments: Mapping[str, Sequence[Choice]],
    heights: Mapping[str, int],
    protected: Collection[str],
) -> dict[str, Sequence[Choice]]:
    """The hierarchy levels of each known attribute, and the treatments of numeric keys."""
    choices: dict[str, Sequence[Choice]] = {}
    for name in known:
        choices[f"level:{name}"] = [0] if name in protected else list(range(heights[name] + 1))
        if name in treatments and name in keys and name not in protected:
            choices[f"numbers:{name}"] = treatments[name]
    return choices


def list_treatments(data: Microdata, numeric: Sequence[str]) -> dict[str, Sequence[Choice]]:
    """The treatments of each number; extremes are coded only where the two limits differ."""
    treatments: dict[str, Sequence[Choice]] = {}
    for name in numeric:
        low, high = (data.frame[name].quantile(share, "nearest") for share in (CODED_SHARE, 1 - CODED_SHARE))
        coded = ["top_bottom_coding"] if low is not None and high is not None and low < high else []
        treatments[name] = ["as is", "microaggregation", *coded]
    return treatments
