"""Why this plan, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import polars as pl

from discreet.model.policy import Step
from discreet.model.results import Assessment
from discreet.selection.evaluate import Evaluator
from discreet.selection.options import SelectOptions
from discreet.selection.search import Tried


def reasons(
    chosen: Tried, found: Sequence[Tried], assessment: Assessment, axes: tuple[str, str], before: float, options: SelectOptions
) -> list[str]:
    """What was tried, what was chosen and why, what each limit came to, and what stands in the way."""
    risk, loss = axes
    kept = [one for one in found if one.outcome.kept]
    failed = Counter(one.outcome.error for one in found if one.outcome.error is not None)
    told = [
        f"{len(found):,} plans were measured on all {assessment.records_before:,} records; {len(kept):,} meet every limit"
        + (f", {failed.total():,} cannot run on these data" if failed else "")
        + "."
    ]
    if failed and not kept:
        told.append(f"Most often one cannot run because {failed.most_common(1)[0][0]}.")
    steps = "; ".join(f"{at}. {step_text(step)}" for at, step in enumerate(chosen.plan.steps, 1)) or "nothing: no step is needed"
    told.append(f"The plan: {steps}.")
    place = f"{risk} goes from {_number(before)} to {_number(chosen.outcome.risk)}, {loss} is {_number(chosen.outcome.loss)}"
    if kept and options.cost is None:
        told.append(f"Of those that meet every limit it has the least loss: {place}.")
    elif kept:
        weighed = f"{options.cost.risk:g} x risk + {options.cost.loss:g} x loss" if options.cost else ""
        told.append(f"Of those that meet every limit it costs least by {weighed}: {place}.")
    else:
        told.append(f"No plan meets every limit; this is the nearest: {place}.")
    told += [f"{one.sentence}." for one in assessment.verdicts]
    if not kept:
        told += _standing(chosen, found)
    else:
        told += _runner_up(chosen, kept)
    return told


def out_of_reach(evaluate: Evaluator, standing: Collection[str]) -> list[str]:
    """Whether a missed limit on high-risk records cannot be kept by masking what is known, however much: told with numbers."""
    if "known_sets.high_risk" not in standing and "known_sets.high_risk_share" not in standing:
        return []
    data, measure = evaluate.data, evaluate.risks["known_sets"]
    alike = {
        name: pl.repeat(None, len(data), dtype=data.frame.schema[name], eager=True)
        for name in data.columns
        if data.attribute(name).known > 0 and not data.attribute(name).sensitivity
    }
    # what is sensitive itself is taken for known to nobody, so that this is the least risk of all
    attributes = {
        name: one.model_copy(update={"known": 0.0}) if one.sensitivity else one for name, one in data.policy.attributes.items()
    }
    least = measure.measure(data.with_columns(alike).with_policy(data.policy.with_(attributes=attributes))).summary
    if not least["high_risk"]:
        return []
    told = (
        f"The threshold is out of reach for {least['high_risk']:,} of {len(data):,} records: even if all were alike in whatever"
    )
    told += f" can be known, the largest risk would be {least['max']:.4g}."
    return [f"{told} A larger threshold, or blanks where something would be learnt, can help."]


def step_text(step: Step) -> str:
    """A step as a person would say it."""
    said = ", ".join(
        f"{name} {'yes' if value is True else 'no' if value is False else value}" for name, value in step.parameters.items()
    )
    return step.method + (f" of {', '.join(step.columns)}" if step.columns else "") + (f" ({said})" if said else "")


def _standing(chosen: Tried, found: Sequence[Tried]) -> list[str]:
    """Which limits no plan kept at all, and which are kept only apart."""
    limits = chosen.outcome.missed
    told = []
    for limit in limits:
        best = [one.outcome.found.get(limit) for one in found if one.outcome.error is None and limit not in one.outcome.missed]
        if not best:
            told.append(f"{limit} stands in the way: no plan that was tried meets it.")
        else:
            told.append(f"{limit} stands in the way: {len(best):,} plans meet it, but none of them meets the others as well.")
    return told


def _runner_up(chosen: Tried, kept: Sequence[Tried]) -> list[str]:
    others = [one for one in kept if one.plan != chosen.plan]
    if not others:
        return []
    other = min(others, key=lambda one: (one.outcome.loss, one.outcome.risk))
    steps = "; ".join(step_text(step) for step in other.plan.steps)
    return [f"The next best: {steps}, with a loss of {_number(other.outcome.loss)} and a risk of {_number(other.outcome.risk)}."]


def _number(value: float) -> str:
    """Four digits, and no power of ten before it is needed; a risk that is better high is kept negative, and told as it is."""
    size = abs(value)
    return f"{size:,.0f}" if 1000 <= size < 1e15 else f"{size:.4g}"
