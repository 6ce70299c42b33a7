"""The data controller's guesses as numbers that can be moved: one point in the space of all guesses is a policy.

Only guesses that are greater than 0 are scaled: a relative change of 0 is 0. The sensitivity of a value that no policy names (1,
or 0 where other values are listed) is not a guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.model.attribute import Attribute
from discreet.model.policy import Policy

if TYPE_CHECKING:
    from numpy.typing import NDArray


def known_probabilities(policy: Policy, names: Sequence[str]) -> NDArray[np.float64]:
    """The probability of each attribute; of a range its upper end, on which limits are judged."""
    return np.array([_attribute(policy, name).known for name in names], dtype=np.float64)


def with_known(policy: Policy, known: Mapping[str, float]) -> Policy:
    """The policy with other probabilities for some attributes."""
    changed = {name: _attribute(policy, name).model_copy(update={"known": float(value)}) for name, value in known.items()}
    return policy.with_(attributes={**policy.attributes, **changed})


def with_sensitivity(policy: Policy, name: str, value: float) -> Policy:
    """The policy with another sensitivity of one attribute."""
    return policy.with_(
        attributes={**policy.attributes, name: _attribute(policy, name).model_copy(update={"sensitivity": value})}
    )


def scaled(policy: Policy, names: Sequence[str], factor: float) -> Policy:
    """The policy with every guess of these attributes multiplied by a factor and cut off at 1: a corner of a box."""
    changed = {name: _scaled_attribute(_attribute(policy, name), factor) for name in names}
    return policy.with_(attributes={**policy.attributes, **changed})


def at_upper_ends(policy: Policy) -> Policy:
    """The policy with the upper end of every range as a plain number."""
    return scaled(policy, list(policy.attributes), 1.0) if policy.ranges else policy


def largest_half_width(policy: Policy, names: Sequence[str]) -> float:
    """The half-width from which on the box is the same: every guess reaches 0 and 1."""
    guesses = [guess for name in names for guess in _guesses(_attribute(policy, name)) if guess > 0]
    return max([1.0, *(1 / guess - 1 for guess in guesses)])


def _attribute(policy: Policy, name: str) -> Attribute:
    return policy.attributes.get(name) or Attribute()


def _guesses(attribute: Attribute) -> list[float]:
    default = [] if attribute.default is None else [attribute.default]
    return [float(guess) for guess in (attribute.known, attribute.sensitivity, *default, *attribute.values.values())]


def _scaled_attribute(attribute: Attribute, factor: float) -> Attribute:
    def scale(guess: float) -> float:
        return min(max(float(guess) * factor, 0.0), 1.0)

    return attribute.model_copy(
        update={
            "known": scale(attribute.known),
            "sensitivity": scale(attribute.sensitivity),
            "default": None if attribute.default is None else scale(attribute.default),
            "values": {text: scale(weight) for text, weight in attribute.values.items()},
        }
    )
