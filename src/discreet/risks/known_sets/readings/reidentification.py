r"""The probability of being identified, where an intruder's knowledge is a probability distribution over the known sets.

    R(r) = \sum_S L(S) / count(r(S)),   L(S) = \prod_{A \in S} p_A \prod_{A \notin S} (1 - p_A),

the expectation of 1 / count: the risk of Orooji & Knapp (2018a), eq. 1, with every consequence 1 and knowledge independent. It
lies between 1 / n and 1. See docs/theory/knowledge.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.known_sets.sums import known_sets
from discreet.errors import ParameterError
from discreet.model.microdata import Microdata
from discreet.model.score import Score

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.risks.known_sets.measure import KnownSets

_STEP, _NO_EPSILON = 0.1, 1e-6
"""The factor between one epsilon and the next, and the one below which every set is kept at once."""
_NOTE = (
    "knowledge is independent: likelihoods are probabilities that add up to 1 over all known sets, and risk is alpha times an "
    "expected consequence; reidentification is the expected probability of being identified, without alpha"
)


def annotate_knowledge(plugin: KnownSets, data: Microdata, original: Microdata | None, score: Score) -> Score:
    """The score with notes on how knowledge is read, and with probabilities of being identified where they are defined."""
    notes = tuple(
        f"known together as one unit: {' + '.join(unit)}, with probability {data.policy.attributes[unit[0]].known!r}"
        for unit in data.policy.known_together
    )
    if plugin.knowledge == "products":
        return _with(score, {}, {}, notes, None) if notes else score
    values, lower, upper = _probabilities(plugin, data, original, plugin.epsilon)
    fields = {"reidentification": _mean(values), "reidentification_max": float(values.max(initial=0.0))}
    epsilon, bounds = plugin.epsilon, _bounds(lower, upper)
    while plugin.has_open_limit(bounds) and epsilon > 0:  # a limit lies between the bounds: more sets decide it
        epsilon = epsilon * _STEP if epsilon > _NO_EPSILON else 0.0
        try:
            _, low, high = _probabilities(plugin, data, original, epsilon)
        except ParameterError:  # too many sets
            break
        lower = np.maximum(lower, low)
        upper = np.maximum(np.minimum(upper, high), lower)
        bounds = _bounds(lower, upper)
    columns = pl.DataFrame({"reidentification": values, "reidentification_lower": lower, "reidentification_upper": upper})
    return _with(score, fields, bounds, (_NOTE, *notes), columns)


def _bounds(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> dict[str, tuple[float, float]]:
    return {
        "reidentification": (_mean(lower), _mean(upper)),
        "reidentification_max": (float(lower.max(initial=0.0)), float(upper.max(initial=0.0))),
    }


def _probabilities(plugin: KnownSets, data: Microdata, original: Microdata | None, epsilon: float) -> NDArray[np.float64]:
    """``[3, record]``: R over the kept sets, and its bounds over all; where the policy has ranges, the largest of any corner.

    R is linear in each probability, so its largest value over a box is at a corner. (It rises in all of them on the release
    alone; with true values it falls where a record is no longer found by an attribute.)
    """
    largest = np.zeros((3, len(data)))
    for policy in data.policy.corners() if data.policy.ranges else [data.policy]:
        table = data if policy is data.policy else data.with_policy(policy)
        sums = known_sets(
            table, epsilon=epsilon, max_sets=plugin.max_sets, missing=plugin.missing, original=original,
            knowledge=plugin.knowledge, certain=True,
        )  # fmt: skip
        own = np.zeros((3, len(data)))
        own[:, sums.slots] = sums.per_record.risk, sums.per_record.lower, sums.per_record.upper
        largest = np.maximum(largest, np.clip(own, 0.0, 1.0))  # rounding may pass 1 by a last digit
    return largest


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else 0.0


def _with(
    score: Score,
    fields: dict[str, float],
    bounds: dict[str, tuple[float, float]],
    notes: tuple[str, ...],
    columns: pl.DataFrame | None,
) -> Score:
    def per_record() -> pl.DataFrame:
        rows = score.per_record
        assert rows is not None
        return rows if columns is None else rows.hstack(columns)

    return Score(
        score.measure, {**score.summary, **fields}, per_record, score.per_attribute, score.interval, (*notes, *score.notes),
        score.riskiest, score.gaps, {**score.bounds, **bounds}, score.basis,
    )  # fmt: skip
