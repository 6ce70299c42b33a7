"""Why this plan, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.model.policy import Step
from discreet.model.results import Assessment
from discreet.selection.options import SelectOptions
from discreet.selection.search import Tried


def reasons(
    chosen: Tried, found: Sequence[Tried], assessment: Assessment, axes: tuple[str, str], before: float, options: SelectOptions
) -> list[str]:
    """What was tried, what was chosen and why, what each limit came to, and what stands in the way."""
    risk, loss = axes
    kept = [one for one in found if one.outcome.kept]
    failed = sum(one.outcome.error is not None for one in found)
    told = [
        f"{len(found):,} plans were measured on all {assessment.records_before:,} records; {len(kept):,} keep every limit"
        + (f", {failed:,} cannot run on these data" if failed else "")
        + "."
    ]
    steps = "; ".join(f"{at}. {step_text(step)}" for at, step in enumerate(chosen.plan.steps, 1)) or "nothing: no step is needed"
    told.append(f"The plan: {steps}.")
    place = f"{risk} goes from {_number(before)} to {_number(chosen.outcome.risk)}, {loss} is {_number(chosen.outcome.loss)}"
    if kept and options.cost is None:
        told.append(f"Of those that keep every limit it has the least loss: {place}.")
    elif kept:
        weighed = f"{options.cost.risk:g} x risk + {options.cost.loss:g} x loss" if options.cost else ""
        told.append(f"Of those that keep every limit it costs least by {weighed}: {place}.")
    else:
        told.append(f"No plan keeps every limit; this is the nearest: {place}.")
    told += [f"{one.sentence}." for one in assessment.verdicts]
    if not kept:
        told += _standing(chosen, found)
    else:
        told += _runner_up(chosen, kept)
    return told


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
            told.append(f"{limit} stands in the way: no plan that was tried keeps it.")
        else:
            told.append(f"{limit} stands in the way: {len(best):,} plans keep it, but none of them keeps the others as well.")
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
