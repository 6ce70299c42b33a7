"""The kinds of number that a measure reports: counts of records, class sizes, extremes over records, shares, averages.

A public report treats each kind differently. An integer field of a third-party plug-in is assumed to count records.
"""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["count", "size", "extreme", "share", "plain"]

_PLAIN = {
    "associations.effects",
    "associations.effects_outside",
    "associations.pairs",
    "coverage.identifying",
    "coverage.restorable",
    "coverage.unexamined",
    "discernibility.before",
    "discernibility.metric",
    "falsehood.values",
    "integrity.outside",
    "integrity.statistics",
    "known_sets.sets",
    "l_diversity.l",
    "l_diversity.recursive_l",
    "ncp.values",
    "propensity.coefficients",
    "target_linkage.pairs_left_out",
}
"""Integers that do not count records, and do not describe a single record."""
_SIZES = {
    "k_anonymity.k", "rare_combinations.fewest", "rare_values.least_count", "repeated_records.k", "repeated_records.min_persons",
}  # fmt: skip
"""Sizes of the smallest class: counts of records, but not part of another count of the same measure."""
_BANDED = {
    "k_anonymity.classes", "rare_combinations.combinations", "repeated_records.groups", "special_uniques.minimal_uniques",
    "special_uniques.score_sum", "special_uniques.dis_mean",
}  # fmt: skip
"""Numbers of classes or of rare sets, and sums over these: an exact one would narrow down how many classes have few records."""
_SHARES = {
    "excess", "interval_disclosure", "loss", "marketer", "over_threshold", "share", "within_10", "within_2", "within_5",
}  # fmt: skip
_EXTREME = re.compile(r"^(max|min|t|widest|entropy_l)$|^(max|min)_|_(max|min)$|median|quantile")
_EXTREME_MEANING = re.compile(
    r"^(the )?(largest|smallest|least|greatest|highest|lowest|fewest|most|maximum|minimum)\b", re.IGNORECASE
)
_AVERAGES = {"associations.worst", "decision.worst", "falsehood.worst", "ncp.worst"}
"""The largest of several averages, which is not the risk of a single record."""


def kind_of(measure: str, field: str, value: object, meaning: str = "") -> Kind:
    """The kind of one field of a measure.

    >>> kind_of("k_anonymity", "unique", 3), kind_of("known_sets", "max", 0.2), kind_of("known_sets", "mean", 0.1)
    ('count', 'extreme', 'plain')
    """
    name = f"{measure}.{field}"
    if name in _PLAIN or name in _AVERAGES or isinstance(value, bool):
        return "plain"
    if name in _SIZES:
        return "size"
    if name in _BANDED:
        return "extreme"
    if isinstance(value, int):
        return "count"
    if _EXTREME.search(field) or _EXTREME_MEANING.search(meaning):
        return "extreme"
    return "share" if field in _SHARES or field.endswith("share") else "plain"
