"""The wizard: finds the list of methods and parameters that meets the limits at the least information loss.

Truta et al. name such a wizard, which chooses the masking methods for the data owner, as future work.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from discreet.assessment.release import assess_release
from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DataError, PolicyError
from discreet.keys.choose import choose_key, with_key
from discreet.masking.generate import generate
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.selection.build import build_plan
from discreet.selection.evaluate import TARGETED, Evaluator
from discreet.selection.frontier import MapPoint, frontier, mark_dominated
from discreet.selection.options import SelectArguments, SelectOptions
from discreet.selection.proposals import add_missing_hierarchies, released_attributes
from discreet.selection.reasons import explain_choice, explain_unreachable_threshold
from discreet.selection.results import Selection
from discreet.selection.search import Budget, Search, SearchMode, TriedPlan, open_storage
from discreet.selection.space import Point, Space, build_space
from discreet.selection.starts import rank_risky_attributes, starting_points
from discreet.selection.trials import OnTrial, TrialReporter

_SMALLEST_SAMPLE, _LARGEST_SAMPLE = 20_000, 40_000
_LARGEST_SAMPLE_SHARE = 0.8
"""A sample that would hold a larger share of the table is not worth it: the whole table is searched at once."""
_BUDGET_SHARE_OF_SAMPLE = 0.5
_LONGEST_EXPECTED_SHARE = 0.1
"""Share of all seconds that a plan tried on the sample may be expected to take on the whole table."""
_MOST_POINTS_TO_CONFIRM = 12
"""Points of the sample that are tried on the whole table."""
_MOST_UNTARGETED = 6
"""Plans that are tried again without their targeted steps, if no plan can run."""


def select(
    data: Microdata, *, resume: str | Path | None = None, how: SearchMode = "guided", on_trial: OnTrial | None = None,
    **overrides: Unpack[SelectArguments],
) -> Selection:  # fmt: skip
    """Search for the plan that meets every limit of the policy at the least information loss.

    ``seconds``, ``trials``, ``seed``, ``sample``, ``risk``, ``loss`` and ``cost`` override the policy's ``select`` section.
    With ``resume`` the search is recorded in a file, and continues from it after an interruption. ``how`` is "guided" or
    "random", for comparison.

    ``on_trial`` is called with a :class:`~discreet.selection.trials.Trial` for each plan as soon as it was tried, in the thread
    of the search, so that a map can grow while the search runs; a resumed search first calls it for the trials in its file. An
    exception in it ends the search; the file of ``resume`` then holds all trials up to this one.
    """
    began = time.monotonic()
    options = SelectOptions.from_policy(data.policy, **overrides)
    if not data.policy.limits and options.cost is None:
        raise PolicyError(f"{data.policy.origin}: select needs limits to meet, or select.cost with the weights of risk and loss")
    if not len(data):
        raise DataError(f"{data.source} has no records to select a plan for")
    options.check(data)
    data = data.with_policy(spell_out_loss(add_missing_hierarchies(data), data, options))
    storage = open_storage(Path(resume) if resume is not None else None)
    key = choose_key(with_key(data.policy.plan, _key_of_earlier_run(storage, data.policy.plan)), data.source)
    data = data.with_policy(data.policy.with_(plan=key.plan))
    evaluate = Evaluator(data, options, secret=key.secret)
    # what known_sets says of single records is of use only where it has a limit, and it may take long to measure
    risky, sensitive = rank_risky_attributes(data, evaluate.known) if evaluate.known is not None else ([], [])
    space = build_space(data, options, top=sensitive)
    fingerprint = _fingerprint(data, options, key.secret)
    points = starting_points(space, risky) if how == "guided" else []
    reporter = TrialReporter(on_trial)

    def make_search(name: str, evaluator: Evaluator, scale: float) -> Search:
        build = partial(build_plan, evaluator.data, space, scale=scale)
        return Search(
            name, space, build, evaluator, storage, limits=tuple(data.policy.limits), seed=options.seed,
            fingerprint=fingerprint, mode=how, reporter=reporter, whole=scale == 1.0, key=key.plan.key,
        )  # fmt: skip

    tried_on_sample: list[TriedPlan] = []
    searching, sample_interrupted = 0.0, False
    share = _sample_share(data, options)
    if share < 1.0:
        sample = _draw_sample(data, share, options.seed)
        sample_search = make_search("sample", Evaluator(sample, options, scale=share, secret=key.secret), share)
        tried_on_sample = sample_search.run(_make_budget(options, began, _BUDGET_SHARE_OF_SAMPLE), points)
        longest = None if options.seconds is None else _LONGEST_EXPECTED_SHARE * share * options.seconds
        points = _points_to_confirm(tried_on_sample, longest)
        searching += sample_search.seconds
        sample_interrupted = sample_search.interrupted
        if sample_interrupted:  # the best plan of the sample is tried on the whole table, and nothing else
            options = options.model_copy(update={"trials": len(tried_on_sample) + 1})
            points = points[:1]
    whole_search = make_search("whole table", evaluate, 1.0)
    remaining = options.trials - len(tried_on_sample) if options.trials is not None else None
    reserved = 2 * evaluate.measuring + evaluate.measuring_informed
    tried = whole_search.run(_make_budget(options, began, 1.0, trials=remaining, reserved=reserved), points)
    if not tried:  # the time was too short even for one plan: better a quick one a little late than none
        point = _quickest_point(space)
        plan = build_plan(data, space, point)
        tried = [TriedPlan(point, plan, evaluate(plan))]
        reporter.report(plan, tried[0].outcome, whole=True)
    searching += whole_search.seconds
    selection = _assess_best_plan(data, options, evaluate, tried, tried_on_sample, began, searching, reporter)
    if sample_interrupted or whole_search.interrupted:
        how_to_continue = f"; the same search continues with --resume {resume}" if resume is not None else ""
        note = f"The search was interrupted after {len(tried):,} plans: this is the best of them{how_to_continue}."
        selection = replace(selection, interrupted=True, sentences=(note, *selection.sentences))
    return selection


def _quickest_point(space: Space) -> Point:
    """A point whose plan hardly takes time: local suppression, or every known attribute a single value."""
    if "local_suppression" in space.choices["finish"]:
        return space.unchanged_point() | {"finish": "local_suppression"}
    return space.unchanged_point() | {f"level:{name}": space.choices[f"level:{name}"][-1] for name in space.heights}


def _assess_best_plan(
    data: Microdata, options: SelectOptions, evaluate: Evaluator, tried: Sequence[TriedPlan],
    tried_on_sample: Sequence[TriedPlan], began: float, searching: float, reporter: TrialReporter,
) -> Selection:  # fmt: skip
    """Simplify the best plan, run it once more, and assess its release as ``assess`` does with a written file."""
    deadline = None if options.seconds is None else began + options.seconds - evaluate.measuring - evaluate.measuring_informed
    simplifying = time.monotonic()
    simplified = _try_without_targeted_steps(tried, evaluate, deadline)
    if not simplified:
        simplified = _try_leaving_steps_out(_choose_plan(tried, options, evaluate.worst), evaluate, deadline)
    searching += time.monotonic() - simplifying
    for plan in simplified:
        reporter.report(plan.plan, plan.outcome, whole=True)
    tried = [*tried, *simplified]
    chosen = _choose_plan(tried, options, evaluate.worst)
    policy = data.policy.with_(plan=chosen.plan)
    release = generate(data.with_policy(policy), chosen.plan, evaluate.secret)
    # Work stops only between its steps, so the end is a little before the time limit. The limits of a plan that was chosen
    # because it meets them are always judged completely.
    end = None if options.seconds is None else began + 0.98 * options.seconds
    assessment = assess_release(release.original, release, end, patient=chosen.outcome.meets_limits)
    plans = {f"plan {number}": plan.plan for number, plan in enumerate(tried, 1)}
    points = [
        MapPoint(name, plan.outcome.risk, plan.outcome.loss, plan.outcome.meets_limits)
        for name, plan in zip(plans, tried, strict=True)
        if plan.outcome.error is None
    ]
    best_points = tuple(frontier(points))
    unmet = tuple(verdict.limit for verdict in assessment.verdicts if not verdict.kept)
    axes = (evaluate.risk_axis, options.loss)
    sentences = [
        *explain_choice(chosen, tried, assessment, axes, evaluate.worst, options),
        *explain_unreachable_threshold(evaluate, unmet),
    ]
    return Selection(
        plan=chosen.plan,
        policy=policy,
        met=assessment.ok or not policy.limits,
        loss=chosen.outcome.loss,
        risk=chosen.outcome.risk,
        axes=axes,
        release=release,
        assessment=assessment,
        placed=tuple(mark_dominated(points)),
        frontier=best_points,
        plans={point.name: plans[point.name] for point in best_points},
        tried=len(tried),
        tried_on_sample=len(tried_on_sample),
        standing=unmet,
        sentences=tuple(sentences),
        seconds=time.monotonic() - began,
        searching=searching,
        busy=sum(plan.outcome.seconds for plan in (*tried_on_sample, *tried)),
    )


def _try_without_targeted_steps(tried: Sequence[TriedPlan], evaluate: Evaluator, deadline: float | None) -> list[TriedPlan]:
    """If not a single plan can run: some of them without their targeted steps, which would have to change too many records."""
    simplified: list[TriedPlan] = []
    if any(plan.outcome.error is None for plan in tried):
        return simplified
    for original in tried:
        steps = tuple(step for step in original.plan.steps if step.method not in TARGETED)
        plan = original.plan.model_copy(update={"steps": steps})
        late = deadline is not None and time.monotonic() > deadline
        is_new = plan != original.plan and plan not in [other.plan for other in simplified]
        if is_new and not late and len(simplified) < _MOST_UNTARGETED:
            simplified.append(TriedPlan(original.point, plan, evaluate(plan)))
    return simplified


def _try_leaving_steps_out(chosen: TriedPlan, evaluate: Evaluator, deadline: float | None) -> list[TriedPlan]:
    """The chosen plan with steps left out, one after the other, as long as it meets the limits at no more loss without them.

    With a time limit, only while a plan as long and the last run of the chosen plan still fit in.
    """
    simplified: list[TriedPlan] = []
    best = chosen
    for step in chosen.plan.steps:
        steps = tuple(other for other in best.plan.steps if other is not step)
        late = deadline is not None and time.monotonic() + 3 * chosen.outcome.seconds > deadline
        if step.method == "remove_identifiers" or not best.outcome.meets_limits or not steps or late:
            continue
        plan = best.plan.model_copy(update={"steps": steps})
        shorter = TriedPlan(chosen.point, plan, evaluate(plan))
        simplified.append(shorter)
        if shorter.outcome.meets_limits and shorter.outcome.loss <= best.outcome.loss:
            best = shorter
    return simplified


def _choose_plan(tried: Sequence[TriedPlan], options: SelectOptions, worst: float) -> TriedPlan:
    """The plan with the least loss, or cost, that meets the limits, else the closest; of equal plans the one with fewest steps.

    ``worst`` is the risk of the original table.
    """

    def rank(plan: TriedPlan) -> tuple[float, float, float]:
        outcome = plan.outcome
        if options.cost is None or not outcome.meets_limits:
            return outcome.rank
        risk_share = outcome.risk / abs(worst) if worst else outcome.risk
        return 0.0, options.cost.loss * outcome.loss + options.cost.risk * risk_share, outcome.risk

    return min(tried, key=lambda plan: (*rank(plan), len(plan.plan.steps)))


def spell_out_loss(policy: Policy, data: Microdata, options: SelectOptions) -> Policy:
    """The policy with the attributes of the minimised loss: all released ones, so that no attribute can be changed for free."""
    name = options.loss.split(".")[0]
    if name != "ncp" or "ncp" in policy.loss or any(limit.startswith("ncp.") for limit in policy.limits):
        return policy
    return policy.with_(loss={**policy.loss, "ncp": {"attributes": released_attributes(data)}})


def _sample_share(data: Microdata, options: SelectOptions) -> float:
    """The share of the table to search first: so many records that k of the table are at least 2 of the sample, within bounds.

    If that is too many records, the smaller sample is stricter than the table; the results on the whole table decide.
    """
    k = data.policy.limits.get("k_anonymity.k", 0.0)
    enough_for_k = math.ceil(2 / k * len(data)) if k > 2 else _SMALLEST_SAMPLE
    size = options.sample or min(max(_SMALLEST_SAMPLE, enough_for_k), _LARGEST_SAMPLE)
    share = size / len(data)
    return share if share < _LARGEST_SAMPLE_SHARE and (options.trials is None or options.trials >= 4) else 1.0


def _draw_sample(data: Microdata, share: float, seed: int) -> Microdata:
    """A random sample, with new record numbers: the sample is a table of its own."""
    order = KeyedDraw(seed).order(data.records, "select sample")
    rows = np.sort(order[: max(1, math.ceil(share * len(data)))])
    return Microdata(data.frame[rows], data.policy, data.source, labels=data.labels, variable_labels=data.variable_labels)


def _make_budget(
    options: SelectOptions, began: float, share: float, *, trials: int | None = None, reserved: float = 0.0
) -> Budget:
    """The budget up to a share of the whole search."""
    if trials is None and options.trials is not None:
        trials = max(1, int(options.trials * share))
    if options.seconds is None:
        return Budget(trials, None)
    # a table that takes long to measure leaves little time for the search, but it must leave some
    return Budget(trials, began + share * options.seconds, min(reserved, 0.3 * options.seconds))


def _points_to_confirm(tried: Sequence[TriedPlan], longest: float | None) -> list[Point]:
    """The best points on the sample, to be tried on the whole table.

    The first is the one with the least risk that meets the limits, which the whole table is likely to confirm. With a time limit
    only points whose plan took at most ``longest`` seconds on the sample, so that it can be expected to end on the whole table.
    """
    quick = [plan for plan in tried if longest is None or plan.outcome.seconds <= longest]
    best = sorted(quick or tried, key=lambda plan: plan.outcome.rank)[:_MOST_POINTS_TO_CONFIRM]
    safest = sorted((plan for plan in best if plan.outcome.meets_limits), key=lambda plan: plan.outcome.risk)[:1]
    return [dict(plan.point) for plan in (*safest, *(plan for plan in best if plan not in safest))]


def _key_of_earlier_run(storage: Any, plan: Plan) -> str | None:
    """The id of the key that an earlier run of this search used, if the plan itself names none."""
    if storage is None or plan.seed is not None or plan.key is not None:
        return None
    import optuna

    keys = [study.user_attrs.get("key") for study in optuna.get_all_study_summaries(storage)]
    return next((str(key) for key in keys if key is not None), None)


def _fingerprint(data: Microdata, options: SelectOptions, secret: bytes) -> str:
    """A keyed hash of what must be the same for a search to be resumed: data, policy, seed, sample, axes and key."""
    import json

    digest = hashlib.blake2b(digest_size=16, key=secret)
    digest.update(json.dumps(data.policy.with_(select={}).model_dump(mode="json"), sort_keys=True).encode())
    digest.update(json.dumps([options.seed, options.sample, options.risk, options.loss, list(data.frame.schema)]).encode())
    digest.update(data.frame.hash_rows(seed=1).to_numpy().tobytes())
    return digest.hexdigest()
