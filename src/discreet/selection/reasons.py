"""Sentences that explain the choice of a plan.

Reports recognise "The plan:", "Given up:", "a risk of" and "largest" (discreet.report.public_report): keep these phrases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence

from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Step
from discreet.model.results import Assessment
from discreet.selection.changes import NOTHING_CHANGED, describe_changes, format_share
from discreet.selection.objective import OBJECTIVE
from discreet.selection.options import SelectOptions
from discreet.selection.outcome import LARGEST_CHANGE_OF_EFFECT, MOST_BLANK, TriedPlan
from discreet.selection.space.dimensions import Space
from discreet.selection.step_sentences import format_step
from discreet.selection.steps.classes import smallest_class

GIVEN_UP = "Given up:"
"""The start of sentences with numbers of single attributes, which a public report leaves out."""
_MOST_EFFECTS = 12
"""Sentences on single regression effects."""


def explain_choice(
    chosen: TriedPlan,
    tried: Sequence[TriedPlan],
    assessment: Assessment,
    axes: tuple[str, str],
    before: float,
    options: SelectOptions,
) -> list[str]:
    """What was tried, which plan was chosen and why, how each limit was judged, and which limits are not met.

    ``axes`` are the risk and the loss of the map, ``before`` the risk of the original table.
    """
    risk, loss = axes
    meeting = [plan for plan in tried if plan.outcome.meets_limits]
    errors = Counter(plan.outcome.error for plan in tried if plan.outcome.error is not None)
    sentences = [
        f"{len(tried):,} plans were measured on all {assessment.records_before:,} records; {len(meeting):,} "
        f"{'meets' if len(meeting) == 1 else 'meet'} every limit"
        + (f", {errors.total():,} cannot run on these data" if errors else "")
        + "."
    ]
    incomplete = sum(bool(plan.outcome.gaps) for plan in meeting)
    if incomplete:
        sentences.append(
            f"{incomplete:,} of them {'leaves' if incomplete == 1 else 'leave'} gaps in the evidence, such as masked values that "
            f"other columns or rows give back: {'it is' if incomplete == 1 else 'they are'} not counted as plans to release."
        )
    unexamined = sum(plan.outcome.gaps is None for plan in meeting)
    if unexamined:
        sentences.append(
            f"In {unexamined:,} of them nobody looked for gaps in the evidence, because a plan that is at least as good was "
            "known or there was no time."
        )
    if errors and not meeting:
        sentences.append(f"The most frequent reason why a plan cannot run: {errors.most_common(1)[0][0]}.")
    numbered = [f"{number}. {format_step(step)}" for number, step in enumerate(chosen.plan.steps, 1)]
    sentences.append(f"The plan: {'; '.join(numbered) or 'nothing: no step is needed'}.")
    numbers = (
        f"{risk} changes from {_format_number(before)} to {_format_number(chosen.outcome.risk)}, "
        f"{loss} is {_format_number(chosen.outcome.loss)}"
    )
    if options.loss == OBJECTIVE:
        parts = ", ".join(f"{part} {_format_number(value)}" for part, value in chosen.outcome.parts.items())
        numbers += f" ({options.objective.formula()}: {parts})"
    if meeting and options.prefer == "most truthful":
        sentences.append(f"Of the plans that meet every limit it is the most truthful: {numbers}.")
    elif meeting and options.prefer == "safest":
        sentences.append(f"Of the plans that meet every limit it is the safest: {numbers}.")
    elif meeting and options.cost is None:
        sentences.append(
            f"Of the plans that meet every limit{_describe_rivals(chosen, meeting)} it has the least loss: {numbers}."
        )
    elif meeting:
        cost = f"{options.cost.risk:g} x risk + {options.cost.loss:g} x loss" if options.cost else ""
        sentences.append(f"Of the plans that meet every limit it has the least cost, {cost}: {numbers}.")
    elif chosen.outcome.error is not None:
        sentences.append("No plan could be tried to the end, so this one was not compared with others; its release was assessed.")
    else:
        sentences.append(f"No plan meets every limit; this is the closest: {numbers}.")
    if chosen.outcome.error is None:
        changes = describe_changes(chosen.outcome.changes)
        sentences += changes if changes == [NOTHING_CHANGED] else [f"{GIVEN_UP} {sentence}" for sentence in changes]
    sentences += [f"{GIVEN_UP} {note}." for note in _regression_notes(assessment)]
    sentences += [f"{verdict.sentence}." for verdict in assessment.verdicts]
    if not meeting:
        sentences += _explain_missed_limits(chosen, tried)
    else:
        sentences += _describe_runner_up(chosen, meeting)
    return sentences


def explain_protected_keys(data: Microdata, protected: Collection[str], unmet: Collection[str]) -> list[str]:
    """A sentence if the protected keys alone leave classes smaller than an unmet limit on k requires."""
    keys = [name for name in data.named(Role.KEY) if name in protected]
    required = data.policy.limits.get("k_anonymity.k")
    missed = {"k_anonymity.k", *(f"protect {name}" for name in keys)} & set(unmet)
    if required is None or not keys or not missed or smallest_class(data, keys) >= required:
        return []
    one = len(keys) == 1
    return [  # without the number of records, which is small: a public report has this sentence too
        (
            f"k_anonymity.k {required:g} is out of reach while {' and '.join(keys)} {'is' if one else 'are'} protected: "
            f"{'a value' if one else 'a combination of values'} of {'it' if one else 'them'} has fewer records. "
            "Recode rare values first, or protect fewer columns."
        )
    ]


def explain_companions(chosen: TriedPlan, data: Microdata, space: Space) -> list[str]:
    """What the plan does to columns beside the keys, and because of which columns it leaves gaps in the evidence."""
    identifiers = data.named(Role.IDENTIFIER)
    masking = {name: step for step in chosen.plan.steps for name in step.columns or () if name in data.columns}
    methods = {name: _treatment(step) for name, step in masking.items()}
    roles = {name: data.attribute(name).role for name in methods}
    closing = (Role.CONFIDENTIAL, Role.HOUSEHOLD, Role.WEIGHT)
    others = [name for name, role in roles.items() if role in closing and name not in (*space.known, *space.blankable)]
    companions: dict[str, tuple[str, ...]] = {**dict.fromkeys(others, ()), **space.companions}
    sentences = []
    for name in [name for name in companions if name in methods and name not in identifiers]:
        what = "averaged" if data.attribute(name).role is Role.WEIGHT else methods[name]
        reason = (
            f"released as it is, it would give back masked values of {', '.join(companions[name])}"
            if companions[name]
            else "a plan that released it as it is left a gap in the evidence"
        )
        sentences.append(f"{name} is {what}: {reason}.")
    left = [name for name in chosen.outcome.gap_columns if name in data.columns]
    if chosen.outcome.meets_limits and chosen.outcome.gaps and left:
        can_be_masked = any(name in space.companions for name in left)
        why = (
            "There was no time for a better plan that masks them too: give the search more seconds."
            if can_be_masked
            else "The search takes no column out that the policy protects, that a measure or a regression names, or that is a "
            "key: mask it more, or write accepted: with your reason."
        )
        sentences.append(f"The plan leaves gaps in the evidence because of {', '.join(left)}. {why}")
    return sentences


def _treatment(step: Step) -> str:
    """What a step does to a column beside the keys, in words."""
    if step.columns is not None and len(step.columns) == 1 and step.parameters.get("publish") == "ranges":
        return "released in ranges of near values"
    words = {"remove_identifiers": "taken out", "global_recoding": "blank"}
    return words.get(step.method, "masked together with the keys")


def _regression_notes(assessment: Assessment) -> list[str]:
    """Each effect of the regressions that the owner named, before and after."""
    score = assessment.losses.get("associations")
    if score is None:
        return []
    notes = [str(note) for note in score.notes if ": effect of " in str(note)]
    largest, outside, effects = (score.summary.get(name) for name in ("effect", "effects_outside", "effects"))
    if isinstance(largest, int | float) and largest > LARGEST_CHANGE_OF_EFFECT:
        notes.insert(
            0,
            f"the named regressions: {outside} of {effects} effects lie outside their intervals in the original, and the largest "
            f"change of a clear effect is {100 * largest:,.0f} %, so results on this release differ from those on the original",
        )
    more = len(notes) - _MOST_EFFECTS
    return [*notes[:_MOST_EFFECTS], f"{more:,} more effects, which the notes of associations list"] if more > 1 else notes


def _explain_missed_limits(chosen: TriedPlan, tried: Sequence[TriedPlan]) -> list[str]:
    """For each limit that the chosen plan misses, whether any plan meets it."""
    sentences = []
    for limit in chosen.outcome.missed:
        meeting = sum(plan.outcome.error is None and limit not in plan.outcome.missed for plan in tried)
        if not meeting:
            sentences.append(f"{limit} is not met by any plan that was tried.")
        else:
            sentences.append(f"{limit} is not met: {meeting:,} plans meet it, but none of them meets the other limits as well.")
    return sentences


def _describe_runner_up(chosen: TriedPlan, meeting: Sequence[TriedPlan]) -> list[str]:
    others = [plan for plan in meeting if plan.plan != chosen.plan]
    if not others:
        return []
    runner_up = min(others, key=lambda plan: plan.outcome.rank)
    steps = "; ".join(format_step(step) for step in runner_up.plan.steps)
    loss, risk = _format_number(runner_up.outcome.loss), _format_number(runner_up.outcome.risk)
    faults = [words for words, _, has_fault in _FAULTS if has_fault(runner_up) and not has_fault(chosen)]
    but = f"; but it {' and '.join(faults)}" if faults else ""
    return [f"The next best plan: {steps}, with a loss of {loss} and a risk of {risk}{but}."]


def _describe_rivals(chosen: TriedPlan, meeting: Sequence[TriedPlan]) -> str:
    """What plans with less loss do, because of which the chosen one comes before them; empty if there are none."""
    rivals = [plan for plan in meeting if plan.outcome.loss < chosen.outcome.loss]
    faults = [words for _, words, has_fault in _FAULTS if any(map(has_fault, rivals)) and not has_fault(chosen)]
    return f", apart from those that {' or '.join(faults)}," if faults else ""


_FAULTS: tuple[tuple[str, str, Callable[[TriedPlan], bool]], ...] = (
    ("leaves gaps in the evidence", "leave gaps in the evidence", lambda plan: bool(plan.outcome.gaps)),
    ("was not examined for gaps", "were not examined for gaps", lambda plan: plan.outcome.gaps is None),
    (
        f"suppresses more than {format_share(MOST_BLANK)} of a key",
        f"suppress more than {format_share(MOST_BLANK)} of a key",
        lambda plan: plan.outcome.blank > MOST_BLANK,
    ),
    (
        "loses a named regression effect",
        "lose a named regression effect",
        lambda plan: plan.outcome.effect > LARGEST_CHANGE_OF_EFFECT,
    ),
)
"""Why a plan with less loss is not chosen, said of one plan and of several."""


def _format_number(value: float) -> str:
    """Four significant digits, in full below 1e15. The sign is left out: a risk of which more is safer is stored negated."""
    magnitude = abs(value)
    return f"{magnitude:,.0f}" if 1000 <= magnitude < 1e15 else f"{magnitude:.4g}"
