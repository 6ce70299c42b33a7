"""Linking targets to a masked file: probability ratios (4.11) and the probability (4.10) of seed 002, target by target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from discreet.engine.linkage.comparisons import Comparison
from discreet.errors import DataError
from discreet.model.attribute import Attribute
from discreet.risks.target_linkage.agreement import agreeing_records
from discreet.risks.target_linkage.blocking import Pairs, block
from discreet.risks.target_linkage.fellegi_sunter import agreements, best_of, estimate_errors, ratios

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Attack:
    """What is linked: comparisons, sizes of both tables, inclusion probabilities, and the true masked rows where known."""

    comparisons: Sequence[Comparison]
    targets: int
    records: int
    inclusion: NDArray[np.float64]
    truth: NDArray[np.int64] | None


@dataclass(frozen=True)
class Beliefs:
    """How the intruder weighs agreement: the model of P(ext), domains, densities and error rates."""

    model: Literal["uniform", "independent", "empirical"]
    domain: Mapping[str, float]
    density: Mapping[str, Mapping[str, float]]
    errors: Literal["estimate"] | Mapping[str, float] | None


@dataclass(frozen=True)
class Found:
    """What the intruder finds, a number a target; ``correct`` is the chance that his link is right, where truth is known."""

    probability: NDArray[np.float64]
    best: NDArray[np.int64]
    candidates: NDArray[np.int64]
    runner_up: NDArray[np.float64]
    correct: NDArray[np.float64] | None
    per_attribute: pl.DataFrame
    left_out: int = 0
    notes: tuple[str, ...] = ()


def attack(task: Attack, beliefs: Beliefs) -> Found:
    """Link every target: exactly where agreement is all or nothing, by compared pairs where errors or similarity count."""
    chances = {one.name: value_chances(one, beliefs) for one in task.comparisons}
    if beliefs.errors is None and not any(one.fuzzy for one in task.comparisons):
        return _without_errors(task, beliefs, chances)
    return _with_errors(task, beliefs, chances)


def posterior(
    ratio: NDArray[np.float64], total: NDArray[np.float64], inclusion: NDArray[np.float64], records: int
) -> NDArray[np.float64]:
    """Equation (4.10) from a record's ratio and the sum of all; 0 where no record has any.

    >>> posterior(np.array([50_000.0]), np.array([50_000.0]), np.array([1e-4]), 20_000).round(8)
    array([0.00024996])
    """
    prior = inclusion / max(records, 1)
    below = prior * total + (1 - inclusion)
    return np.divide(prior * ratio, below, out=np.zeros(len(ratio)), where=(below > 0) & (ratio > 0))


def value_chances(one: Comparison, beliefs: Beliefs) -> NDArray[np.float64]:
    """P(a stranger's record agrees with the value), for each target value.

    A value that no known cell of the file has is given one record among one more than there are.
    """
    if one.name in beliefs.density:
        return _density(one, beliefs.density[one.name])
    if one.name in beliefs.domain:
        return np.full(one.unknown, min(1.0, 1 / beliefs.domain[one.name]))
    counts = one.counts()[: one.blank]
    if beliefs.model == "uniform":
        return np.full(one.unknown, 1 / max(1, int((counts > 0).sum())))
    known = int(counts.sum())
    if not known:
        return np.ones(one.unknown)
    equal = np.maximum(one.agreeing() / known, 1 / (known + 1))
    return np.minimum(1.0, equal + one.chance_similarity())


def _density(one: Comparison, listed: Mapping[str, float]) -> NDArray[np.float64]:
    owner = Attribute(values=dict(listed), default=0.0)
    asked = np.unique(one.targets[one.targets < one.unknown])
    made = np.ones(one.unknown)
    for code in asked:
        made[code] = owner.value_weight(one.values[int(code)])
        if made[code] <= 0:
            raise DataError(
                f"the density of '{one.name}' gives no probability to {one.values[int(code)]}, which a target has; "
                "list it, or an interval that holds it"
            )
    return made


def _without_errors(task: Attack, beliefs: Beliefs, chances: Mapping[str, NDArray[np.float64]]) -> Found:
    counts, first = agreeing_records(task.comparisons, task.targets, task.records)
    said = [one for one in task.comparisons if one.name in beliefs.density or one.name in beliefs.domain]
    rest = [one for one in task.comparisons if one.name not in beliefs.density and one.name not in beliefs.domain]
    chance = np.ones(task.targets)
    for one in task.comparisons if beliefs.model != "empirical" else said:
        chance *= np.append(chances[one.name], 1.0)[one.targets]
    if beliefs.model == "empirical" and rest:
        joint = counts if not said else agreeing_records(rest, task.targets, task.records).counts
        chance *= np.maximum(joint, 1) / max(task.records, 1)
    ratio = np.where(counts > 0, 1 / chance, 0.0)
    probability = posterior(ratio, np.multiply(counts, ratio, dtype=np.float64), task.inclusion, task.records)
    correct = None
    if task.truth is not None:
        right = _agrees_with_truth(task)
        correct = np.divide(right, counts, out=np.zeros(task.targets), where=counts > 0)
    runner_up = np.where(counts > 1, probability, 0.0)
    return Found(probability, first, counts, runner_up, correct, _per_attribute(task, chances, {}))


def _agrees_with_truth(task: Attack) -> NDArray[np.bool_]:
    """Whether each target's own record agrees with what is known of him."""
    truth = task.truth if task.truth is not None else np.full(task.targets, -1)
    there = np.flatnonzero(truth >= 0)
    right = np.zeros(task.targets, dtype=np.bool_)
    agree = np.ones(len(there), dtype=np.bool_)
    for one in task.comparisons:
        agree &= one.agree(one.targets[there], one.masked[truth[there]]) != 0
    right[there] = agree
    return right


def _with_errors(task: Attack, beliefs: Beliefs, chances: Mapping[str, NDArray[np.float64]]) -> Found:
    pairs = block(task.comparisons, task.targets, task.records)
    found = agreements(task.comparisons, pairs)
    errors = beliefs.errors if isinstance(beliefs.errors, Mapping) else None
    notes: list[str] = []
    if beliefs.errors == "estimate":
        estimated = estimate_errors(found, _mean_chances(task, chances), task.targets * task.records, task.targets)
        errors = {one.name: float(rate) for one, rate in zip(task.comparisons, estimated, strict=True)}
    ratio = ratios(task.comparisons, found, pairs, errors, chances)
    links = best_of(pairs, ratio, task.targets)
    probability = posterior(links.ratio, links.total, task.inclusion, task.records)
    runner_up = posterior(links.second, links.total, task.inclusion, task.records)
    correct = None
    if task.truth is not None:
        right = task.truth[pairs.targets] == pairs.masked
        hit = np.zeros(task.targets)
        hit[pairs.targets[right]] = ratio[right]
        same = (hit > 0) & (hit >= links.ratio * (1 - 1e-12))
        correct = np.divide(same, links.ties, out=np.zeros(task.targets), where=links.ties > 0)
    if pairs.left_out:
        notes.append(_left_out(task, pairs, found, ratio))
    table = _per_attribute(task, chances, errors or {})
    return Found(probability, links.best, links.candidates, runner_up, correct, table, pairs.left_out, tuple(notes))


def _mean_chances(task: Attack, chances: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    means = []
    for one in task.comparisons:
        known = np.bincount(one.targets, minlength=one.unknown + 1)[: one.unknown]
        means.append(float(known @ chances[one.name]) / known.sum() if known.sum() else 0.5)
    return np.asarray(np.clip(np.array(means, dtype=np.float64), 1e-12, 1 - 1e-12))


def _left_out(task: Attack, pairs: Pairs, found: NDArray[np.int8], ratio: NDArray[np.float64]) -> str:
    """What blocking did not look at, and how often a true pair would be among it."""
    rules = " or ".join(" and ".join(rule) for rule in pairs.rules)
    prior = task.inclusion / max(task.records, 1)
    odds = ratio * prior[pairs.targets]
    weight = odds / (odds + 1)
    places = {one.name: at for at, one in enumerate(task.comparisons)}
    missed = 1.0
    for rule in pairs.rules:
        agreed = np.all([found[places[name]] == 1 for name in rule], axis=0)
        missed *= 1 - float(weight[agreed].sum() / weight.sum()) if weight.sum() else 1.0
    total = task.targets * task.records
    return (
        f"{len(pairs.targets):,} of {total:,} pairs were compared: those that agree on {rules}; {pairs.left_out:,} "
        f"were left out, with about {missed:.2g} of the true pairs among them if errors are independent"
    )


def _per_attribute(task: Attack, chances: Mapping[str, NDArray[np.float64]], errors: Mapping[str, float]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "attribute": [one.name for one in task.comparisons],
            "chance": _mean_chances(task, chances),
            "error": [float(errors.get(one.name, 0.0)) for one in task.comparisons],
            "known_targets": [int((one.targets != one.unknown).sum()) for one in task.comparisons],
            "blank_cells": [int((one.masked == one.blank).sum()) for one in task.comparisons],
        },
        schema_overrides={"attribute": pl.String},
    )
