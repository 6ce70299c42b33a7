"""A sample of a large table, and its policy: counts shrink with the share of the records that is drawn.

Risks in the population stay what they are, because the sample's share of the population is carried along.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet import registry
from discreet.engine.draws.draw import KeyedDraw
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.score import Score
from discreet.selection.options import SelectOptions
from discreet.selection.steps.build import scaled_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALLEST_SAMPLE, LARGEST_SAMPLE = 20_000, 40_000
_LARGEST_SAMPLE_SHARE = 0.8
"""A sample that would hold a larger share of the table is not worth it: the whole table is searched at once."""

_SMALLEST_CLASS = 2.0
"""The smallest class that limits ask of a sample: one record is alone in any table, so such a limit would say nothing."""
_MEASURES_OF_POPULATION = ("population_uniqueness", "reidentification", "individual_risk", "known_sets")
"""Measures whose parameter ``sampling_fraction`` is the table's share of the population."""
_NUMBERS_OF_RECORDS = (
    "population_uniqueness.population_uniques", "population_uniqueness.expected_matches", "population_uniqueness.low",
    "population_uniqueness.high", "reidentification.population_uniques", "individual_risk.expected", "individual_risk.high_risk",
    "individual_risk.household_expected",
)  # fmt: skip
"""Limits on numbers of records whose risk is one in the population: a sample of them has its share of such records."""


def sampled_policy(policy: Policy, scale: float, effective_size: float | None = None) -> Policy:
    """The policy scaled to a sample of this share: class sizes shrink with it, and risks of the form 1 / class size grow.

    ``effective_size`` is the smallest effective class size that stands for that of the limits, as far as it is known.
    """
    limits = dict(policy.limits)
    if limits.get("known_sets.below_5") == 0:  # the same limit in a form that can be scaled
        del limits["known_sets.below_5"]
        limits["known_sets.effective_k_min"] = max(5.0, limits.get("known_sets.effective_k_min", 0.0))
    of_population = policy.risk.get("known_sets", {}).get("population", "none") != "none"
    for limit, required in limits.items():
        if limit in _NUMBERS_OF_RECORDS:
            limits[limit] = required * scale
        elif of_population and limit.startswith("known_sets."):
            continue  # 1/F is about the population, of which the thinned design tells
        elif limit in ("k_anonymity.k", "repeated_records.k", "repeated_records.min_persons"):
            limits[limit] = scaled_count(math.ceil(required), scale)
        elif limit in ("known_sets.mean", "known_sets.max"):
            limits[limit] = required / scale
        elif limit in ("target_linkage.max", "target_linkage.mean", "target_linkage.marketer"):
            limits[limit] = min(max(1 / _SMALLEST_CLASS, required), required / scale)
        elif limit == "known_sets.effective_k_min" and effective_size is not None:
            limits[limit] = effective_size
        elif limit in ("known_sets.effective_k_min", "known_sets.effective_k_median"):
            limits[limit] = max(min(_SMALLEST_CLASS, required), required * scale)
    risk = {name: dict(parameters) for name, parameters in policy.risk.items()}
    for name in _MEASURES_OF_POPULATION:
        if isinstance(stated := risk.get(name, {}).get("sampling_fraction"), int | float):
            risk[name]["sampling_fraction"] = stated * scale
    if any(limit.startswith("known_sets.") for limit in limits) and not of_population:
        parameters = risk.setdefault("known_sets", {})
        threshold = registry.create("risk", "known_sets", parameters, origin=policy.origin).model_dump()["threshold"]
        if isinstance(threshold, dict):
            parameters["threshold"] = {"among": max(min(threshold["among"], 2.0), threshold["among"] * scale)}
        else:
            parameters["threshold"] = threshold / scale
    return policy.with_(limits=limits, risk=risk)


def effective_size_in_sample(required: float, whole: Score, sample: Score) -> float | None:
    """The effective class size below which as large a share of a sample is as of the table below the required size.

    Effective sizes do not shrink with the share that is drawn: they are means over known sets, and a record that is alone counts
    one in the sample and in the table. None where no record has a size.
    """
    sizes, sampled = _effective_sizes(whole), _effective_sizes(sample)
    if not len(sizes) or not len(sampled):
        return None
    return float(np.clip(np.quantile(sampled, (sizes < required).mean()), 1.0, required))


def share_below(size: float, score: Score) -> float:
    """The share of all records that have an effective class size below another one."""
    records = 0 if score.per_record is None else len(score.per_record)
    return float((_effective_sizes(score) < size).sum() / records) if records else 0.0


def _effective_sizes(score: Score) -> NDArray[np.float64]:
    table = score.per_record
    if table is None or "effective_k" not in table.columns:
        return np.zeros(0)
    return table["effective_k"].drop_nulls().drop_nans().to_numpy()


def sample_share(data: Microdata, options: SelectOptions) -> float:
    """The share of the table to search first: so many records that k of the table are at least 2 of the sample, within bounds.

    If that is too many records, the smaller sample is stricter than the table; the results on the whole table decide.
    """
    k = data.policy.limits.get("k_anonymity.k", 0.0)
    enough_for_k = math.ceil(2 / k * len(data)) if k > 2 else SMALLEST_SAMPLE
    size = options.sample or min(max(SMALLEST_SAMPLE, enough_for_k), LARGEST_SAMPLE)
    share = size / len(data)
    return share if share < _LARGEST_SAMPLE_SHARE and (options.trials is None or options.trials >= 4) else 1.0


def draw_sample(data: Microdata, share: float, seed: int) -> Microdata:
    """A random sample, with new record numbers: the sample is a table of its own.

    Its records stand for the same population: the design's fraction shrinks and sampling weights grow with the share drawn.
    """
    order = KeyedDraw(seed).order(data.records, "select sample")
    rows = np.sort(order[: max(1, math.ceil(share * len(data)))])
    drawn = len(rows) / len(data)
    frame, policy = data.frame[rows], data.policy
    weights = [name for name in data.named(Role.WEIGHT) if frame[name].dtype.is_numeric()]
    if weights:
        frame = frame.with_columns((pl.col(name) / drawn).alias(name) for name in weights)
    if policy.sampling.is_stated:
        policy = policy.with_(sampling=policy.sampling.thinned(drawn))
    return Microdata(frame, policy, data.source, labels=data.labels, variable_labels=data.variable_labels)
