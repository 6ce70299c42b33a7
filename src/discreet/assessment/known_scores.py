"""Scores that are known before an assessment begins, because a search measured the same tables with the same measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.model.contracts import LossMeasure, RiskMeasure
from discreet.model.score import Score


@dataclass(frozen=True)
class KnownScores:
    """Scores by measure: of the original, of the release alone, with the original values in the intruder's hands, and losses.

    ``measures`` and ``loss_measures`` gave them: an assessment takes the score of an equal measure, and no other.
    """

    measures: Mapping[str, RiskMeasure] = field(default_factory=dict)
    before: Mapping[str, Score] = field(default_factory=dict)
    after: Mapping[str, Score] = field(default_factory=dict)
    informed: Mapping[str, Score] = field(default_factory=dict)
    loss_measures: Mapping[str, LossMeasure] = field(default_factory=dict)
    losses: Mapping[str, Score] = field(default_factory=dict)

    def has(self, measure: RiskMeasure, *, informed: bool) -> bool:
        """Whether the scores of a measure are known, that of the informed intruder too if it is asked for."""
        name = measure.name
        known = name in self.before and name in self.after and (name in self.informed or not informed)
        return known and self.measures.get(name) == measure

    def loss(self, measure: LossMeasure) -> Score | None:
        """The score of a loss measure; None if it is not known."""
        return self.losses.get(measure.name) if self.loss_measures.get(measure.name) == measure else None
