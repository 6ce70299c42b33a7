"""One limit judged against the worse of two intruders: one who has the release alone, and one who knows the original values.

The same function judges a release in ``assess`` and a candidate plan in ``select``, so that the wizard never prefers a plan that
the assessment would then reject. A limit is met only where every number that it must be judged on was measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from discreet import registry
from discreet.model.contracts import Direction
from discreet.model.display import format_number
from discreet.model.policy import Policy
from discreet.model.results import KNOWS_ORIGINALS, RELEASE_ALONE, Status, Verdict
from discreet.model.score import Score

UNDECIDED = "is not decided"
"""What the sentence of a verdict says of a number whose bounds lie on both sides of its limit."""


@dataclass(frozen=True)
class Evidence:
    """The scores that limits are judged on.

    ``release`` are the risks of the release alone, ``informed`` those with the original values in the intruder's hands, of the
    measures that have both. ``bound`` names measures that cannot be taken without the original values: their score stands in
    ``release``, and is the informed intruder's all the same. ``missing`` gives, by measure, why the informed number is not there.
    """

    release: Mapping[str, Score] = field(default_factory=dict)
    informed: Mapping[str, Score] = field(default_factory=dict)
    losses: Mapping[str, Score] = field(default_factory=dict)
    bound: frozenset[str] = frozenset()
    missing: Mapping[str, str] = field(default_factory=dict)
    judge: Literal["both", "release"] = "both"
    certified: bool = True
    """Whether a number that has bounds is judged on the worse of them; a search looks at the numbers alone to begin with."""


@dataclass(frozen=True)
class _Measured:
    """A number as measured, and the best and the worst that it may be for certain."""

    number: float
    best: float
    worst: float


def limits_of(measure: str, policy: Policy) -> dict[str, float]:
    """The limits of a policy on the fields of one measure."""
    return {limit.split(".")[1]: required for limit, required in policy.limits.items() if limit.split(".")[0] == measure}


def judge_limit(limit: str, required: float, evidence: Evidence) -> Verdict:
    """One limit against what was measured; the sentence says by how much it is met or missed, and for which intruder.

    >>> scores = {"k_anonymity": Score("k_anonymity", {"k": 4})}
    >>> judge_limit("k_anonymity.k", 3, Evidence(release=scores)).sentence
    'k_anonymity.k is 4; at least 3 is required (1 to spare)'
    """
    kind, measure, name, better = registry.resolve_limit(limit)
    if kind == "loss":
        loss = number_of(evidence.losses, measure, name)
        status: Status = "incomplete" if loss is None else "met" if meets(loss, required, better) else "not met"
        why = f": {evidence.missing[measure]}" if loss is None and measure in evidence.missing else ""
        return Verdict(limit, required, loss, status, _sentence(limit, required, better, loss, status, "") + why)
    alone = _measured(evidence, evidence.release, measure, name, better)
    informed = _measured(evidence, evidence.informed, measure, name, better)
    if measure in evidence.bound:
        alone, informed = None, alone
    judged_informed = evidence.judge == "both" or measure in evidence.bound
    numbers = {RELEASE_ALONE: alone} if measure not in evidence.bound else {}
    if judged_informed and (measure in evidence.bound or measure in evidence.informed or measure in evidence.missing):
        numbers[KNOWS_ORIGINALS] = informed
    measured = {who: number for who, number in numbers.items() if number is not None}
    both = alone.number if alone else None, informed.number if informed else None
    if not measured:
        why = f": {evidence.missing[measure]}" if measure in evidence.missing else ""
        who = next(iter(numbers), None)
        return Verdict(limit, required, None, "incomplete", f"{limit} could not be measured{why}", who, *both)
    worst = worse_of({who: measurement.worst for who, measurement in measured.items()}, better)
    surely = worse_of({who: measurement.best for who, measurement in measured.items()}, better)
    if not meets(measured[surely].best, required, better):
        status, worst = "not met", surely
        number = measured[surely].number  # between its bounds, so that it misses the limit where the best of them does
    else:
        number = measured[worst].worst
        settled = meets(number, required, better)
        status = "met" if settled and len(measured) == len(numbers) else "incomplete"
    aside = ""
    if worst == KNOWS_ORIGINALS and alone is not None:
        aside = f" for an intruder who knows the original values ({format_number(alone.number)} on the release alone)"
    sentence = _sentence(limit, required, better, number, status, aside)
    if status == "not met":
        sentence += _undecided_records(_scores_of(evidence, worst, measure), "; ")
    elif not meets(number, required, better):
        sentence = _undecided_sentence(limit, required, better, measured[worst], aside, _scores_of(evidence, worst, measure))
    elif status == "incomplete":
        missing = next(who for who in numbers if who not in measured)
        whose = "on the release alone" if missing == RELEASE_ALONE else "for an intruder who knows the original values"
        why = f": {evidence.missing[measure]}" if measure in evidence.missing else ""
        sentence = f"{sentence}, but {whose} it could not be measured{why}"
    return Verdict(limit, required, number, status, sentence, worst, *both)


def _measured(evidence: Evidence, scores: Mapping[str, Score], measure: str, name: str, better: Direction) -> _Measured | None:
    """A field with its bounds; where it has none, or they are not asked for, it is taken as it is.

    A number over the kept sets alone can lie outside what is certain over all of them; the nearer bound is then shown.
    """
    number = number_of(scores, measure, name)
    if number is None:
        return None
    low, high = scores[measure].bounds.get(name, (number, number)) if evidence.certified else (number, number)
    return _Measured(min(max(number, low), high), *((low, high) if better == "low" else (high, low)))


def _scores_of(evidence: Evidence, who: str, measure: str) -> Score:
    return evidence.informed[measure] if who == KNOWS_ORIGINALS and measure in evidence.informed else evidence.release[measure]


def _undecided_sentence(limit: str, required: float, better: Direction, measurement: _Measured, aside: str, score: Score) -> str:
    """What is certain of a number whose bounds lie on both sides of its limit, and how many records are left in doubt."""
    low, high = sorted((measurement.best, measurement.worst))
    remain = _undecided_records(score, " (", ")")
    word = "at most" if better == "low" else "at least"
    over = " over all known sets" if limit.startswith("known_sets.") else ""
    return (
        f"{limit} {UNDECIDED}{remain}: it is between {format_number(low)} and {format_number(high)}{aside}{over}; "
        f"{word} {format_number(required)} is required"
    )


def _undecided_records(score: Score, before: str, after: str = "") -> str:
    """How many records may be high-risk or not, between two pieces of a sentence; empty where none."""
    undecided = score.summary.get("undecided")
    if not isinstance(undecided, int) or not undecided:
        return ""
    return f"{before}{undecided:,} {'record is' if undecided == 1 else 'records are'} undecided{after}"


def worse_of(measured: Mapping[str, float], better: Direction) -> str:
    """The intruder with the worse number; of equal numbers the first."""
    return max(measured, key=measured.__getitem__) if better == "low" else min(measured, key=measured.__getitem__)


def meets(number: float, required: float, better: Direction) -> bool:
    """Whether a number is on the safe side of a limit, or on it."""
    return number <= required if better == "low" else number >= required


def number_of(scores: Mapping[str, Score], measure: str, name: str) -> float | None:
    """A field of a score as a number; None where it was not measured."""
    value = scores[measure].summary.get(name) if measure in scores else None
    if value is None or isinstance(value, Mapping):
        return None
    return None if math.isnan(value) else float(value)


def _sentence(limit: str, required: float, better: Direction, number: float | None, status: Status, aside: str) -> str:
    if number is None:
        return f"{limit} could not be measured"
    word = "at most" if better == "low" else "at least"
    by = format_number(abs(number - required))
    margin = f" (off by {by})" if status == "not met" else f" ({by} to spare)" if number != required else ""
    return f"{limit} is {format_number(number)}{aside}; {word} {format_number(required)} is required{margin}"
