"""The risk measures that the analyzer proposes, and their parameters."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

from discreet.model.attribute import Attribute, Role

_EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2)
_MOST_SETS = 1_000
"""The time of known_sets grows with records x kept sets: more sets than this take long on large tables."""


PROPOSED_CLASS_SIZE = 20
"""The proposed threshold: a record is high-risk if its effective class size is smaller."""
_ALPHA = 100


def propose_risks(attributes: Collection[Attribute], installed: Collection[str]) -> dict[str, dict[str, Any]]:
    """The ``risk`` section of a policy.

    Alpha and epsilon are those of Orooji & Knapp (2018a); epsilon is larger if it would keep too many known sets. The threshold
    is an effective class size, which is easier to interpret than a risk.
    """
    roles = {attribute.role for attribute in attributes}
    known = [attribute.known for attribute in attributes if attribute.role not in (Role.IDENTIFIER, Role.PERSON)]
    risks: dict[str, dict[str, Any]] = {}
    if "known_sets" in installed and any(known):
        epsilon = next((value for value in _EPSILONS if count_kept_sets(known, value, _MOST_SETS) <= _MOST_SETS), _EPSILONS[-1])
        risks["known_sets"] = {"alpha": _ALPHA, "epsilon": epsilon, "threshold": {"among": PROPOSED_CLASS_SIZE}}
    if "k_anonymity" in installed and Role.KEY in roles:
        risks["k_anonymity"] = {}
    if "repeated_records" in installed and {Role.KEY, Role.PERSON} <= roles:
        risks["repeated_records"] = {}
    return risks


def count_kept_sets(known: Sequence[float], epsilon: float, most: int) -> int:
    """The number of sets of attributes that are known together with a probability greater than epsilon, at most ``most`` + 1.

    >>> count_kept_sets([0.5, 0.5, 0.1], 0.1, 100)
    3
    """
    return sum(1 for _ in islice(_kept_set_probabilities(known, epsilon), most + 1))


def _kept_set_probabilities(known: Sequence[float], epsilon: float) -> Iterator[float]:
    """The probabilities of the non-empty sets of attributes that are greater than epsilon.

    Attributes are taken by decreasing probability, so the first product that is too small ends a branch.
    """
    decreasing = sorted((probability for probability in known if probability > epsilon), reverse=True)
    branches = [(0, 1.0)]  # the next attribute to add to a set, and the probability of the set
    while branches:
        first, set_probability = branches.pop()
        for index in range(first, len(decreasing)):
            probability = set_probability * decreasing[index]
            if probability <= epsilon:
                break
            yield probability
            branches.append((index + 1, probability))
