"""The wizard: finds the list of methods and parameters that meets the limits at the least information loss.

Truta et al. name such a wizard, which chooses the masking methods for the data owner, as future work.
"""

from __future__ import annotations

import hashlib
import math
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from discreet.assessment.designs import with_designs
from discreet.engine.runtime.progress import OutOfTimeError, stop_after
from discreet.errors import DataError, PolicyError
from discreet.keys.choose import ChosenKey, choose_key, with_key
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.selection.compiling import BackgroundCompiler, compile_in_background
from discreet.selection.conclusion import assess_best_plan, half_way_to, last_moment, reserve_for_attacks
from discreet.selection.confirming import points_if_none_meets_limits, points_to_confirm
from discreet.selection.evaluation.evaluator import Evaluator
from discreet.selection.evaluation.measures import measure_in_full
from discreet.selection.objective import MOST_ATTRIBUTES, MOST_RECORDS
from discreet.selection.options import SelectArguments, SelectOptions
from discreet.selection.outcome import Outcome, TriedPlan
from discreet.selection.proposals import add_missing_hierarchies, released_attributes
from discreet.selection.recodings import greedy_recodings, needed_class_size
from discreet.selection.results import Selection
from discreet.selection.risky_attributes import rank_risky_attributes
from discreet.selection.sampling import draw_sample, effective_size_in_sample, sample_share, share_below
from discreet.selection.search.budget import Budget
from discreet.selection.search.search import Search, SearchMode
from discreet.selection.search.storage import open_storage
from discreet.selection.space.dimensions import Point, Space
from discreet.selection.space.prepare import prepare_space, quickest_point
from discreet.selection.starts.order import starting_points
from discreet.selection.steps.build import build_plan
from discreet.selection.steps.targeted import required_effective_size
from discreet.selection.trials import OnTrial, TrialReporter

_BUDGET_SHARE_OF_SAMPLE = 0.5
_LEAST_SHARE_OF_SAMPLE = 0.25
_MEASUREMENTS_AFTER_SAMPLE = 5.0
"""Measurements of the whole table that must fit in after the search on the sample: the original, a plan, the assessment."""
_GROWTH = 0.8
"""The power of the number of records that the time of a measurement is expected to grow with: a part of it is always the same."""
_LONGEST_SHARE_TIMED_AGAIN = 0.05
"""Share of all seconds that measuring the original of the sample a second time may take."""
_LONGEST_EXPECTED_SHARE = 0.1
"""Share of all seconds that a plan tried on the sample may be expected to take on the whole table."""
_LEAST_RESERVED_SHARE, _MOST_RESERVED_SHARE = 0.05, 0.3
"""Shares of all seconds between which the time of the final assessment lies."""
_SHARE_OF_ORIGINAL, _LATEST_SHARE_OF_ORIGINAL = 0.5, 0.9
"""Shares of all seconds after which the table that is searched first, and the whole table, are not measured further."""
_SHARE_OF_COMPARISON = 0.2
"""Share of all seconds for measuring the whole table before its sample, where effective class sizes are limited."""
_SHARE_OF_RECODINGS = 0.1
"""Share of all seconds that recodings to start from may take."""


def select(
    data: Microdata, *, resume: str | Path | None = None, how: SearchMode = "guided", on_trial: OnTrial | None = None,
    **overrides: Unpack[SelectArguments],
) -> Selection:  # fmt: skip
    """Search for the plan that meets every limit of the policy at the least loss.

    The fields of :class:`~discreet.selection.options.SelectOptions` override the policy's ``select`` section.
    With ``resume`` the search is recorded in a file, and continues from it after an interruption. ``how`` is "guided" or
    "random", for comparison.

    ``on_trial`` is called with a :class:`~discreet.selection.trials.Trial` for each plan as soon as it was tried, in the thread
    of the search, so that a map can grow while the search runs; a resumed search first calls it for the trials in its file. An
    exception in it ends the search; the file of ``resume`` then holds all trials up to this one.
    """
    began = time.monotonic()
    options = SelectOptions.from_policy(data.policy, **overrides)
    if not data.policy.limits and options.cost is None:
        raise PolicyError(
            f"{data.policy.origin}: select needs limits to meet, for example 'limits: {{k_anonymity.k: 5}}' or "
            f"'limits: {{preset: wp216}}' ('discreet presets' lists them), or select.cost with the weights of risk and loss"
        )
    if not len(data):
        raise DataError(f"{data.source} has no records to select a plan for")
    options.check(data)
    data = data.with_policy(measure_in_full(spell_out_losses(add_missing_hierarchies(data), data, options)))
    storage = open_storage(Path(resume) if resume is not None else None)
    key = choose_key(with_key(data.policy.plan, _key_of_earlier_run(storage, data.policy.plan)), data.source)
    data = data.with_policy(data.policy.with_(plan=key.plan))
    # as assess has it: where the policy's own plan draws a sample, a table without a design is the whole population
    data, _ = with_designs(data, data, data.policy.plan)
    share = sample_share(data, options)
    sample = draw_sample(data, share, options.seed) if share < 1.0 else data
    with compile_in_background(sample, options) as compiler:
        return _search_plans(data, sample, options, key, began, storage, resume, how, TrialReporter(on_trial), compiler)


def _search_plans(
    data: Microdata, sample: Microdata, options: SelectOptions, key: ChosenKey, began: float, storage: Any,
    resume: str | Path | None, how: SearchMode, reporter: TrialReporter, compiler: BackgroundCompiler,
) -> Selection:  # fmt: skip
    """Search on the sample, then on the whole table; both are the same where the table is small."""
    share = sample_share(data, options)
    # a large table is measured as a whole only after the search on its sample: that takes as long as many plans on the sample
    # unless its limits are on effective class sizes, which do not scale: those of the sample are compared with them
    ready, effective_size = _compare_effective_sizes(data, sample, options, key, _deadline(options, began, _SHARE_OF_COMPARISON))
    first = Evaluator(
        sample, options, scale=share, secret=key.secret, deadline=_deadline(options, began, _SHARE_OF_ORIGINAL),
        effective_size=effective_size,
    )  # fmt: skip
    # what known_sets says of single records is of use only where it has a limit, and it may take long to measure
    risky, sensitive = rank_risky_attributes(first.data, first.known) if first.known is not None else ([], [])
    space = prepare_space(data, options, sensitive, first, storage)
    fingerprint = _fingerprint(data, options, key.secret)
    points: list[Point] = []
    if how == "guided":
        end = _deadline(options, time.monotonic(), _SHARE_OF_RECODINGS)
        recodings = greedy_recodings(data, space.keys, space.heights, needed_class_size(data.policy), options.protect, end)
        points = starting_points(space, risky, recodings, _share_missing_sizes(first))

    def make_search(name: str, evaluator: Evaluator, scale: float) -> Search:
        build = partial(build_plan, evaluator.data, scale=scale)
        return Search(
            name, space, build, evaluator, storage, limits=tuple(data.policy.limits), seed=options.seed,
            fingerprint=fingerprint, mode=how, reporter=reporter, whole=scale == 1.0, after_sample=scale == 1.0 > share,
            key=key.plan.key,
            pending=lambda: compiler.pending,
        )  # fmt: skip

    tried_on_sample: list[TriedPlan] = []
    searching, sample_interrupted = 0.0, False
    if share < 1.0:
        sample_search = make_search("sample", first, share)
        budget = _make_budget(options, began, _share_of_sample(options, first, share))
        tried_on_sample = sample_search.run(budget, points)
        searching += sample_search.seconds
        sample_interrupted = sample_search.interrupted
    deadline = _deadline(options, began, _LATEST_SHARE_OF_ORIGINAL)
    evaluate = first if share == 1.0 else ready or Evaluator(data, options, secret=key.secret, deadline=deadline)
    fallback: Point | None = None
    if share < 1.0:
        longest = None if options.seconds is None else _LONGEST_EXPECTED_SHARE * options.seconds * math.pow(share, _GROWTH)
        points, fallback = points_to_confirm(tried_on_sample, longest)
        if not any(plan.outcome.meets_limits for plan in tried_on_sample):
            points = [*points_if_none_meets_limits(space), *points]
    if sample_interrupted:  # the best plan of the sample is tried on the whole table, and nothing else
        options = options.model_copy(update={"trials": len(tried_on_sample) + 1})
        points = points[:1]
    whole_search = make_search("whole table", evaluate, 1.0)
    remaining = options.trials - len(tried_on_sample) if options.trials is not None else None
    assessing = reserve_for_attacks(data, options) + (0.0 if evaluate.knows_scores else evaluate.seconds_to_measure)
    budget = replace(
        _make_budget(options, began, 1.0, trials=remaining, reserved=assessing + evaluate.expected_for_gaps),
        settled=_clip_reserved(options, assessing),
        scores_known=evaluate.knows_scores,
    )
    tried = whole_search.run(budget, points, fallback)
    if all(plan.outcome.error is not None for plan in tried):  # too little time for one plan: better a quick one a little late
        point = points[0] if tried_on_sample and points else quickest_point(space)
        quick = _try_quickest_plan(data, space, point, evaluate, half_way_to(last_moment(options, began)))
        tried = [*tried, quick]
        reporter.report(quick.plan, quick.outcome, whole=True)
    searching += whole_search.seconds
    selection = assess_best_plan(data, options, evaluate, tried, tried_on_sample, began, searching, reporter, whole_search.space)
    if sample_interrupted or whole_search.interrupted or selection.interrupted:
        how_to_continue = f"; the same search continues with --resume {resume}" if resume is not None else ""
        note = f"The search was interrupted after {len(tried):,} plans: this is the best of them{how_to_continue}."
        selection = replace(selection, interrupted=True, sentences=(note, *selection.sentences))
    return selection


def _share_missing_sizes(evaluate: Evaluator) -> float:
    """The share of the records of the original table that miss a limit on effective class sizes; 0 where there is none."""
    required = required_effective_size(evaluate.policy)
    if required is None or evaluate.known is None:
        return 0.0
    return share_below(required, evaluate.known)


def _compare_effective_sizes(
    data: Microdata, sample: Microdata, options: SelectOptions, key: ChosenKey, deadline: float | None
) -> tuple[Evaluator | None, float | None]:
    """The evaluator of the whole table, and the effective class size of the sample that stands for the required one.

    None where the limits are not on such sizes, the sample is the whole table, or it takes too long to measure.
    """
    required = required_effective_size(data.policy)
    if required is None or len(sample) == len(data):
        return None, None
    evaluate = Evaluator(data, options, secret=key.secret, deadline=deadline)
    measure = evaluate.risks["known_sets"]
    if evaluate.known is None:
        return None, None
    try:
        with stop_after(deadline):
            return evaluate, effective_size_in_sample(required, evaluate.known, measure.measure(sample))
    except OutOfTimeError:
        return evaluate, None


def _deadline(options: SelectOptions, began: float, share: float) -> float | None:
    """The moment at which a share of all seconds has passed; None without a time limit."""
    return None if options.seconds is None else began + share * options.seconds


def _share_of_sample(options: SelectOptions, evaluate: Evaluator, share: float) -> float:
    """The share of all seconds for the search on the sample; less where the whole table will take long to measure."""
    if options.seconds is None:
        return _BUDGET_SHARE_OF_SAMPLE
    whole_per_sample = _MEASUREMENTS_AFTER_SAMPLE * math.pow(share, -_GROWTH)
    if evaluate.seconds_to_measure * whole_per_sample > (1 - _BUDGET_SHARE_OF_SAMPLE) * options.seconds:
        evaluate.time_again(_LONGEST_SHARE_TIMED_AGAIN * options.seconds)
    remaining = 1 - evaluate.seconds_to_measure * whole_per_sample / options.seconds
    return min(_BUDGET_SHARE_OF_SAMPLE, max(_LEAST_SHARE_OF_SAMPLE, remaining))


def _try_quickest_plan(data: Microdata, space: Space, point: Point, evaluate: Evaluator, deadline: float | None) -> TriedPlan:
    """A plan that hardly takes time, or the best one of the sample; if it is stopped at the deadline, its outcome says so."""
    plan = build_plan(data, space, point)
    try:
        with stop_after(deadline):
            return TriedPlan(point, plan, evaluate(plan))
    except OutOfTimeError:
        return TriedPlan(point, plan, Outcome(evaluate.worst, 1.0, error="there was no time to try it"))


def spell_out_losses(policy: Policy, data: Microdata, options: SelectOptions) -> Policy:
    """The policy with the losses that the search measures, so that whoever assesses the release gets the same numbers.

    Information loss is that of all released attributes, so that no attribute can be changed for free. What the policy says of
    these measures stays.
    """
    losses = {name: dict(parameters) for name, parameters in policy.loss.items()}
    if "ncp" not in losses and not any(limit.startswith("ncp.") for limit in policy.limits):
        losses["ncp"] = {"attributes": released_attributes(data)}
    losses.setdefault("falsehood", {})
    associations = losses.setdefault("associations", {"most": MOST_ATTRIBUTES, "records": MOST_RECORDS})
    if options.analyses:
        associations["analyses"] = list(dict.fromkeys([*associations.get("analyses", ()), *options.analyses]))
    if associations.get("analyses") and not any(limit.startswith("associations.") for limit in policy.limits):
        # what fewer records than a class show, no plan can keep: it would hide what plans do to all other effects
        associations.setdefault("fewest", needed_class_size(policy))
    return policy.with_(loss=losses)


def _make_budget(
    options: SelectOptions, began: float, share: float, *, trials: int | None = None, reserved: float = 0.0
) -> Budget:
    """The budget up to a share of the whole search."""
    if trials is None and options.trials is not None:
        trials = max(1, int(options.trials * share))
    if options.seconds is None:
        return Budget(trials, None)
    return Budget(trials, began + share * options.seconds, _clip_reserved(options, reserved) if reserved else 0.0)


def _clip_reserved(options: SelectOptions, reserved: float) -> float:
    """The seconds for the final assessment within their shares of all seconds.

    It measures more than a trial does, but a table that takes long to measure must leave some time for the search too.
    """
    seconds = options.seconds or 0.0
    return min(max(reserved, _LEAST_RESERVED_SHARE * seconds), _MOST_RESERVED_SHARE * seconds)


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
    digest.update(options.model_dump_json(include={"objective", "truthful", "allow", "protect", "keep"}).encode())
    digest.update(data.frame.hash_rows(seed=1).to_numpy().tobytes())
    return digest.hexdigest()
