"""The plans of a search on the terminal: three to choose from side by side, the frontier, and why others are dominated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.cli import output

if TYPE_CHECKING:
    from discreet.selection.choices import PlanChoice
    from discreet.selection.results import Selection

_MOST_DOMINATED = 5
"""Dominated plans that are explained, those with the least loss first; ``--json`` has all."""


def print_plans(selection: Selection) -> None:
    """Print the three plans, what each of them changes, the frontier and the best of the dominated plans."""
    from discreet.selection.step_sentences import format_step

    if selection.choices:
        _print_side_by_side(selection)
    rows = [
        (
            plan.name, _round(abs(plan.risk)), _round(plan.loss), plan.kept if plan.gaps_examined else "gaps not examined",
            _steps(selection.plans[plan.name].steps, format_step),
        )
        for plan in selection.frontier
    ]  # fmt: skip
    output.print_table("Frontier", ("plan", *selection.axes, "meets the limits, adds no gaps", "steps"), rows)
    losses = {plan.name: plan.loss for plan in selection.placed}
    dominated = sorted(selection.explain_dominated().items(), key=lambda item: losses[item[0]])
    if dominated:
        title = "Dominated plans that meet the limits" + (
            f" ({_MOST_DOMINATED} of {len(dominated):,}, those with the least loss; --json has all)"
            if len(dominated) > _MOST_DOMINATED
            else ""
        )
        output.print_table(title, ("plan", "why it is not on the frontier"), dominated[:_MOST_DOMINATED])


def _print_side_by_side(selection: Selection) -> None:
    from discreet.selection.changes import format_share
    from discreet.selection.step_sentences import format_step

    choices = selection.choices
    limits = list(selection.policy.limits)
    rows: list[tuple[Any, ...]] = [
        ("plan", *(choice.name for choice in choices)),
        (f"risk: {selection.axes[0]}", *(_round(abs(choice.risk)) for choice in choices)),
        (f"loss: {selection.axes[1]}", *(_round(choice.loss) for choice in choices)),
    ]
    rows += [(f"  {part}", *(_round(choice.parts[part]) for choice in choices)) for part in choices[0].parts]
    rows += [(limit, *(_measured(choice, limit) for choice in choices)) for limit in limits]
    rows.append(("most suppressed key", *(format_share(choice.blank) for choice in choices)))
    rows.append(("steps", *(_steps(choice.plan.steps, format_step) for choice in choices)))
    texts = [tuple(output.format_cell(cell) for cell in row) for row in rows]
    # the assessment of the chosen plan may have run out of time where its trial did not
    title = "Three plans that meet every limit" if selection.met else "Three plans that met every limit when they were tried"
    output.print_table(title, ("", *(choice.title for choice in choices)), texts)
    for choice in choices:
        print(f"What {choice.name} ({choice.title}) changes:")
        for sentence in choice.sentences:
            print(f"  {sentence}")
    print()


def _measured(choice: PlanChoice, limit: str) -> float | None:
    value = choice.measured.get(limit)
    return None if value is None else _round(value)


def _round(value: float) -> float:
    """Four significant digits: more would be noise."""
    return float(f"{value:.4g}")


def _steps(steps: Any, format_step: Any) -> str:
    return "; ".join(map(format_step, steps)) or "none: the table as it is"
