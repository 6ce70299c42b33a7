"""The summary of target linkage (Truta et al., eq. 4.10) from sums over the targets, on any engine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LinkageStatistics:
    """Sufficient statistics over the targets on the intruder's list.

    ``claimed`` is the sum of the probabilities that the intruder computes, ``correct`` the sum of the true ones (None where the
    truth is unknown), ``inclusion`` the mean probability that a target is in the file, ``candidates`` the number of candidate
    records summed over targets, ``left_out`` the pairs that blocking did not compare.
    """

    targets: int
    records: int
    claimed: float
    correct: float | None
    largest: float
    over_threshold: int
    inclusion: float
    linked_targets: int
    candidates: int
    left_out: int = 0


def summarize(statistics: LinkageStatistics) -> dict[str, int | float]:
    """The fields of the summary; ``gain`` is (marketer - guessing) / (1 - guessing)."""
    targets = statistics.targets
    expected = statistics.claimed if statistics.correct is None else statistics.correct
    guessing = statistics.inclusion / statistics.records if statistics.records else 0.0
    marketer = _share(expected, targets)
    return {
        "targets": targets,
        "expected_links": expected,
        "mean": _share(statistics.claimed, targets),
        "max": statistics.largest,
        "over_threshold": _share(statistics.over_threshold, targets),
        "marketer": marketer,
        "claimed_links": statistics.claimed,
        "guessing": guessing,
        "gain": (marketer - guessing) / (1 - guessing) if guessing < 1 else 0.0,
        "linked_targets": statistics.linked_targets,
        "mean_candidates": _share(statistics.candidates, targets),
        "pairs_left_out": statistics.left_out,
    }


def _share(total: float, number: int) -> float:
    return total / number if number else 0.0
