"""The risk of small tables from its definition, for thousands of policies at once: every set, every count, nothing clever."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.model.attribute import Attribute
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.threshold import Among

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Guesses:
    """Many policies: probabilities ``[policy, attribute]`` and weights ``[policy, attribute, record]``."""

    known: Array
    weight: Array


class Oracle:
    """A table under every policy that has the same attributes."""

    def __init__(self, data: Microdata, missing: str = "category") -> None:
        self.data = data
        self.names = list(data.columns)
        columns = [data.frame[name].to_list() for name in self.names]
        agree = np.array(
            [[[a == b or (missing == "wildcard" and None in (a, b)) for b in column] for a in column] for column in columns]
        )
        self.sets = [
            members for size in range(len(self.names) + 1) for members in itertools.combinations(range(len(self.names)), size)
        ]
        everyone = np.ones((len(data), len(data)), dtype=bool)
        self.counts = np.array(
            [np.logical_and.reduce([everyone, *(agree[at] for at in members)]).sum(axis=1) for members in self.sets]
        )

    def guesses(self, *policies: Policy) -> Guesses:
        """The numbers of some policies."""
        attributes = [[policy.attributes.get(name) or Attribute() for name in self.names] for policy in policies]
        known = np.array([[float(one.known) for one in row] for row in attributes])
        weight = np.array(
            [
                [
                    [float(one.sensitivity) * one.value_weight(value) for value in self.data.frame[name]]
                    for name, one in zip(self.names, row, strict=True)
                ]
                for row in attributes
            ]
        )
        return Guesses(known, weight)

    def sums(self, guesses: Guesses, epsilon: float | None = None) -> tuple[Array, Array, Array]:
        """M, N and the part of the empty set, in neither, ``[policy, record]``; over all sets, or those above epsilon."""
        consequence = guesses.weight.sum(axis=1)
        total, mass = np.zeros(consequence.shape), np.zeros(consequence.shape)
        for members, counts in zip(self.sets[1:], self.counts[1:], strict=True):
            chance = guesses.known[:, list(members)].prod(axis=1)
            if epsilon is not None:
                chance = np.where(chance > epsilon, chance, 0.0)
            learnt = consequence - guesses.weight[:, list(members)].sum(axis=1)
            total += chance[:, None] * learnt / counts
            mass += chance[:, None] * learnt
        return total, mass, consequence / max(len(self.data), 1)

    def field(self, guesses: Guesses, field: str, threshold: float | Among, alpha: float) -> Array:
        """One number per policy; not a number where nothing can be learnt."""
        total, mass, alone = self.sums(guesses)
        risk = alpha * (total + alone)
        tiny = mass <= 1e-13 * np.maximum(alone * len(self.data), mass)
        size = np.where(tiny, np.nan, mass / np.where(total > 0, total, 1))
        if field in ("high_risk", "high_risk_share"):
            high = risk > threshold if not isinstance(threshold, Among) else size < threshold.among * (1 - 1e-9)
            return high.sum(axis=1) / (1 if field == "high_risk" else len(self.data))
        if field == "mean":
            return risk.mean(axis=1)
        if field == "max":
            return risk.max(axis=1)
        if field == "below_5":
            return (size < 5 * (1 - 1e-9)).sum(axis=1)
        if field == "effective_k_min":
            return np.where(np.isnan(size).all(axis=1), np.nan, np.nanmin(np.where(np.isnan(size), np.inf, size), axis=1))
        medians: Array = np.full(len(size), np.nan)
        for at, row in enumerate(size):
            defined = np.sort(row[~np.isnan(row)])
            if len(defined):
                medians[at] = defined[(len(defined) + 1) // 2 - 1]
        return medians

    def is_met(self, guesses: Guesses, field: str, required: float, threshold: float | Among, alpha: float, better: str) -> Any:
        """Which policies meet a limit; a size that does not exist meets it."""
        number = self.field(guesses, field, threshold, alpha)
        met = number <= required if better == "low" else number >= required
        return met | np.isnan(number)


def sample_box(oracle: Oracle, policy: Policy, half_width: float, number: int, seed: int) -> Guesses:
    """Policies inside a box, every guess by itself: corners, edges and points inside."""
    random = np.random.default_rng(seed)

    def draw(guess: float) -> Array:
        low, high = max(guess * (1 - half_width), 0.0), min(guess * (1 + half_width), 1.0)
        share = random.uniform(size=number)
        share = np.where(random.uniform(size=number) < 0.5, np.round(share), share)
        return low + share * (high - low)

    known, weight = [], []
    for name in oracle.names:
        attribute = policy.attributes.get(name) or Attribute()
        known.append(draw(float(attribute.known)))
        drawn = {text: draw(float(value)) for text, value in attribute.values.items()}
        other = np.full(number, attribute.unlisted) if attribute.default is None else draw(float(attribute.default))
        own = draw(float(attribute.sensitivity))
        texts = [None if value is None else str(value) for value in oracle.data.frame[name]]
        weight.append(np.array([own * drawn.get(text, other) for text in texts]))
    return Guesses(np.array(known).T, np.moveaxis(np.array(weight), 2, 0))
