"""The search: multi-objective (risk, loss) with the limits as constraints, by Optuna's TPE sampler and a local search.

Ozaki, Y. et al. (2020). Multiobjective tree-structured Parzen estimator for computationally expensive optimization problems.
GECCO. Of four points the sampler draws one; two are neighbours of the best plan so far, which a model of the whole space would
be slow to propose, and one is a neighbour of a plan on the frontier, so that the frontier grows along its whole length.
"""

from __future__ import annotations

import hashlib
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from discreet.engine.runtime.progress import OutOfTimeError, report_progress, stop_after
from discreet.errors import PolicyError
from discreet.model.policy import Plan
from discreet.selection.evaluation.evaluator import Evaluator
from discreet.selection.frontier import MapPoint, frontier
from discreet.selection.gaps.dropping import points_without_gap_columns
from discreet.selection.gaps.leaving import points_with_columns_left
from discreet.selection.outcome import MOST_BLANK, STOPPED, Outcome, TriedPlan
from discreet.selection.search.budget import Budget
from discreet.selection.search.neighbours import draw_neighbour, plan_as_json
from discreet.selection.space.beside_keys import with_gap_columns, with_spared_keys
from discreet.selection.space.dimensions import Point, Space
from discreet.selection.trials import TrialReporter

if TYPE_CHECKING:
    from optuna.study import Study

SearchMode = Literal["guided", "random"]
_STARTS_TRIED_FIRST = 6
"""Starting points that are tried before anything else; the others alternate with the search, so that a small budget tunes too."""
_LEAST_SHARE_OF_EXPECTED = 0.3
"""Share of the expected time of a plan for which another one is begun as long as no plan can be released."""
_MOVES_AT_ONCE = 2
"""Moves in vain that may follow each other after a search on a sample."""
_MOST_DRAWS_PER_PLAN = 6
"""A point whose plan was tried before costs nothing and does not count as a trial; this bounds how many are drawn."""
_LONGEST_PLAN_SHARE = 0.2
"""Share of a search's time that a single plan may take; only a search with a time limit stops a plan."""
_LONGEST_PLAN_MEASUREMENTS = 3.0
"""The same in multiples of the time that measuring the original took, if that is longer."""
_SHARE_OF_FIRST_GAPS = 0.1
"""Share of a search's time up to which the gaps of its first plan are looked for."""
_MOST_PLAN_SHARE = 0.45
"""The share that a single plan may take at most, however long the original took to measure: another one must fit in."""
_MOST_SHARE_AFTER_SAMPLE = 0.6
"""The same after a search on a sample, as long as no plan is confirmed: one that was the best there deserves more time."""
_SHARE_OF_GAPS, _SHARE_OF_GAPS_OF_BEST = 0.35, 0.6
"""Shares of a search's time that looking for gaps in the evidence may take; of a plan that would be the best without, more."""


class Search:
    """An Optuna study: points, their plans and their outcomes, recorded in a storage.

    Every draw depends only on the seed, the name of the search and ``draws``, the number of points drawn before. A resumed
    search counts its draws from the storage, so it continues exactly where it stopped.
    """

    def __init__(
        self, name: str, space: Space, build: Callable[[Space, Point], Plan], evaluate: Evaluator, storage: Any, *,
        limits: Sequence[str], seed: int, fingerprint: str, mode: SearchMode = "guided", reporter: TrialReporter | None = None,
        whole: bool = True, after_sample: bool = False, key: str | None = None, pending: Callable[[], frozenset[str]] = frozenset,
    ) -> None:  # fmt: skip
        import optuna

        self.name, self.space, self.evaluate, self.seed, self.mode = name, space, evaluate, seed, mode
        self._build = build
        self.limits = tuple(limits)
        self.reporter, self.whole = reporter or TrialReporter(None), whole
        self.after_sample = after_sample
        """Whether a search on a sample of the table came before."""
        self.pending = pending
        """Gives the finishes that are being compiled, which are left until later."""
        self.study: Study = optuna.create_study(
            storage=storage, study_name=name, directions=["minimize", "minimize"], load_if_exists=True
        )
        recorded_fingerprint = self.study.user_attrs.get("fingerprint")
        if recorded_fingerprint is None:
            self.study.set_user_attr("fingerprint", fingerprint)
            self.study.set_user_attr("key", key)
            self.study.set_user_attr("companions", {name: list(keys) for name, keys in space.companions.items()})
        elif recorded_fingerprint != fingerprint:
            raise PolicyError(
                "the file to resume from belongs to a search on other data, another policy or another seed; name a new file"
            )
        self._added: list[str] = []
        """The dimensions that the space did not have at first."""
        self.seconds = 0.0
        self.tried: list[TriedPlan] = []
        self.outcomes: dict[str, Outcome] = {}
        """The outcome of each plan tried, by the plan as JSON: different points can have the same plan."""
        self.draws = 0
        self.moves = 0
        """Draws that followed from the gaps of earlier plans, and are neither starting points nor neighbours."""
        self._draws_since_move, self._moves_in_vain = math.inf, 0
        """Other draws since the last move, and moves since the last one that led to a plan without gaps."""
        self._began, self._timed, self._time = time.monotonic(), False, math.inf
        self.fallback: Point | None = None
        """A point that is tried next if no plan meets the limits so far."""
        self.interrupted = False
        """Whether the user stopped the search; what was tried before counts."""
        self._load()

    def _load(self) -> None:
        """Load the trials of an earlier run; one that it did not finish is marked as failed, so that its point is drawn again."""
        from optuna.trial import TrialState

        for trial in self.study.get_trials(deepcopy=False):
            if trial.state is TrialState.COMPLETE:
                recorded = trial.user_attrs.get("outcome")
                outcome = None if recorded is None else Outcome.from_journal(recorded)
                self._count_draw(outcome, is_move=bool(trial.user_attrs.get("move")))
                if outcome is not None:
                    self._record(dict(trial.params), outcome)
            elif trial.state is TrialState.WAITING:
                self.study.tell(self.study.ask(), state=TrialState.FAIL)  # a waiting trial must be asked for before it can fail
            elif not trial.state.is_finished():
                self.study.tell(trial.number, state=TrialState.FAIL)

    def run(self, budget: Budget, starts: Sequence[Point], fallback: Point | None = None) -> list[TriedPlan]:
        """Try plans until the budget is spent, the starting points first; a plan that the deadline stops is not recorded.

        ``fallback`` is tried after the first of them if that does not meet the limits.
        """
        self.fallback = fallback
        expected_seconds, best_seconds, began = 0.0, 0.0, time.monotonic()
        self._began, self._timed = began, budget.deadline is not None
        self._time = math.inf if budget.deadline is None else budget.deadline - began
        starts = list(starts)
        most_draws = _MOST_DRAWS_PER_PLAN * (budget.trials or 10**9)
        remaining = budget
        while remaining.allows_another(len(self.tried), expected_seconds, best_seconds) and self.draws < most_draws:
            tried_before = len(self.tried)
            self._report_progress(budget)
            longest = None if budget.deadline is None else self._longest_plan(budget.deadline - began)
            try:
                is_new = self._try_next_point(starts, remaining.search_end(best_seconds), longest)
            except OutOfTimeError:
                break
            except KeyboardInterrupt:
                if not self.tried:
                    raise
                self.interrupted = True
                break
            if is_new:
                seconds = [plan.outcome.seconds for plan in self.tried if plan.outcome.error is None]
                best = self.best().outcome
                best_seconds = 0.0 if best.error is not None else best.seconds
                # the median: a plan that takes longer is stopped at the deadline, which is fine as long as none can be released
                share = 1.0 if best.is_acceptable or not self.whole else _LEAST_SHARE_OF_EXPECTED
                expected_seconds = share * median(seconds) if seconds else 0.0
                remaining = budget.when_settled() if best.is_acceptable else budget
            elif budget.trials is None and self.draws > _MOST_DRAWS_PER_PLAN * (tried_before + 50):
                break  # a search with a time limit alone that finds nothing new to try
        self.seconds += time.monotonic() - began
        return self.tried

    def _longest_plan(self, seconds: float) -> float:
        """How long a plan may take in a search of so many seconds: a share of them, but time enough to measure what it did.

        After a search on a sample plans are few, and known to be good, as long as nothing better is confirmed.
        """
        measuring = self.evaluate.seconds_to_measure
        if self.after_sample and not any(plan.outcome.meets_limits and plan.outcome.blank <= MOST_BLANK for plan in self.tried):
            return _MOST_SHARE_AFTER_SAMPLE * seconds
        return max(_LONGEST_PLAN_SHARE * seconds, min(_LONGEST_PLAN_MEASUREMENTS * measuring, _MOST_PLAN_SHARE * seconds))

    def _try_next_point(self, starts: list[Point], end: float, longest: float | None) -> bool:
        """Draw a point and try its plan; False if the plan was tried before."""
        from optuna.samplers import RandomSampler, TPESampler

        draw_seed = int.from_bytes(hashlib.blake2b(f"{self.seed}:{self.name}:{self.draws}".encode(), digest_size=4).digest())
        move = self._propose_move()
        point = self._propose_point(starts, random.Random(draw_seed)) if move is None else move  # noqa: S311 - a search, not a secret
        if point is not None:
            self.study.enqueue_trial(point)
        is_random = self.mode == "random"
        self.study.sampler = RandomSampler(draw_seed) if is_random else TPESampler(seed=draw_seed, n_startup_trials=1)
        trial = self.study.ask({name: _distribution(self.space, name) for name in self.space.choices})
        plan = self.build(dict(trial.params))
        earlier = self.outcomes.get(plan_as_json(plan))
        outcome = earlier or self._evaluate_in_time(trial.number, plan, end, longest)
        trial.set_constraint("runs", 0.0 if outcome.error is None else 1.0)
        for limit in self.limits:
            trial.set_constraint(limit, outcome.missed.get(limit, 0.0 if outcome.error is None else 1.0))
        if move is not None:
            trial.set_user_attr("move", True)
        if earlier is None:
            trial.set_user_attr("outcome", replace(outcome, seconds=0.0).to_journal())
        self.study.tell(trial, [outcome.risk, outcome.loss])
        self._count_draw(outcome, is_move=move is not None)
        if earlier is None:
            self._record(dict(trial.params), outcome)
        return earlier is None

    def _count_draw(self, outcome: Outcome | None, *, is_move: bool) -> None:
        self.draws += 1
        self.moves += is_move
        self._draws_since_move = 0 if is_move else self._draws_since_move + 1
        if is_move:
            self._moves_in_vain = 0 if outcome is not None and outcome.is_acceptable else self._moves_in_vain + 1

    def _evaluate_in_time(self, trial_number: int, plan: Plan, end: float, longest: float | None) -> Outcome:
        """The outcome of a plan; a plan that takes too long cannot be used. Raises OutOfTimeError if the search is over."""
        from optuna.trial import TrialState

        began = time.monotonic()
        try:
            with stop_after(None if longest is None else min(end, began + longest)):
                return self.evaluate(plan, loss_to_beat=self._loss_to_beat(), is_needless=self._is_needless)
        except OutOfTimeError:
            seconds = time.monotonic() - began
            if time.monotonic() >= end:
                self.study.tell(trial_number, state=TrialState.FAIL)
                raise
            return Outcome(self.evaluate.worst, 1.0, error=f"{STOPPED} after {seconds:.0f} seconds", seconds=seconds)

    def _propose_move(self) -> Point | None:
        """The fallback if the first plan misses the limits, or a good plan without the columns that cause its gaps.

        Other draws come between, one for each move in vain, because gaps through many columns are not worth it, and those
        through keys cannot be closed by other columns. After a search on a sample plans are few and good, and the first moves
        follow each other.
        """
        ran = [plan.outcome for plan in self.tried if plan.outcome.error is None]
        if self.fallback is not None and ran and not any(outcome.meets_limits for outcome in ran):
            point, self.fallback = {**self._treatment_of_added(), **self.fallback}, None
            return point
        pause = self._moves_in_vain - _MOVES_AT_ONCE if self.after_sample else max(1, self._moves_in_vain)
        is_turn = self._draws_since_move >= pause
        if self.mode != "guided" or not is_turn:
            return None
        return next((point for point in self._moves() if plan_as_json(self.build(point)) not in self.outcomes), None)

    def _propose_point(self, starts: list[Point], rng: random.Random) -> Point | None:
        """The next starting point, or a neighbour of a good plan; None: the sampler draws a point.

        While finishes are being compiled, starting points with another finish come first, and the sampler, which could draw any,
        draws none. Those with a finish of which a plan was stopped come last too: the next one would hardly end either.
        """
        pending = self.pending()
        draws = self.draws - self.moves
        later_draws = draws - _STARTS_TRIED_FIRST
        start = draws if later_draws < 0 else _STARTS_TRIED_FIRST + later_draws // 2
        if start < len(starts) and (later_draws < 0 or later_draws % 2 == 0):
            later = pending | {plan.point.get("finish") for plan in self.tried if plan.outcome.was_stopped}
            ready = next((index for index in range(start, len(starts)) if starts[index].get("finish") not in later), start)
            starts.insert(start, starts.pop(ready))
            return {**self._treatment_of_added(), **starts[start]}
        by_sampler = self.mode == "random" or (draws % 4 == 0 and start >= len(starts) and not pending)
        if by_sampler or not self.tried:
            return None
        origin = self._draw_frontier_plan(rng) if draws % 4 == 3 else self.best()
        return draw_neighbour(self._space_without(pending), self.build, self.outcomes, origin, rng)

    def _treatment_of_added(self) -> Point:
        """What a starting point does to the columns that its space did not have: what the best plan does if it has no gaps."""
        best = self.best() if self.tried else None
        point = best.point if best is not None and best.outcome.is_acceptable else {}
        return {name: point.get(name, self.space.neutral_choice(name)) for name in self._added}

    def build(self, point: Point) -> Plan:
        return self._build(self.space, point)

    def _moves(self) -> Iterator[Point]:
        """Points that follow from the gaps of plans tried before."""
        yield from points_without_gap_columns(self.space, self.tried)
        if self.after_sample:
            yield from points_with_columns_left(self.space, self.tried)

    def _space_without(self, finishes: AbstractSet[str]) -> Space:
        """The space without some finishes."""
        if not finishes:
            return self.space
        others = [finish for finish in self.space.choices["finish"] if finish not in finishes]
        return replace(self.space, choices={**self.space.choices, "finish": others})

    def _draw_frontier_plan(self, rng: random.Random) -> TriedPlan:
        """A plan of the frontier of the plans that meet all limits; of all that ran if none does."""
        ran = [plan for plan in self.tried if plan.outcome.error is None]
        candidates = [plan for plan in ran if plan.outcome.meets_limits] or ran or self.tried
        points = [MapPoint(str(index), plan.outcome.risk, plan.outcome.loss) for index, plan in enumerate(candidates)]
        return candidates[int(rng.choice(frontier(points)).name)]

    def best(self) -> TriedPlan:
        """The plan that meets all limits at the least loss; the closest one if none does."""
        return min(self.tried, key=lambda plan: plan.outcome.rank)

    def _loss_to_beat(self) -> float:
        """The loss of the best plan that meets all limits; infinite if none does."""
        return min((plan.outcome.ranked_loss for plan in self.tried if plan.outcome.meets_limits), default=math.inf)

    def _is_needless(self, outcome: Outcome) -> bool:
        """Whether to look for no gaps in the evidence of a plan.

        So it is if an earlier plan without gaps is at least as good in everything, and in a search with a time limit if gaps
        took their share of the time: those of the plan that is chosen in the end are looked for then. The first plan of such a
        search is a safe one to fall back on, others nearly always lose less, and where it takes long to look, they come first.
        After a search on a sample plans are few and good: those of one that would be the best are looked for.
        """
        acceptable = [plan.outcome for plan in self.tried if plan.outcome.is_acceptable]
        best = min((earlier.ranked_loss for earlier in acceptable), default=math.inf)
        if self.after_sample and outcome.ranked_loss < best:
            return self._timed and self.evaluate.expected_for_gaps > _SHARE_OF_GAPS * self._time
        if self._timed and not self.tried and self.evaluate.expected_for_gaps > _SHARE_OF_FIRST_GAPS * self._time:
            return True
        share = _SHARE_OF_GAPS_OF_BEST if outcome.ranked_loss < best else _SHARE_OF_GAPS
        spent = self.evaluate.counting_gaps + self.evaluate.expected_for_gaps
        if self._timed and spent > share * (time.monotonic() - self._began):
            return True
        return any(outcome.is_no_better_than(earlier) for earlier in acceptable)

    def _record(self, point: Point, outcome: Outcome) -> None:
        plan = self.build(point)
        self.outcomes[plan_as_json(plan)] = outcome
        self.tried.append(TriedPlan(point, plan, outcome))
        self.reporter.report(plan, outcome, whole=self.whole)
        self._add_gap_columns(outcome)

    def _add_gap_columns(self, outcome: Outcome) -> None:
        """Add a dimension for each column that turns out to cause gaps and may be masked; the plans tried so far left it alone.

        Only what is recorded decides on it, so a search that is resumed has the same dimensions.
        """
        space = with_gap_columns(self.space, self.evaluate.data, self.evaluate.options, outcome.gap_columns)
        space = with_spared_keys(space, outcome.gap_keys)
        new = [name for name in space.choices if name not in self.space.choices]
        if new:
            self.space = space
            self._added += new
            left = {name: space.neutral_choice(name) for name in new}
            self.tried = [replace(plan, point={**plan.point, **left}) for plan in self.tried]

    def _report_progress(self, budget: Budget) -> None:
        if not self.tried:
            status = "searching"
        else:
            best = self.best().outcome
            status = f"best so far: loss {best.loss:.4g}"
            if not best.meets_limits:
                status += f", not met: {', '.join(best.missed) or 'limits'}"
        plans = "1 plan" if len(self.tried) == 1 else f"{len(self.tried):,} plans"
        report_progress(f"select, {self.name}, {plans}, {status}", len(self.tried), budget.trials or 0)


def _distribution(space: Space, dimension: str) -> Any:
    """The distribution that Optuna draws a dimension from: integers where the choices are 0, 1, 2, ... in order."""
    from optuna.distributions import CategoricalDistribution, IntDistribution

    choices = list(space.choices[dimension])
    if dimension in space.ordered and choices == list(range(len(choices))) and len(choices) > 1:
        return IntDistribution(0, len(choices) - 1)
    return CategoricalDistribution(choices)
