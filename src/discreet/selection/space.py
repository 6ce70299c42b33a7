"""The search space of the wizard: its dimensions, derived by rules from roles, levels of measurement and limits.

A point holds one choice per dimension; :mod:`discreet.selection.build` turns it into a plan. The dimensions are:

    finish        the method that builds the equivalence classes for the limit on k, with its settings (k, suppression, publish,
                  scale, missing, blanks, weight:NAME per column, its weight in the distance of records or the cost of a
                  suppressed value, and weight, common to all numbers where near records are grouped)
    over          whether the classes are built over the keys, or over every attribute that an intruder may know
    target        the method that lowers the risk of single records where known_sets or special_uniques has a limit, and its
                  order in the plan
    level:NAME    the hierarchy level that an attribute is recoded to: 0 is unchanged, the last level is a single value
    numbers:KEY   the treatment of a numeric key that is not recoded
    hide          the number of sensitive attributes that are blanked, those of the riskiest records first
    beside:NAME   what happens to a column that gives keys back (:mod:`discreet.selection.gaps.companions`): it is masked with the
                  keys (dropped where one of these is recoded), dropped, averaged if it is a weight, or left as it is

Journals of earlier searches hold the names of dimensions and their choices: do not rename or reorder them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from discreet import registry
from discreet.engine.cells.hierarchies import hierarchy_of
from discreet.engine.runtime.compiled import FEW_ROWS, was_compiled
from discreet.engine.targeting.readings import refuses_targeting
from discreet.errors import DiscreetError
from discreet.model.attribute import Level, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.selection.gaps.companions import Companions, is_number_of_group
from discreet.selection.options import SelectOptions
from discreet.selection.proposals import knowable_attributes
from discreet.selection.recodings import needed_class_size

Choice = str | int | float
Point = dict[str, Choice]

TARGETED_GENERALIZATION = "targeted_generalization"
_TARGETS = (
    "targeted_suppression sensitive",
    "targeted_suppression cheapest",
    "targeted_suppression known",
    TARGETED_GENERALIZATION,
)
"""Targeted methods, each with the side that it changes: sensitive values, known values, or whichever costs less."""
SCORE_TARGET = "targeted_suppression special_uniques"
"""The method that lowers the scores of special uniques, where these have a limit."""
_K_MULTIPLES = (1, 2, 3, 4, 5, 6, 8, 10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320, 480, 640)
"""Factors for the required k: limits on known_sets need classes much larger than k."""
_K_FRACTIONS = (0.25, 0.34, 0.5, 0.75)
"""Factors for the required k where a blank agrees with any value."""
_MOST_KEYS_OF_MATCHING = 8
"""Local suppression by agreement with blanks tries every set of keys; with more keys one plan would take too long."""
_FEWEST_CLASSES = 20
"""A k is offered only if the table has records for at least this many classes of that size."""
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
_COLUMN_WEIGHTS = tuple(2.0**power for power in range(-6, 5))
_NUMERIC_WEIGHTS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
"""Weights of numbers relative to categories: small where mostly categories are lost, large where correlations must be kept."""
_CLASS_METHODS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "full_domain": ("generalization", {"k": 2, "algorithm": "full_domain"}),
    "partition": ("generalization", {"k": 2, "algorithm": "partition"}),
    "balanced_partition": ("balanced_partition", {"k": 2, "criterion": "records"}),
    "microaggregation": ("microaggregation", {"size": 2, "how": "mdav"}),
    "local_suppression": ("local_suppression", {"k": 2}),
    "clusters": ("microaggregation", {"size": 2, "how": "mdav", "publish": "ranges", "missing": "category"}),
}
"""The methods that build classes, with parameters for checking whether they can work on a set of columns."""
WITH_KEYS, DROPPED, AVERAGED, AS_IT_IS = "with the keys", "dropped", "averaged", "as it is"
"""What happens to a column that gives keys back."""
CODED_SHARE = 0.02
"""Share of the values of a number that top and bottom coding replaces at either end."""
STARTING_NUMERIC_WEIGHTS = (16.0, 1.0)
"""Starting weights of numbers where near records are grouped: first one that keeps correlations, then equal weights."""
LIGHT_NUMERIC_WEIGHTS = (0.25, 0.0625, 0.5)
"""Starting weights of numeric keys: a published mean is off by a share of the range, a changed category is lost entirely."""


@dataclass(frozen=True)
class Space:
    """The dimensions with their choices, in a fixed order; the choices of ``ordered`` dimensions have neighbours."""

    choices: Mapping[str, Sequence[Choice]]
    ordered: frozenset[str]
    keys: tuple[str, ...]
    heights: Mapping[str, int]
    """The highest hierarchy level of each known attribute, at which all values are one."""
    blankable: tuple[str, ...]
    """The sensitive attributes that can be blanked, those of the riskiest records first."""
    numeric: tuple[str, ...]
    known: tuple[str, ...] = ()
    """The attributes that an intruder may know, the keys first."""
    finishes_over_known: frozenset[str] = frozenset()
    """The finishes that can build classes over all known attributes."""
    category_counts: Mapping[str, int] = field(default_factory=dict)
    """The number of values of each categorical known attribute; a recoded category is still a category."""
    protected: tuple[str, ...] = ()
    """The columns that no step may change."""
    value_counts: Mapping[str, int] = field(default_factory=dict)
    """The number of different values of each known attribute."""
    analysed: tuple[str, ...] = ()
    """The keys in regressions that the owner names."""
    required_k: int = 2
    """The class size that the limits ask for."""
    uncompiled: frozenset[str] = frozenset()
    """The finishes that have to be compiled first: not the first to be tried."""
    companions: Companions = field(default_factory=dict)
    """The columns beside the keys that give keys back, each with these keys."""
    joinable: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """For each finish the companions that it can build classes over together with the keys."""

    def unchanged_point(self) -> Point:
        """The point whose plan changes nothing."""
        point = {name: 1.0 if name.startswith("weight") else choices[0] for name, choices in self.choices.items()}
        return point | ({"k": self.required_k} if "k" in point else {})


def build_space(data: Microdata, options: SelectOptions | None = None, *, top: Sequence[str] = ()) -> Space:
    """The search space of a table whose policy has all hierarchies; ``top``: the sensitive attributes, riskiest first."""
    options = options or SelectOptions()
    empty = {name for name in data.columns if data.frame[name].null_count() == len(data)}  # nothing can be done to them
    keys = tuple(name for name in _keys_of_classes(data) if name not in empty)
    known = (*keys, *(name for name in knowable_attributes(data) if name not in keys and name not in empty))
    numeric = tuple(name for name in known if _is_number(data, name))
    heights = {name: hierarchy_of(data, name).height for name in known}
    limited = {limit.split(".")[0] for limit in data.policy.limits}
    limits_known_sets = "known_sets" in limited
    finishes = _list_finishes(data, keys, limited, options, heights)
    over_known = _list_finishes_over_known(data, keys, known, heights, finishes) if limits_known_sets else []
    blankable = tuple(name for name in top if _can_lower_weight(data, name) and name not in options.protect)
    if not options.may_perturb("microaggregation") and any(not _is_number(data, name) for name in known):
        over_known = [finish for finish in over_known if finish != "microaggregation"]
    # the order of the dimensions decides which of them a draw changes: keep it, so that a seed finds the same plans
    choices: dict[str, Sequence[Choice]] = {"finish": finishes}
    if keys:
        choices |= _class_choices(data, known, numeric, finishes, weighted=known if over_known else keys)
    if over_known:
        choices["over"] = ["keys", "all"]
    choices |= _target_choices(data, limited)
    choices |= _recoding_choices(keys, known, _treatments(data, numeric), heights, options.protect)
    if blankable and limits_known_sets:
        choices["hide"] = list(range(len(blankable) + 1))
    required_k = needed_class_size(data.policy)
    ordered = {"k", "suppression", "hide", "weight"} | {name for name in choices if name.startswith(("level:", "weight:"))}
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
            finish: frozenset(name for name in names if _can_build_classes(data, finish, [*space.keys, name]))
            for finish in map(str, space.choices["finish"])
            if finish in _CLASS_METHODS
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
        return [AVERAGED, AS_IT_IS] if name not in options.keep and _is_number(data, name) else []
    frequent = data.frame[name].n_unique() * k <= len(data) and not is_number_of_group(data, name)
    dropping = [] if name in options.analysed_attributes or name in options.keep else [DROPPED]
    return [*([WITH_KEYS] if frequent else []), *dropping, AS_IT_IS] if frequent or dropping else []


def named_by_risks(policy: Policy) -> set[str]:
    """The columns that parameters of the policy's risks name."""
    lists = [value for parameters in policy.risk.values() for value in parameters.values() if isinstance(value, list | tuple)]
    texts = [value for parameters in policy.risk.values() for value in parameters.values() if isinstance(value, str)]
    return {name for names in lists for name in names if isinstance(name, str)} | set(texts)


def _class_choices(
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
    choices |= {f"weight:{name}": list(_COLUMN_WEIGHTS) for name in weighted}
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


def _target_choices(data: Microdata, limited: Collection[str]) -> dict[str, Sequence[Choice]]:
    """The methods that lower a limited risk of single records, before or after classes are built; empty if none can."""
    targets = [target for target in _TARGETS if "known_sets" in limited and _can_target(target, data)]
    if "special_uniques" in limited and _can_target(SCORE_TARGET, data):
        targets.append(SCORE_TARGET)
    return {"target": ["none", *targets], "order": ["last", "first"]} if targets else {}


def _recoding_choices(
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


def _treatments(data: Microdata, numeric: Sequence[str]) -> dict[str, Sequence[Choice]]:
    """The treatments of each number; extremes are coded only where the two limits differ."""
    treatments: dict[str, Sequence[Choice]] = {}
    for name in numeric:
        low, high = (data.frame[name].quantile(share, "nearest") for share in (CODED_SHARE, 1 - CODED_SHARE))
        coded = ["top_bottom_coding"] if low is not None and high is not None and low < high else []
        treatments[name] = ["as is", "microaggregation", *coded]
    return treatments


def _is_number(data: Microdata, name: str) -> bool:
    return data.level(name) is Level.NUMERIC and data.frame.schema[name].is_numeric()


def _can_lower_weight(data: Microdata, name: str) -> bool:
    """Whether some value of a sensitive attribute weighs more than a blank: only then does blanking reduce what is learnt."""
    attribute = data.attribute(name)
    return attribute.sensitivity > 0 and max(attribute.values.values(), default=0.0) > attribute.unlisted


def _can_target(target: str, data: Microdata) -> bool:
    method, _, side = target.partition(" ")
    if method not in registry.installed_names("masking"):
        return False
    if target != SCORE_TARGET and refuses_targeting(data.policy):
        return False
    return side not in ("sensitive", "cheapest") or any(_can_lower_weight(data, name) for name in data.columns)


def _list_finishes_over_known(
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
        if finish in _CLASS_METHODS and finish not in too_slow and _can_build_classes(data, str(finish), known)
    ]


def list_uncompiled_finishes(data: Microdata, keys: Sequence[str]) -> frozenset[str]:
    """The finishes whose kernels would have to be compiled first, on this table and machine; small tables need no compiler."""
    is_small = len(data) * len(keys) <= FEW_ROWS
    return frozenset(
        finish for finish, module in _COMPILED_MODULES.items() if not was_compiled(module) and not (is_small and module != "mdav")
    )


def _can_build_classes(data: Microdata, finish: str, columns: Sequence[str]) -> bool:
    """Whether the check of a method that builds classes accepts these columns."""
    name, parameters = _CLASS_METHODS[finish]
    try:
        registry.create("masking", name, parameters, origin="select").check(data, columns)
    except DiscreetError:
        return False
    return True


def _keys_of_classes(data: Microdata) -> list[str]:
    """The keys that the policy names for k_anonymity; default: all attributes with the role key."""
    named = data.policy.risk.get("k_anonymity", {}).get("keys") or ()
    return [name for name in named if name in data.columns] or data.named(Role.KEY)


def _list_finishes(
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
        if not options.may_perturb("microaggregation") and any(not _is_number(data, name) for name in keys):
            unwanted.add("microaggregation")
        if options.seconds is not None and options.seconds < _SECONDS_WITH_COMPILER:
            unwanted |= list_uncompiled_finishes(data, keys)
        candidates = [finish for finish in _CLASS_METHODS if finish not in unwanted]
        finishes += [finish for finish in candidates if _can_build_classes(data, finish, keys)]
        if "repeated_records" in limited and data.named(Role.PERSON):
            finishes += ["balanced_persons", "balanced"]
    return finishes
