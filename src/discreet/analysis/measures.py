"""Which risks to measure under the proposed numbers, and how fine to look."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

from discreet.model.attribute import Attribute, Role

_EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2)
_MOST_SETS = 1_000
"""A record risk counts every record once a known set; more sets than this take long on large tables."""


CROWD = 20
"""A record is proposed as high-risk where its effective class size is below this: as if hidden among fewer, whatever is known."""
_ALPHA = 100


def risks_for(attributes: Collection[Attribute], installed: Collection[str]) -> dict[str, dict[str, Any]]:
    """The risk section: alpha of the paper, its epsilon or a larger one where it would keep too many known sets, and a threshold
    that people can read: hidden among twenty."""
    roles = {attribute.role for attribute in attributes}
    known = [attribute.known for attribute in attributes if attribute.role not in (Role.IDENTIFIER, Role.PERSON)]
    made: dict[str, dict[str, Any]] = {}
    if "known_sets" in installed and any(known):
        epsilon = next((one for one in _EPSILONS if kept_sets(known, one, _MOST_SETS) <= _MOST_SETS), _EPSILONS[-1])
        made["known_sets"] = {"alpha": _ALPHA, "epsilon": epsilon, "threshold": {"among": CROWD}}
    if "k_anonymity" in installed and Role.KEY in roles:
        made["k_anonymity"] = {}
    if "repeated_records" in installed and {Role.KEY, Role.PERSON} <= roles:
        made["repeated_records"] = {}
    return made


def kept_sets(known: Sequence[float], epsilon: float, most: int) -> int:
    """How many sets of attributes are known together with a probability greater than epsilon; counting ends above ``most``.

    >>> kept_sets([0.5, 0.5, 0.1], 0.1, 100)
    3
    """
    return sum(1 for _ in islice(_kept(known, epsilon), most + 1))


def _kept(known: Sequence[float], epsilon: float) -> Iterator[float]:
    """The probabilities greater than epsilon of sets of attributes, the empty set left out."""
    falling = sorted((one for one in known if one > epsilon), reverse=True)
    open_sets = [(0, 1.0)]
    while open_sets:
        first, chance = open_sets.pop()
        for at in range(first, len(falling)):
            if chance * falling[at] <= epsilon:
                break
            yield chance * falling[at]
            open_sets.append((at + 1, chance * falling[at]))
