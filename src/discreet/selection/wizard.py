"""The wizard (seed 002, future work): finds the list of methods and their parameters that keeps the limits at least loss."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from discreet.assessment.release import assess_release
from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DataError, PolicyError
from discreet.keys.choose import choose_key, with_key
from discreet.masking.generate import generate
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.selection.build import plan_of
from discreet.selection.evaluate import TARGETED, Evaluator
from discreet.selection.frontier import Placed, frontier, place
from discreet.selection.options import SelectOptions
from discreet.selection.proposals import completed, released
from discreet.selection.reasons import out_of_reach, reasons
from discreet.selection.results import Selection
from discreet.selection.search import Budget, How, Search, Tried, storage_of
from discreet.selection.space import Point, space_of
from discreet.selection.starts import risk_profile, starts
from discreet.selection.trials import OnTrial, Teller

_SAMPLE, _LARGEST_SAMPLE = 20_000, 40_000
_SHARE_ON_SAMPLE = 0.5
_WORTH_SAMPLING = 0.8
_LONGEST_GUESSED = 0.1
"""Share of all seconds that a plan of the sample may be expected to take on the whole table."""
_CARRIED = 12
"""Plans that a sample proposes to the whole table."""
_MOST_UNTARGETED = 6


def select(
    data: Microdata, *, resume: str | Path | None = None, how: How = "guided", on_trial: OnTrial | None = None, **said: Any
) -> Selection:
    """Search for the plan that keeps every limit of the policy at the least loss.

    ``seconds``, ``trials``, ``seed``, ``sample``, ``risk``, ``loss`` and ``cost`` are as in the policy's ``select`` section,
    over which they go. With ``resume`` the search is kept in a file, and goes on from it where it was stopped.

    ``on_trial`` is called with a :class:`~discreet.selection.trials.Trial` for each plan as soon as it was tried, so that a
    map can grow while the search runs; of a search that is resumed, first with those that its file holds. It runs in the
    thread of the search. What it raises ends the search, of which the file of ``resume`` then holds all up to this plan.
    """
    began = time.monotonic()
    options = SelectOptions.of(data.policy, **said)
    if not data.policy.limits and options.cost is None:
        raise PolicyError(f"{data.policy.origin}: select needs limits to keep, or select.cost to weigh risk and loss by")
    if not len(data):
        raise DataError(f"{data.source} has no records to select a plan for")
    data = data.with_policy(with_loss(completed(data), data, options))
    storage = storage_of(Path(resume) if resume is not None else None)
    chosen = choose_key(with_key(data.policy.plan, _earlier_key(storage, data.policy.plan)), data.source)
    data = data.with_policy(data.policy.with_(plan=chosen.plan))
    evaluate = Evaluator(data, options, secret=chosen.secret)
    known, sensitive = risk_profile(data, evaluate.known)
    space = space_of(data, top=sensitive)
    mark = _fingerprint(data, options, chosen.secret)
    points, rough_tried = starts(space, known) if how == "guided" else [], []
    share = _share(data, options)
    teller = Teller(on_trial)

    def search(name: str, judge: Evaluator, scale: float) -> Search:
        build = partial(plan_of, judge.data, space, scale=scale)
        return Search(
            name, space, build, judge, storage, limits=tuple(data.policy.limits), seed=options.seed, fingerprint=mark, how=how,
            teller=teller, whole=scale == 1.0, key=chosen.plan.key,
        )  # fmt: skip

    if share < 1.0:
        rough = search("sample", Evaluator(_sample(data, share, options.seed), options, scale=share, secret=chosen.secret), share)
        rough_tried = rough.run(_budget(options, began, _SHARE_ON_SAMPLE), points)
        points = _carried(rough_tried, None if options.seconds is None else _LONGEST_GUESSED * share * options.seconds)
    whole = search("whole table", evaluate, 1.0)
    remaining = options.trials - len(rough_tried) if options.trials is not None else None
    found = whole.run(
        _budget(options, began, 1.0, trials=remaining, ending=2 * evaluate.measuring + evaluate.measuring_informed), points
    )
    if not found:
        raise DataError("the budget ended before a single plan was tried on the whole table; give it more seconds or trials")
    searching = whole.seconds + (rough.seconds if share < 1.0 else 0.0)
    return _selection(data, options, evaluate, found, rough_tried, began, searching, teller)


def _selection(
    data: Microdata, options: SelectOptions, evaluate: Evaluator, found: Sequence[Tried], rough: Sequence[Tried], began: float,
    searching: float, teller: Teller,
) -> Selection:  # fmt: skip
    """The best of what was tried, run once more and assessed as anybody would assess the written file."""
    left = None if options.seconds is None else began + options.seconds - evaluate.measuring - evaluate.measuring_informed
    leaving = time.monotonic()
    shorter = _untargeted(found, evaluate, left) or _without(_chosen(found, options, evaluate.worst), evaluate, left)
    searching += time.monotonic() - leaving
    for one in shorter:
        teller.tell(one.plan, one.outcome, whole=True)
    found = [*found, *shorter]
    chosen = _chosen(found, options, evaluate.worst)
    policy = data.policy.with_(plan=chosen.plan)
    release = generate(data.with_policy(policy), chosen.plan, evaluate.secret)
    # work is stopped between its steps, so a little before the time is over; but what the plan was chosen by is measured again
    end = None if options.seconds is None or chosen.outcome.kept else began + 0.98 * options.seconds
    assessment = assess_release(release.original, release, end)
    plans = {f"plan {number}": one.plan for number, one in enumerate(found, 1)}
    placed = [
        Placed(name, one.outcome.risk, one.outcome.loss, one.outcome.kept)
        for name, one in zip(plans, found, strict=True)
        if one.outcome.error is None
    ]
    edge = tuple(frontier(placed))
    standing = tuple(one.limit for one in assessment.verdicts if not one.kept)
    axes = (evaluate.risk_axis, options.loss)
    told = [*reasons(chosen, found, assessment, axes, evaluate.worst, options), *out_of_reach(evaluate, standing)]
    busy = sum(one.outcome.seconds for one in (*rough, *found))
    met = assessment.ok or not policy.limits
    return Selection(
        chosen.plan, policy, met, chosen.outcome.loss, chosen.outcome.risk, axes, release, assessment,
        tuple(place(placed)), edge, {one.name: plans[one.name] for one in edge}, len(found), len(rough), standing, tuple(told),
        time.monotonic() - began, searching, busy,
    )  # fmt: skip


def _untargeted(found: Sequence[Tried], evaluate: Evaluator, deadline: float | None) -> list[Tried]:
    """Where not a single plan ran: some of them without the steps that lower the risk of single records, which were too many."""
    made: list[Tried] = []
    for one in found if all(one.outcome.error is not None for one in found) else ():
        plan = one.plan.model_copy(update={"steps": tuple(step for step in one.plan.steps if step.method not in TARGETED)})
        late = deadline is not None and time.monotonic() > deadline
        if plan != one.plan and plan not in [other.plan for other in made] and not late and len(made) < _MOST_UNTARGETED:
            made.append(Tried(one.point, plan, evaluate(plan)))
    return made


def _without(chosen: Tried, evaluate: Evaluator, deadline: float | None) -> list[Tried]:
    """The chosen plan with steps left out one after the other, as long as it keeps the limits at no more loss without them.

    By the clock only while a plan as long, and the last run of the chosen one, still fit in.
    """
    made: list[Tried] = []
    best = chosen
    for step in chosen.plan.steps:
        steps = tuple(one for one in best.plan.steps if one is not step)
        late = deadline is not None and time.monotonic() + 3 * chosen.outcome.seconds > deadline
        if step.method == "remove_identifiers" or not best.outcome.kept or not steps or late:
            continue
        plan = best.plan.model_copy(update={"steps": steps})
        made.append(Tried(chosen.point, plan, evaluate(plan)))
        if made[-1].outcome.kept and made[-1].outcome.loss <= best.outcome.loss:
            best = made[-1]
    return made


def _chosen(found: Sequence[Tried], options: SelectOptions, worst: float) -> Tried:
    def rank(one: Tried) -> tuple[float, float, float]:
        outcome = one.outcome
        if options.cost is None or not outcome.kept:
            return outcome.rank
        share = outcome.risk / abs(worst) if worst else outcome.risk
        return 0.0, options.cost.loss * outcome.loss + options.cost.risk * share, outcome.risk

    # of equals the one with the fewest steps
    return min(found, key=lambda one: (*rank(one), len(one.plan.steps)))


def with_loss(policy: Policy, data: Microdata, options: SelectOptions) -> Policy:
    """The policy with the loss that is made least spelled out: over all released attributes, so that nothing is free."""
    name = options.loss.split(".")[0]
    if name != "ncp" or "ncp" in policy.loss or any(limit.startswith("ncp.") for limit in policy.limits):
        return policy
    return policy.with_(loss={**policy.loss, "ncp": {"attributes": released(data)}})


def _share(data: Microdata, options: SelectOptions) -> float:
    """How much of the table to start on: enough records for k of them to still be a crowd in the sample, but not too many.

    Where they would be too many, the sample asks for more than the table does; the table itself has the last word.
    """
    k = data.policy.limits.get("k_anonymity.k", 0.0)
    crowd = math.ceil(2 / k * len(data)) if k > 2 else _SAMPLE
    wanted = options.sample or min(max(_SAMPLE, crowd), _LARGEST_SAMPLE)
    share = wanted / len(data)
    return share if share < _WORTH_SAMPLING and (options.trials is None or options.trials >= 4) else 1.0


def _sample(data: Microdata, share: float, seed: int) -> Microdata:
    """Records drawn by chance, numbered anew: the sample is a table of its own."""
    order = KeyedDraw(seed).order(data.records, "select sample")
    rows = np.sort(order[: max(1, math.ceil(share * len(data)))])
    return Microdata(data.frame[rows], data.policy, data.source, labels=data.labels, variable_labels=data.variable_labels)


def _budget(options: SelectOptions, began: float, share: float, *, trials: int | None = None, ending: float = 0.0) -> Budget:
    if trials is None and options.trials is not None:
        trials = max(1, int(options.trials * share))
    # a table that takes long to measure leaves little time, but some there must be
    ending = 0.0 if options.seconds is None else min(ending, 0.3 * options.seconds)
    return Budget(trials, None if options.seconds is None else began + share * options.seconds, ending)


def _carried(tried: Sequence[Tried], longest: float | None) -> list[Point]:
    """What a sample proposes: its best by loss within the limits, and the nearest where those are few.

    The first is the safest within the limits, which the whole table is likely to confirm. By the clock only those that take at
    most ``longest`` seconds on the sample, so that they can be expected to end.
    """
    quick = [one for one in tried if longest is None or one.outcome.seconds <= longest]
    ranked = sorted(quick or tried, key=lambda one: one.outcome.rank)
    safest = sorted((one for one in ranked[:_CARRIED] if one.outcome.kept), key=lambda one: one.outcome.risk)[:1]
    return [dict(one.point) for one in (*safest, *(one for one in ranked[:_CARRIED] if one not in safest))]


def _earlier_key(storage: Any, plan: Plan) -> str | None:
    """The id of the key that an earlier run of this search measured with, where the plan itself names none."""
    if storage is None or plan.seed is not None or plan.key is not None:
        return None
    import optuna

    keys = [study.user_attrs.get("key") for study in optuna.get_all_study_summaries(storage)]
    return next((str(key) for key in keys if key is not None), None)


def _fingerprint(data: Microdata, options: SelectOptions, secret: bytes) -> str:
    """What must be the same for a search to go on: the values, the policy, the seed, the sample and the key."""
    import json

    made = hashlib.blake2b(digest_size=16, key=secret)
    made.update(json.dumps(data.policy.with_(select={}).model_dump(mode="json"), sort_keys=True).encode())
    made.update(json.dumps([options.seed, options.sample, options.risk, options.loss, list(data.frame.schema)]).encode())
    made.update(data.frame.hash_rows(seed=1).to_numpy().tobytes())
    return made.hexdigest()
