"""The assessment of a release under its policy: which measures are taken, on what tables, with what evidence missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet import registry
from discreet.assessment.assess import assess
from discreet.assessment.designs import with_designs
from discreet.assessment.known_scores import KnownScores
from discreet.assessment.measurements import Covering, explain_missing
from discreet.assessment.measures import default_measures, make_measures, measures_for_limits
from discreet.assessment.row_links import check_listed, link_to_original
from discreet.engine.runtime import dispatch
from discreet.engine.runtime.progress import stop_after
from discreet.model.contracts import LossMeasure
from discreet.model.microdata import Microdata
from discreet.model.results import Assessment, Release
from discreet.model.score import Score

_COVERAGE = "coverage"
"""The risk measure that every assessment takes, whether the policy names it or not."""


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # numbers near the end of their range become infinite or null
def assess_release(
    original: Microdata,
    masked: Microdata | Release,
    deadline: float | None = None,
    *,
    patient: bool = False,
    last: float | None = None,
    known: KnownScores | None = None,
) -> Assessment:
    """Risks before and after, losses, and the verdict against the policy's limits; see :func:`discreet.verbs.assess`.

    ``known`` are scores of this release and its original that need not be measured again.
    """
    table, doubts = link_to_original(masked, original)
    plan = masked.plan if isinstance(masked, Release) else original.policy.plan
    designed, table_with_design = with_designs(original, table, plan)
    if designed is not original or table_with_design is not table:  # they stand for another share of the population
        known = None
    original, table = designed, table_with_design
    policy = original.policy
    warnings = check_listed(original)  # weights that match nothing: the risk may be too low, so they leave a gap as well
    names = [name for name in measures_for_limits("risk", policy) if name != _COVERAGE] or default_measures("risk", policy)
    risks = registry.bind_to_engine("risk", make_measures("risk", names, policy), original, table)
    loss_measures = make_measures("loss", measures_for_limits("loss", policy), policy)
    bound = registry.bind_to_engine("loss", loss_measures, original, table)
    losses, unmeasured = _measure_losses(bound, original, table, last, known or KnownScores())
    coverage = registry.create("risk", _COVERAGE, policy.risk.get(_COVERAGE), origin=policy.origin)
    covering = Covering(coverage, _as_written(masked, table))
    assessment = assess(
        original, table, risks, losses, deadline, doubts, covering, patient=patient, last=last, unmeasured=unmeasured,
        known=known,
    )  # fmt: skip
    if plan.seed is not None:
        from discreet.keys.choose import SEED_GAP

        warnings = [*warnings, SEED_GAP]
    if not warnings:
        return assessment
    return replace(assessment, warnings=(*assessment.warnings, *warnings), gaps=(*assessment.gaps, *warnings))


def _measure_losses(
    measures: Sequence[LossMeasure], original: Microdata, table: Microdata, last: float | None, known: KnownScores
) -> tuple[dict[str, Score], dict[str, str]]:
    """The losses by name, and why others could not be measured."""
    losses: dict[str, Score] = {}
    unmeasured: dict[str, str] = {}
    for measure in measures:
        with explain_missing(measure.name, unmeasured), stop_after(last):
            losses[measure.name] = known.loss(measure) or measure.measure(original, table)
    return losses, unmeasured


def _as_written(masked: Microdata | Release, table: Microdata) -> Microdata:
    """The columns of a release as they would be written, under the plan that made it."""
    if not isinstance(masked, Release) or dispatch.is_distributed(table):
        return table
    from discreet.masking.release import withheld_columns

    return table.drop(withheld_columns(masked)).with_policy(table.policy.with_(plan=masked.plan))
