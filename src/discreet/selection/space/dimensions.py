"""The search space of the wizard: its dimensions, derived by rules from roles, levels of measurement and limits.

A point holds one choice per dimension; :mod:`discreet.selection.steps.build` turns it into a plan. The dimensions are:

    finish        the method that builds the equivalence classes for the limit on k, with its settings (k, suppression, publish,
                  scale, missing, blanks, weight:NAME per column, its weight in the distance of records or the cost of a
                  suppressed value, and weight, common to all numbers where near records are grouped)
    over          whether the classes are built over the keys, or over every attribute that an intruder may know
    target        the method that lowers the risk of single records where known_sets or special_uniques has a limit, and its
                  order in the plan
    margin        how many times the effective class size that the limits ask for the target raises records to, where these are
                  limits on known_sets: an intruder with true values counts fewer records than the release shows
    level:NAME    the hierarchy level that an attribute is recoded to: 0 is unchanged, the last level is a single value
    numbers:KEY   the treatment of a numeric key that is not recoded
    hide          the number of sensitive attributes that are blanked, those of the riskiest records first
    beside:NAME   what happens to a column that gives keys back (:mod:`discreet.selection.gaps.companions`): it is masked with the
                  keys (dropped where one of these is recoded), released in ranges of near values, dropped, averaged if it is a
                  weight, or left as it is; masked with the keys it has a weight:NAME as they have
    spare:KEY     whether the target suppresses values of a key that the release gives back otherwise

Journals of earlier searches hold the names of dimensions and their choices: do not rename or reorder them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from discreet.selection.gaps.companions import Companions

Choice = str | int | float
Point = dict[str, Choice]
TARGETED_GENERALIZATION = "targeted_generalization"
KNOWN_TARGET = "targeted_suppression known"
SCORE_TARGET = "targeted_suppression special_uniques"
"""The method that lowers the scores of special uniques, where these have a limit."""
WITH_KEYS, IN_RANGES, DROPPED, AVERAGED, AS_IT_IS = "with the keys", "in ranges", "dropped", "averaged", "as it is"
"""What happens to a column that gives keys back."""
SPARED = "spared"
"""A key of which the target suppresses no value."""
USUAL_MARGIN = 1.4
"""The factor of the effective class size that targeted methods start with."""
CODED_SHARE = 0.02
"""Share of the values of a number that top and bottom coding replaces at either end."""
COLUMN_WEIGHTS = tuple(2.0**power for power in range(-6, 5))
"""Weights of a column in the distance of records, or costs of suppressing one of its values."""
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

    def neutral_choice(self, dimension: str) -> Choice:
        """The choice of a dimension that was added later, for plans that did not have it."""
        return 1.0 if dimension.startswith("weight:") else AS_IT_IS

    def unchanged_point(self) -> Point:
        """The point whose plan changes nothing."""
        point = {name: 1.0 if name.startswith("weight") else choices[0] for name, choices in self.choices.items()}
        usual: Point = {"k": self.required_k, "margin": USUAL_MARGIN}
        return point | {name: choice for name, choice in usual.items() if name in point}
