"""The search space of the wizard: its dimensions, derived by rules from roles, levels of measurement and limits.

A point holds one choice per dimension; :mod:`discreet.selection.steps.build` turns it into a plan. The dimensions are:

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
                  keys (dropped where one of these is recoded), released in ranges of near values, dropped, averaged if it is a
                  weight, or left as it is

Journals of earlier searches hold the names of dimensions and their choices: do not rename or reorder them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from discreet.selection.gaps.companions import Companions

Choice = str | int | float
Point = dict[str, Choice]
TARGETED_GENERALIZATION = "targeted_generalization"
SCORE_TARGET = "targeted_suppression special_uniques"
"""The method that lowers the scores of special uniques, where these have a limit."""
WITH_KEYS, IN_RANGES, DROPPED, AVERAGED, AS_IT_IS = "with the keys", "in ranges", "dropped", "averaged", "as it is"
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
