"""How far a verdict holds where the data controller's guesses are wrong: every measure answers for its own limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from discreet.assessment.measures import Measures, make_measures, measures_for_limits
from discreet.assessment.verdicts import limits_of
from discreet.errors import DataError
from discreet.model.contracts import RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.sensitivity import Sensitivity


def examine_release(
    table: Microdata,
    original: Microdata | None,
    measures: Measures,
    seconds: float,
    doubts: tuple[str, ...] = (),
    *,
    one_by_one: bool = True,
) -> dict[str, Sensitivity]:
    """Every measure whose numbers rest on guesses, against the intruders by whom the policy's limits are judged.

    ``doubts`` are sentences on why it is not certain which released row comes from which record.
    """
    policy = table.policy if original is None else original.policy
    created = make_measures("risk", measures_for_limits("risk", policy) if measures is None else measures, policy)
    informed = original if policy.judge == "both" else None
    examined = sum(type(measure).examine_guesses is not RiskMeasure.examine_guesses for measure in created)
    results = {}
    for measure in created:
        used = original if measure.needs_original(table) else informed if measure.uses_original(table) else None
        answer = measure.examine_guesses(
            table, limits_of(measure.name, policy), original=used, alone=not measure.needs_original(table),
            seconds=seconds / max(examined, 1), one_by_one=one_by_one,
        )  # fmt: skip
        if answer is not None:
            results[measure.name] = replace(answer, notes=(*answer.notes, *(doubts if used is not None else ())))
    return results


def examine_measure(
    measure: RiskMeasure, table: Microdata, original: Microdata | None, limits: Mapping[str, float] | None, seconds: float, *,
    alone: bool,
) -> Sensitivity:  # fmt: skip
    """One measure, for these limits (default: those of the policy); raises where none of its numbers rests on a guess."""
    own = limits_of(measure.name, table.policy) if limits is None else dict(limits)
    if unknown := next((field for field in own if field not in measure.better), None):
        raise DataError(f"{measure.name} has no field '{unknown}' that a limit may name; it has {', '.join(measure.better)}")
    answer = measure.examine_guesses(table, own, original=original, alone=alone, seconds=seconds)
    if answer is None:
        raise DataError(f"no number of {measure.name} rests on a guess, so its verdicts hold whatever the guesses are")
    return answer
