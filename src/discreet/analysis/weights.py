"""Sampling weights, told from body weights and from weights of things."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from discreet.analysis.evidence import KIND_BY_NAME
from discreet.engine.recognition.findings import Finding, default_numbers, describe_defaults
from discreet.engine.recognition.name_rules import BODY_WEIGHT
from discreet.engine.recognition.value_facts import Facts
from discreet.model.attribute import Role

_PLAIN = ("weight", "wt", "wgt", "wght", "gewicht", "poids", "weights", "peso", "paino", "vikt", "vekt", "vaegt", "vagt")
"""Names that body weights share with sampling weights."""
_BODILY_KINDS = frozenset({"looks", "disease", "laboratory result", "treatment", "medication", "body weight", "reproduction"})
_HEAVIEST = 700.0
_LIGHTEST = 2.0
"""The median in kilograms from which a column may hold body weights: those of newborns are lighter than any others."""
_LARGEST_RELATIVE, _RELATIVE_SHARE = 20.0, 0.99
"""Sampling weights that are divided by their mean are hardly ever larger."""
_AROUND_ONE = (0.5, 2.0)
_MANY_DECIMALS, _MOSTLY = 4, 0.5
"""Decimals of a computed number: scales show fewer."""
_LEAST_POPULATION = 10.0
"""Mean weight from which the weights add up to a population far larger than the sample."""


def propose_for_weight(facts: Facts, kinds: Collection[str], people: bool) -> Finding:
    """A sampling weight is a number that is never negative; a body weight is a column among other bodily attributes.

    Fractions around 1 are sampling weights divided by their mean, whatever stands beside them: nobody weighs a kilogram.
    """
    phrase = facts.naming.phrase
    if not facts.is_number or not facts.distinct:
        return _propose_body_weight(f"column name matches '{phrase}'; text cannot be a sampling weight, so a body weight")
    low, high = (float(end) for end in facts.extremes)
    plain = phrase in _PLAIN
    if plain and _are_relative(facts):
        total = _total(facts)
        because = f"{facts.naming.description}; fractions from {low:g} to {high:g} with a mean of {total / facts.present:.3g}"
        return Finding(Role.WEIGHT, f"{because}, as sampling weights that are divided by their mean have", confidence=0.8)
    bodily = sorted(_BODILY_KINDS & set(kinds))
    if plain and high <= _HEAVIEST and bodily and _median(facts) >= _LIGHTEST:
        among = f"among bodily attributes ({', '.join(bodily)})"
        return _propose_body_weight(f"column name matches '{phrase}' {among}; {low:g} to {high:g}, so a body weight")
    if plain and ("looks" in kinds or not (people or _adds_up(facts) or high <= _HEAVIEST)):
        because = f"column name matches '{phrase}' beside no other sign of a survey, up to {high:g}: the weight of a thing"
        return Finding(Role.OTHER, f"{because}, not a sampling weight", confidence=0.6)
    if low < 0:
        because = f"column name matches '{phrase}', but a sampling weight is never negative and the minimum is {low:g}"
        return Finding(Role.OTHER, because, confidence=0.7)
    total = _total(facts)
    reason = f"{facts.naming.description}; numbers from {low:g} to {high:g}, {facts.distinct:,} distinct"
    if _adds_up(facts):
        reason += f"; they add up to {total:,.0f}, as weights that stand for a population do"
    return Finding(Role.WEIGHT, reason, confidence=0.6 if plain else 0.9)


def _adds_up(facts: Facts) -> bool:
    return facts.present > 0 and _total(facts) / facts.present >= _LEAST_POPULATION


def _total(facts: Facts) -> float:
    """The sum over the records."""
    return float((facts.numbers * facts.counts[: facts.distinct]).sum())


def _median(facts: Facts) -> float:
    """The smallest number that half of the records do not exceed."""
    return _quantile(facts, 0.5)


def _quantile(facts: Facts, share: float) -> float:
    """The smallest number that this share of the records does not exceed."""
    cumulated = np.cumsum(facts.counts[: facts.distinct])
    return float(facts.numbers[int(np.searchsorted(cumulated, share * cumulated[-1]))])


def _are_relative(facts: Facts) -> bool:
    """Whether fractions look like weights divided by their mean: around 1, or small with more decimals than scales show."""
    if facts.is_whole or float(facts.extremes[0]) < 0 or _quantile(facts, _RELATIVE_SHARE) > _LARGEST_RELATIVE:
        return False
    mean = _total(facts) / facts.present
    scaled = facts.numbers * 10 ** (_MANY_DECIMALS - 1)
    computed = float((np.abs(scaled - np.round(scaled)) > 1e-6).mean()) >= _MOSTLY
    return _AROUND_ONE[0] <= mean <= _AROUND_ONE[1] or computed


def _propose_body_weight(because: str) -> Finding:
    kind = KIND_BY_NAME[BODY_WEIGHT]
    known, sensitivity, source = default_numbers(kind.role, kind)
    return Finding(kind.role, f"{because}; {describe_defaults(known, sensitivity, source)}", known, sensitivity, {}, 0.7, kind)
