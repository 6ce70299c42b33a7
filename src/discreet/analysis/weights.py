"""Sampling weights, told from body weights and from weights of things."""

from __future__ import annotations

from collections.abc import Collection

from discreet.analysis.evidence import KIND_BY_NAME
from discreet.engine.recognition.findings import Finding, default_numbers, describe_defaults
from discreet.engine.recognition.name_rules import BODY_WEIGHT
from discreet.engine.recognition.value_facts import Facts
from discreet.model.attribute import Role

_PLAIN = ("weight", "wt", "wgt", "wght", "gewicht", "poids", "weights")
"""Names that body weights share with sampling weights."""
_BODILY_KINDS = frozenset({"looks", "disease", "laboratory result", "treatment", "medication", "body weight", "reproduction"})
_HEAVIEST = 700.0
_LEAST_POPULATION = 10.0
"""Mean weight from which the weights add up to a population far larger than the sample."""


def propose_for_weight(facts: Facts, kinds: Collection[str], people: bool) -> Finding:
    """A sampling weight is a number that is never negative; a body weight is a column among other bodily attributes."""
    phrase = facts.naming.phrase
    if not facts.is_number or not facts.distinct:
        return _propose_body_weight(f"column name matches '{phrase}'; text cannot be a sampling weight, so a body weight")
    low, high = (float(end) for end in facts.extremes)
    plain = phrase in _PLAIN
    if plain and high <= _HEAVIEST and _BODILY_KINDS & set(kinds):
        because = f"column name matches '{phrase}' among bodily attributes; {low:g} to {high:g}, so a body weight"
        return _propose_body_weight(because)
    if plain and ("looks" in kinds or not (people or _adds_up(facts) or high <= _HEAVIEST)):
        because = f"column name matches '{phrase}' beside no other sign of a survey, up to {high:g}: the weight of a thing"
        return Finding(Role.OTHER, f"{because}, not a sampling weight", confidence=0.6)
    if low < 0:
        because = f"column name matches '{phrase}', but a sampling weight is never negative and the minimum is {low:g}"
        return Finding(Role.OTHER, because, confidence=0.7)
    total = float((facts.numbers * facts.counts[: facts.distinct]).sum())
    reason = f"{facts.naming.description}; numbers from {low:g} to {high:g}, {facts.distinct:,} distinct"
    if _adds_up(facts):
        reason += f"; they add up to {total:,.0f}, as weights that stand for a population do"
    return Finding(Role.WEIGHT, reason, confidence=0.6 if plain else 0.9)


def _adds_up(facts: Facts) -> bool:
    total = float((facts.numbers * facts.counts[: facts.distinct]).sum())
    return facts.present > 0 and total / facts.present >= _LEAST_POPULATION


def _propose_body_weight(because: str) -> Finding:
    kind = KIND_BY_NAME[BODY_WEIGHT]
    known, sensitivity, source = default_numbers(kind.role, kind)
    return Finding(kind.role, f"{because}; {describe_defaults(known, sensitivity, source)}", known, sensitivity, {}, 0.7, kind)
