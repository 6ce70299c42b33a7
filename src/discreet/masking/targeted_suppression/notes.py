"""Sentences on the outcome of a targeted suppression, for the step's log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.model.display import format_number
from discreet.model.microdata import Microdata
from discreet.model.notes import Note
from discreet.model.threshold import Among

if TYPE_CHECKING:
    from discreet.engine.targeting.rule import TargetingOutcome
    from discreet.masking.targeted_suppression.method import TargetedSuppression

_MAX_LISTED = 10


def describe_outcome(step: TargetedSuppression, before: Microdata, outcome: TargetingOutcome) -> list[str]:
    """What was suppressed in how many passes, and which records are still above the threshold."""
    first = outcome.passes[0][0] if outcome.passes else 0
    passes = (
        f"one pass, over {first:,} records"
        if len(outcome.passes) == 1
        else f"{len(outcome.passes)} passes, the first over {first:,} records"
    )
    notes = [f"{outcome.values_changed:,} values suppressed in {passes}"]
    if outcome.cost_bound is not None:
        cost, bound = format_number(outcome.cost), format_number(outcome.cost_bound)
        notes.append(f"this cost {cost}, and no choice of values could cost less than {bound}")
    if len(outcome.cascaded):
        public = f"{len(outcome.cascaded):,} records became high-risk because values of other records were suppressed"
        notes.append(Note(f"{public}: {_list_records(before, outcome, outcome.cascaded)}", public))
    if len(outcome.remaining):
        public, detail = _describe_remaining(step, outcome)
        notes.append(Note(f"{public}{detail}: {_list_records(before, outcome, outcome.remaining)}", public))
    if outcome.unreachable:
        requirement = (
            f"at least {outcome.nulls_needed:,} records with nulls to agree with"
            if outcome.nulls_needed
            else f"more records with nulls than the {outcome.cluster_records or len(before):,} records of the table"
        )
        notes.append(
            f"no suppression can bring {outcome.unreachable:,} of them below the threshold while a null is a value of its "
            f"own: the nearest would need {requirement}; use missing: wildcard, side: sensitive or a higher threshold"
        )
    return notes


def _describe_remaining(step: TargetedSuppression, outcome: TargetingOutcome) -> tuple[str, str]:
    """The number of records that remain high-risk, which is public, and their risks, which are not."""
    count = len(outcome.remaining)
    if step.risk == "special_uniques":
        scores = f", with scores of {outcome.remaining_risk.min():.6g} to {outcome.remaining_risk.max():.6g}"
        return f"{count:,} records stay above the score {step.threshold:g}", scores
    if isinstance(step.threshold, Among):
        detail = " with everything suppressed that could help" if step.missing == "wildcard" else ""
        return f"{count:,} records still have an effective class size below {step.threshold.among:g}", detail
    lowest, highest = outcome.remaining_risk.min() * step.alpha, outcome.remaining_risk.max() * step.alpha
    if step.missing == "wildcard":
        detail = f"; with everything suppressed that could help, their risk is {lowest:.4g} to {highest:.4g}"
        return f"{count:,} records cannot be brought below {step.threshold:g}", detail
    return f"{count:,} records stay above {step.threshold:g}", f", with risks of {lowest:.4g} to {highest:.4g}"


def _list_records(data: Microdata, outcome: TargetingOutcome, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> str:
    """The first few of these records by their row numbers in the source, counted from 1."""
    numbers = np.sort(rows if outcome.cluster_records else data.records[rows]) + 1
    more = f" and {len(numbers) - _MAX_LISTED:,} more" if len(numbers) > _MAX_LISTED else ""
    return "source records " + ", ".join(str(number) for number in numbers[:_MAX_LISTED]) + more
