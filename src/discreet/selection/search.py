"""The search: multi-objective (risk, loss) under the limits as constraints, with Optuna's TPE and a local search.

Ozaki, Y. et al. (2020). Multiobjective tree-structured Parzen estimator for computationally expensive optimization problems.
GECCO. Of four points two are neighbours of the best so far, which a model of the whole space would be slow to try, and one of
a plan on the frontier, so that it grows along its whole length.

Whatever is drawn depends on the seed and on the number of plans finished before, all of which the journal holds: a search
that was stopped goes on as if it had not been.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from discreet.engine.runtime.progress import OutOfTimeError, tell, until
from discreet.errors import PolicyError, SourceError
from discreet.model.policy import Plan
from discreet.selection.evaluate import Evaluator, Outcome
from discreet.selection.frontier import Placed, frontier
from discreet.selection.space import Point, Space
from discreet.selection.trials import Teller

if TYPE_CHECKING:
    from optuna.study import Study

How = Literal["guided", "random"]
_AT_ONCE = 6
"""Starts that are tried before anything else; the others take turns with the search, so that a small budget tunes as well."""
_FINE = ("weight", "suppression", "k")
"""Dimensions that tune finely: they are changed more often than what changes the kind of plan."""
_ASKS_A_PLAN = 6
"""Points that make a plan already tried cost nothing and do not count, but there must be an end."""


_LONGEST = 0.2
"""Share of a search's time that a single plan may take; only a search by the clock stops one."""


@dataclass(frozen=True)
class Budget:
    """Whichever ends first: so many different plans, or a moment of the clock.

    ``ending`` are the seconds that will be needed after the search, besides twice those of the plan that it finds.
    """

    trials: int | None
    deadline: float | None
    ending: float = 0.0

    def left(self, tried: int, last: float, best: float) -> bool:
        """Whether another plan fits in, one as long as the last, where the best so far took so many seconds."""
        if self.trials is not None and tried >= self.trials:
            return False
        return self.deadline is None or time.monotonic() + last < self.end(best)

    def end(self, best: float) -> float:
        """When the search itself must have ended."""
        return math.inf if self.deadline is None else self.deadline - self.ending - (2 * best if self.ending else 0.0)


@dataclass(frozen=True)
class Tried:
    """A plan that was tried, with the point that made it."""

    point: Point
    plan: Plan
    outcome: Outcome


def storage_of(journal: Path | None) -> Any:
    """Where a search is kept: a file that survives, or memory."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if journal is None:
        return optuna.storages.InMemoryStorage()
    from discreet.selection.journal import backend

    try:
        return optuna.storages.JournalStorage(backend(journal))
    except OSError as error:
        raise SourceError(f"{journal}: the search cannot be kept there: {error.strerror}") from None
    except ValueError:
        raise SourceError(f"{journal}: this is not the file of an earlier search; name a new file") from None


class Search:
    """One study: points to plans to outcomes, kept in a storage."""

    def __init__(
        self, name: str, space: Space, build: Callable[[Point], Plan], evaluate: Evaluator, storage: Any, *,
        limits: Sequence[str], seed: int, fingerprint: str, how: How = "guided", teller: Teller | None = None, whole: bool = True,
        key: str | None = None,
    ) -> None:  # fmt: skip
        import optuna

        self.name, self.space, self.build, self.evaluate, self.seed, self.how = name, space, build, evaluate, seed, how
        self.limits = tuple(limits)
        self.teller, self.whole = teller or Teller(None), whole
        self.study: Study = optuna.create_study(
            storage=storage, study_name=name, directions=["minimize", "minimize"], load_if_exists=True
        )
        known = self.study.user_attrs.get("fingerprint")
        if known is None:
            self.study.set_user_attr("fingerprint", fingerprint)
            self.study.set_user_attr("key", key)
        elif known != fingerprint:
            raise PolicyError(
                "the file to resume from belongs to a search on other data, another policy or another seed; name a new file"
            )
        self.distributions = {name: _distribution(space, name) for name in space.choices}
        self.seconds = 0.0
        self.tried: list[Tried] = []
        self.seen: dict[str, Outcome] = {}
        self.asked = 0
        self._load()

    def _load(self) -> None:
        """What an earlier run has left; a trial that it did not finish is given up, and its turn comes again."""
        from optuna.trial import TrialState

        for trial in self.study.get_trials(deepcopy=False):
            if trial.state is TrialState.COMPLETE:
                self.asked += 1
                if "outcome" in trial.user_attrs:
                    self._keep(dict(trial.params), Outcome(**trial.user_attrs["outcome"]))
            elif trial.state is TrialState.WAITING:
                self.study.tell(self.study.ask(), state=TrialState.FAIL)  # only what was asked for can be given up
            elif not trial.state.is_finished():
                self.study.tell(trial.number, state=TrialState.FAIL)

    def run(self, budget: Budget, starts: Sequence[Point]) -> list[Tried]:
        """Try plans until the budget is spent, the starts first; a plan that the clock stops is not the search's any more."""
        last, best, first = 0.0, 0.0, time.monotonic()
        while budget.left(len(self.tried), last, best) and self.asked < _ASKS_A_PLAN * (budget.trials or 10**9):
            number = len(self.tried)
            self._tell(budget)
            longest = None if budget.deadline is None else _LONGEST * (budget.deadline - first)
            end = budget.end(best)
            try:
                tried = self._one(starts, end, longest)
            except OutOfTimeError:
                break
            if tried:
                ran = [one.outcome.seconds for one in self.tried if one.outcome.error is None]
                best = 0.0 if self.best().outcome.error is not None else self.best().outcome.seconds
                # as long as half of the plans are: one that is longer is stopped when the time is over
                last = median(ran) if ran else 0.0
            elif budget.trials is None and self.asked > _ASKS_A_PLAN * (number + 50):
                break  # only a search by the clock: there is nothing new left to try
        self.seconds += time.monotonic() - first
        return self.tried

    def _one(self, starts: Sequence[Point], end: float, longest: float | None) -> bool:
        """One turn: draw a point, and try its plan unless it was tried before."""
        from optuna.samplers import RandomSampler, TPESampler

        key = int.from_bytes(hashlib.blake2b(f"{self.seed}:{self.name}:{self.asked}".encode(), digest_size=4).digest())
        point = self._given(starts, random.Random(key))  # noqa: S311 - a search, not a secret
        if point is not None:
            self.study.enqueue_trial(point)
        self.study.sampler = RandomSampler(key) if self.how == "random" else TPESampler(seed=key, n_startup_trials=1)
        trial = self.study.ask(self.distributions)
        plan = self.build(dict(trial.params))
        known = self.seen.get(_text(plan))
        outcome = known or self._outcome(trial.number, plan, end, longest)
        trial.set_constraint("runs", 0.0 if outcome.error is None else 1.0)
        for limit in self.limits:
            trial.set_constraint(limit, outcome.missed.get(limit, 0.0 if outcome.error is None else 1.0))
        if known is None:
            trial.set_user_attr("outcome", asdict(outcome) | {"seconds": 0.0})
        self.study.tell(trial, [outcome.risk, outcome.loss])
        self.asked += 1
        if known is None:
            self._keep(dict(trial.params), outcome)
        return known is None

    def _outcome(self, number: int, plan: Plan, end: float, longest: float | None) -> Outcome:
        """What a plan leads to; one that takes too long is one that cannot be used, unless the search itself is over."""
        from optuna.trial import TrialState

        began = time.monotonic()
        try:
            with until(None if longest is None else min(end, began + longest)):
                return self.evaluate(plan)
        except OutOfTimeError:
            seconds = time.monotonic() - began
            if time.monotonic() >= end:
                self.study.tell(number, state=TrialState.FAIL)
                raise
            return Outcome(self.evaluate.worst, 1.0, error=f"it was stopped after {seconds:.0f} seconds", seconds=seconds)

    def _given(self, starts: Sequence[Point], rng: random.Random) -> Point | None:
        """A start that is left, or a neighbour of the best or of the frontier; None where the sampler is to draw."""
        at = self.asked if self.asked < _AT_ONCE else _AT_ONCE + (self.asked - _AT_ONCE) // 2
        if at < len(starts) and (self.asked < _AT_ONCE or (self.asked - _AT_ONCE) % 2 == 0):
            return dict(starts[at])
        if self.how == "random" or (self.asked % 4 == 0 and at >= len(starts)) or not self.tried:
            return None
        around = self._edge(rng) if self.asked % 4 == 3 else self.best()
        names = list(self.space.choices)
        likely = [_likely(name, around.outcome.lost) for name in names]
        for _ in range(20):
            point = dict(around.point)
            for name in dict.fromkeys(rng.choices(names, likely, k=rng.choice((1, 1, 2, 3)))):
                choices = list(self.space.choices[name])
                at = choices.index(point[name])
                if name in self.space.ordered:
                    at = min(max(at + rng.choice((-2, -1, 1, 2)), 0), len(choices) - 1)
                else:
                    at = rng.randrange(len(choices))
                point[name] = choices[at]
            if _text(self.build(point)) not in self.seen:
                return point
        return None

    def _edge(self, rng: random.Random) -> Tried:
        """A plan of the frontier, of those within the limits where there are any."""
        ran = [one for one in self.tried if one.outcome.error is None]
        some = [one for one in ran if one.outcome.kept] or ran or self.tried
        places = [Placed(str(at), one.outcome.risk, one.outcome.loss) for at, one in enumerate(some)]
        return some[int(rng.choice(frontier(places)).name)]

    def best(self) -> Tried:
        """The plan that keeps all limits at the least loss; the nearest to it where none does."""
        return min(self.tried, key=lambda one: one.outcome.rank)

    def _keep(self, point: Point, outcome: Outcome) -> None:
        plan = self.build(point)
        self.seen[_text(plan)] = outcome
        self.tried.append(Tried(point, plan, outcome))
        self.teller.tell(plan, outcome, whole=self.whole)

    def _tell(self, budget: Budget) -> None:
        if not self.tried:
            told = "searching"
        else:
            one = self.best().outcome
            told = f"best so far: loss {one.loss:.4g}" + ("" if one.kept else f", not within {', '.join(one.missed) or 'limits'}")
        number = "1 plan" if len(self.tried) == 1 else f"{len(self.tried):,} plans"
        tell(f"select, {self.name}, {number}, {told}", len(self.tried), budget.trials or 0)


def _likely(name: str, lost: Mapping[str, float]) -> float:
    """How often a dimension is changed: those that tune finely more often, of attributes those that lose most."""
    kind, _, attribute = name.partition(":")
    if not attribute:
        return 4.0 if kind in _FINE else 1.0
    total = sum(lost.values())
    # as much for all attributes together as for a few other dimensions, half of it by what they lose
    share = (lost.get(attribute, 0.0) / total if total else 0.0) + 1 / max(len(lost), 6)
    return 6.0 * share


def _text(plan: Plan) -> str:
    return json.dumps(plan.model_dump(mode="json"), sort_keys=True)


def _distribution(space: Space, name: str) -> Any:
    from optuna.distributions import CategoricalDistribution, IntDistribution

    choices = list(space.choices[name])
    if name in space.ordered and choices == list(range(len(choices))) and len(choices) > 1:
        return IntDistribution(0, len(choices) - 1)
    return CategoricalDistribution(choices)
