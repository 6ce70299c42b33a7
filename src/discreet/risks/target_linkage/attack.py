"""Linking targets to a masked file: likelihood ratios and link probabilities per target (Truta et al., eq. 4.10 and 4.11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from discreet.engine.linkage.comparisons import Comparison
from discreet.errors import DataError
from discreet.model.attribute import Attribute
from discreet.risks.target_linkage.agreement import count_agreeing_records
from discreet.risks.target_linkage.blocking import Pairs, choose_pairs
from discreet.risks.target_linkage.fellegi_sunter import best_links, compare_pairs, estimate_errors, likelihood_ratios

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Attack:
    """The linkage task: comparisons, sizes of both tables, inclusion probabilities, and the true masked rows where known."""

    comparisons: Sequence[Comparison]
    targets: int
    records: int
    inclusion: NDArray[np.float64]
    truth: NDArray[np.int64] | None


@dataclass(frozen=True)
class AttackerModel:
    """How the intruder weighs agreement: the model of P(ext), domains, densities and error rates."""

    model: Literal["uniform", "independent", "empirical"]
    domain: Mapping[str, float]
    density: Mapping[str, Mapping[str, float]]
    errors: Literal["estimate"] | Mapping[str, float] | None


@dataclass(frozen=True)
class LinkageResult:
    """The intruder's result, one entry per target; ``correct``: probability that the link is right, where the truth is known."""

    probability: NDArray[np.float64]
    best: NDArray[np.int64]
    candidates: NDArray[np.int64]
    runner_up: NDArray[np.float64]
    correct: NDArray[np.float64] | None
    per_attribute: pl.DataFrame
    left_out: int = 0
    notes: tuple[str, ...] = ()


def link_targets(task: Attack, beliefs: AttackerModel) -> LinkageResult:
    """Link every target: by counts where agreement is exact, by comparing pairs where errors or similarity are allowed."""
    chances = {comparison.name: value_chances(comparison, beliefs) for comparison in task.comparisons}
    if beliefs.errors is None and not any(comparison.fuzzy for comparison in task.comparisons):
        return _link_without_errors(task, beliefs, chances)
    return _link_with_errors(task, beliefs, chances)


def posterior(
    ratio: NDArray[np.float64], total: NDArray[np.float64], inclusion: NDArray[np.float64], records: int
) -> NDArray[np.float64]:
    """The link probability from a record's ratio and the sum of all ratios (Truta et al., eq. 4.10); 0 where the ratio is 0.

    >>> posterior(np.array([50_000.0]), np.array([50_000.0]), np.array([1e-4]), 20_000).round(8)
    array([0.00024996])
    """
    prior = inclusion / max(records, 1)
    denominator = prior * total + (1 - inclusion)
    return np.divide(prior * ratio, denominator, out=np.zeros(len(ratio)), where=(denominator > 0) & (ratio > 0))


def posterior_of_equals(
    ratio: NDArray[np.float64], counts: NDArray[np.int64], inclusion: NDArray[np.float64], records: int
) -> NDArray[np.float64]:
    """The same where all agreeing records have the same ratio: 1 / count for a target that is surely in the table, else less.

    Computed as it stands, 1 / 5 could come out larger than 0.2 and miss that limit; so could a little less than 1 / 5.

    >>> posterior_of_equals(np.array([7 / 3, 50_000.0]), np.array([5, 1]), np.array([1.0, 1e-4]), 20_000).round(8).tolist()
    [0.2, 0.00024996]
    """
    probability = posterior(ratio, np.multiply(counts, ratio, dtype=np.float64), inclusion, records)
    in_sum = (counts > 0) & (ratio > 0)
    most = np.divide(1.0, counts, out=np.zeros(len(counts)), where=in_sum)
    return np.where(inclusion == 1, most, np.minimum(probability, most))


def value_chances(comparison: Comparison, beliefs: AttackerModel) -> NDArray[np.float64]:
    """For each target value the probability that another person's record agrees with it.

    A value that occurs in none of the n known cells of the file gets 1 / (n + 1).
    """
    if comparison.name in beliefs.density:
        return _density(comparison, beliefs.density[comparison.name])
    if comparison.name in beliefs.domain:
        return np.full(comparison.unknown, min(1.0, 1 / beliefs.domain[comparison.name]))
    counts = comparison.counts()[: comparison.blank]
    if beliefs.model == "uniform":
        return np.full(comparison.unknown, 1 / max(1, int((counts > 0).sum())))
    known = int(counts.sum())
    if not known:
        return np.ones(comparison.unknown)
    equal = np.maximum(comparison.agreeing() / known, 1 / (known + 1))
    return np.minimum(1.0, equal + comparison.chance_similarity())


def _density(comparison: Comparison, listed: Mapping[str, float]) -> NDArray[np.float64]:
    attribute = Attribute(values=dict(listed), default=0.0)
    target_codes = np.unique(comparison.targets[comparison.targets < comparison.unknown])
    chances = np.ones(comparison.unknown)
    for code in target_codes:
        chances[code] = attribute.value_weight(comparison.values[int(code)])
        if chances[code] <= 0:
            raise DataError(
                f"the density of '{comparison.name}' gives no probability to {comparison.values[int(code)]}, which a target has; "
                "list it, or an interval that contains it"
            )
    return chances


def _link_without_errors(task: Attack, beliefs: AttackerModel, chances: Mapping[str, NDArray[np.float64]]) -> LinkageResult:
    counts, first = count_agreeing_records(task.comparisons, task.targets, task.records)
    specified = [
        comparison for comparison in task.comparisons if comparison.name in beliefs.density or comparison.name in beliefs.domain
    ]
    rest = [
        comparison
        for comparison in task.comparisons
        if comparison.name not in beliefs.density and comparison.name not in beliefs.domain
    ]
    chance = np.ones(task.targets)
    for comparison in task.comparisons if beliefs.model != "empirical" else specified:
        chance *= np.append(chances[comparison.name], 1.0)[comparison.targets]
    if beliefs.model == "empirical" and rest:
        joint = counts if not specified else count_agreeing_records(rest, task.targets, task.records).counts
        chance *= np.maximum(joint, 1) / max(task.records, 1)
    ratio = np.where(counts > 0, 1 / chance, 0.0)
    probability = posterior_of_equals(ratio, counts, task.inclusion, task.records)
    correct = None
    if task.truth is not None:
        right = _agrees_with_truth(task)
        correct = np.divide(right, counts, out=np.zeros(task.targets), where=counts > 0)
    runner_up = np.where(counts > 1, probability, 0.0)
    return LinkageResult(probability, first, counts, runner_up, correct, _per_attribute(task, chances, {}))


def _agrees_with_truth(task: Attack) -> NDArray[np.bool_]:
    """Whether each target's own record agrees with the known attributes of the target."""
    truth = task.truth if task.truth is not None else np.full(task.targets, -1)
    with_truth = np.flatnonzero(truth >= 0)
    right = np.zeros(task.targets, dtype=np.bool_)
    agree = np.ones(len(with_truth), dtype=np.bool_)
    for comparison in task.comparisons:
        agree &= comparison.compare_codes(comparison.targets[with_truth], comparison.masked[truth[with_truth]]) != 0
    right[with_truth] = agree
    return right


def _link_with_errors(task: Attack, beliefs: AttackerModel, chances: Mapping[str, NDArray[np.float64]]) -> LinkageResult:
    pairs = choose_pairs(task.comparisons, task.targets, task.records)
    outcomes = compare_pairs(task.comparisons, pairs)
    errors = beliefs.errors if isinstance(beliefs.errors, Mapping) else None
    notes: list[str] = []
    if beliefs.errors == "estimate":
        estimated = estimate_errors(outcomes, _mean_chances(task, chances), task.targets * task.records, task.targets)
        errors = {comparison.name: float(rate) for comparison, rate in zip(task.comparisons, estimated, strict=True)}
    ratio = likelihood_ratios(task.comparisons, outcomes, pairs, errors, chances)
    links = best_links(pairs, ratio, task.targets)
    probability = posterior(links.ratio, links.total, task.inclusion, task.records)
    runner_up = posterior(links.second, links.total, task.inclusion, task.records)
    correct = None
    if task.truth is not None:
        right = task.truth[pairs.targets] == pairs.masked
        true_ratio = np.zeros(task.targets)
        true_ratio[pairs.targets[right]] = ratio[right]
        is_best = (true_ratio > 0) & (true_ratio >= links.ratio * (1 - 1e-12))
        correct = np.divide(is_best, links.ties, out=np.zeros(task.targets), where=links.ties > 0)
    if pairs.left_out:
        notes.append(_note_on_blocking(task, pairs, outcomes, ratio))
    table = _per_attribute(task, chances, errors or {})
    return LinkageResult(probability, links.best, links.candidates, runner_up, correct, table, pairs.left_out, tuple(notes))


def _mean_chances(task: Attack, chances: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    means = []
    for comparison in task.comparisons:
        known = np.bincount(comparison.targets, minlength=comparison.unknown + 1)[: comparison.unknown]
        means.append(float(known @ chances[comparison.name]) / known.sum() if known.sum() else 0.5)
    return np.asarray(np.clip(np.array(means, dtype=np.float64), 1e-12, 1 - 1e-12))


def _note_on_blocking(task: Attack, pairs: Pairs, outcomes: NDArray[np.int8], ratio: NDArray[np.float64]) -> str:
    """A note on the pairs that blocking left out, with the estimated share of true pairs among them."""
    rules = " or ".join(" and ".join(rule) for rule in pairs.rules)
    prior = task.inclusion / max(task.records, 1)
    odds = ratio * prior[pairs.targets]
    weight = odds / (odds + 1)
    row_of_attribute = {comparison.name: row for row, comparison in enumerate(task.comparisons)}
    missed = 1.0
    for rule in pairs.rules:
        agreed = np.all([outcomes[row_of_attribute[name]] == 1 for name in rule], axis=0)
        missed *= 1 - float(weight[agreed].sum() / weight.sum()) if weight.sum() else 1.0
    total = task.targets * task.records
    return (
        f"{len(pairs.targets):,} of {total:,} pairs were compared: those that agree on {rules}; {pairs.left_out:,} "
        f"were left out, with about {missed:.2g} of the true pairs among them if errors are independent"
    )


def _per_attribute(task: Attack, chances: Mapping[str, NDArray[np.float64]], errors: Mapping[str, float]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "attribute": [comparison.name for comparison in task.comparisons],
            "chance": _mean_chances(task, chances),
            "error": [float(errors.get(comparison.name, 0.0)) for comparison in task.comparisons],
            "known_targets": [int((comparison.targets != comparison.unknown).sum()) for comparison in task.comparisons],
            "blank_cells": [int((comparison.masked == comparison.blank).sum()) for comparison in task.comparisons],
        },
        schema_overrides={"attribute": pl.String},
    )
