"""Scores that are known before an assessment begins, because a search measured the same tables with the same measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.model.contracts import RiskMeasure
from discreet.model.score import Score


@dataclass(frozen=True)
class KnownScores:
    """Scores by measure: of the original, of the release alone, and with the original values in the intruder's hands.

    ``measures`` are the risk measures that gave them: an assessment takes the score of an equal measure, and no other.
    """

    measures: Mapping[str, RiskMeasure] = field(default_factory=dict)
    before: Mapping[str, Score] = field(default_factory=dict)
    after: Mapping[str, Score] = field(default_factory=dict)
    informed: Mapping[str, Score] = field(default_factory=dict)

    def has(self, measure: RiskMeasure, *, informed: bool) -> bool:
        """Whether the scores of a measure are known, that of the informed intruder too if it is asked for."""
        name = measure.name
        known = name in self.before and name in self.after and (name in self.informed or not informed)
        return known and self.measures.get(name) == measure
