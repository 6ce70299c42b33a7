"""How far the verdicts of known_sets hold: searches along every guess, the box around all guesses, and what each rests on."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.known_sets.effective_size import effective_sizes, is_below
from discreet.engine.known_sets.sums import KnownSets as Sums
from discreet.engine.known_sets.sums import attributes, known_sets
from discreet.engine.runtime.progress import OutOfTimeError, report_progress, stop_after
from discreet.engine.statistics.verdict_search import PRECISION, Side, search_line
from discreet.errors import DataError, ParameterError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.results import Status
from discreet.model.sensitivity import Box, LimitStatus, Reach, Sensitivity
from discreet.model.threshold import Among
from discreet.risks.known_sets.sensitivity.counted import Counted, Point, Spec
from discreet.risks.known_sets.sensitivity.curve import threshold_curve
from discreet.risks.known_sets.sensitivity.guesses import at_upper_ends, known_probabilities, largest_half_width, scaled
from discreet.risks.known_sets.sensitivity.influence import Influence
from discreet.risks.known_sets.sensitivity.influence_table import tabulate_influence, tabulate_records
from discreet.risks.known_sets.sensitivity.lines import Line, factor_line, known_line, sensitivity_line
from discreet.risks.known_sets.sensitivity.statuses import Limit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.risks.known_sets.measure import KnownSets

_BASIS = (
    "risk rises with every guess and is linear in each, so its bounds over all known sets decide an interval by its ends; "
    "effective class sizes are certified step by step (docs/theory/sensitivity.md)"
)
_WIDE = 0.02
"""A bracket that is wider, as a share of its value, is narrowed by counting other sets."""
_RECOUNTS = 3


def examine(
    measure: KnownSets, data: Microdata, limits: Mapping[str, float], originals: Sequence[Microdata | None], seconds: float, *,
    one_by_one: bool,
) -> Sensitivity:  # fmt: skip
    """Examine the limits (field: number) against every intruder in ``originals`` (None: the release alone)."""
    _require_products(measure, data.policy)
    return Examination(measure, data, limits, originals, time.monotonic() + seconds).run(one_by_one=one_by_one)


def _require_products(measure: KnownSets, policy: Policy) -> None:
    """Raise where the likelihood of a set is not the product of one probability per attribute: the proofs are about that one."""
    readings = {
        "knowledge: independent": measure.knowledge != "products",
        "known_together": bool(policy.known_together),
        "scenarios": bool(policy.scenarios),
    }
    if used := [reading for reading, is_used in readings.items() if is_used]:
        raise DataError(
            f"known_sets: how far a verdict holds is examined for products of one probability per attribute, not with "
            f"{' and '.join(used)}; leave it out, or give each case its own policy"
        )


class Examination:
    """One table under one policy, with the counts that all searches share."""

    def __init__(
        self, measure: KnownSets, data: Microdata, limits: Mapping[str, float], originals: Sequence[Microdata | None],
        deadline: float,
    ) -> None:  # fmt: skip
        self.measure, self.data, self.deadline = measure, data, deadline
        self.originals = list(originals)
        self.unsearched: list[str] = []
        self.policy = at_upper_ends(data.policy)
        self.table = data.with_policy(self.policy)
        every = [
            Limit(field, required, measure.better[field], measure.threshold, measure.alpha) for field, required in limits.items()
        ]
        self.limits = [limit for limit in every if limit.is_examined]
        self.notes = [f"{limit.name} does not measure risk, so it is not examined" for limit in every if not limit.is_examined]
        if data.policy.ranges:
            self.notes.append("the policy has ranges: the guesses as given are their upper ends, on which limits are judged")
        names = attributes(self.table)
        self.specs = [
            Spec(
                self.table, original, [name for name in names if original is None or name in original.columns], measure.epsilon,
                measure.max_sets, measure.missing,
            )
            for original in self.originals
        ]  # fmt: skip
        self.names = names
        self.counted = [Counted(spec, known_probabilities(self.policy, spec.names)) for spec in self.specs]
        self.given = self._points(self.policy)
        # a risk of 0 says nothing where nothing could be learnt whatever was known
        is_empty = not any((point.upper + point.alone).any() for point in self.given)
        self.status: dict[str, Status] = {
            limit.field: "incomplete" if is_empty else limit.status_over(self.given, self.given, margin=0.0)
            for limit in self.limits
        }

    def run(self, *, one_by_one: bool) -> Sensitivity:
        """Everything, the most important first; what there was no time for is named in the notes."""
        verdicts = []
        for limit in self.limits:
            low, high = limit.bounds_over(self.given, self.given, margin=0.0) or (None, None)
            verdicts.append(LimitStatus(limit.name, limit.required, self.status[limit.field], low, high, limit.better))
        sums = [self._sums(original) for original in self.originals]
        worst = max(range(len(sums)), key=lambda at: float(sums[at].per_record.risk.sum()))
        influence = self._influence(sums[worst], worst)
        risk = self._of_queries(sums[worst], influence)
        table = tabulate_influence(influence, risk, self.measure.threshold, self.measure.alpha, self._high_risk(sums[worst]))
        curve = threshold_curve(
            self.given,
            [self._kept_values(scenario_sums, at) for at, scenario_sums in enumerate(sums)],
            self.measure.threshold,
            self.measure.alpha,
        )
        reaches = self._try_reaches(factor_line(self.policy, self.names, self.counted), "a factor on all probabilities")
        box = self._box() if self.limits else None
        for line in self._single_guesses() if one_by_one else ():
            reaches += self._try_reaches(line, f"{line.kind} of {line.attribute}")
        if self.unsearched:
            self.notes.append(f"the time was up before these were searched: {', '.join(self.unsearched)}; give more seconds")
        threshold = self.measure.threshold
        return Sensitivity(
            "known_sets", len(self.data), tuple(verdicts), tuple(reaches), box, curve, table,
            threshold.among if isinstance(threshold, Among) else threshold, _BASIS, tuple(dict.fromkeys(self.notes)),
            lambda: tabulate_records(influence, len(self.data)),
        )  # fmt: skip

    def _points(self, policy: Policy) -> list[Point]:
        return [counted.point_at(policy) for counted in self.counted]

    def _single_guesses(self) -> Iterator[Line]:
        for at, name in enumerate(self.names):
            report_progress("searching where verdicts change, guess by guess", at, len(self.names))
            yield known_line(self.policy, name, self.counted)
            if self.policy.attributes[name].sensitivity > 0:
                yield sensitivity_line(self.policy, name, self.counted)

    def _reaches(self, line: Line) -> list[Reach]:
        """How far each verdict holds along one line."""
        if line.kind == "known" and line.given == 0 and any(status != "incomplete" for status in self.status.values()):
            line = line.recentred(0.5)  # its sets were not counted: nobody was thought to know it
        verdicts = []
        for limit in self.limits:
            status = self.status[limit.field]
            if status == "incomplete":
                continue
            down, up = (self._search(limit, status, line, end) for end in line.span)
            verdicts.append(
                Reach(
                    limit.name, line.kind, line.attribute, line.given, status, down.holds, up.holds, down.flipped, up.flipped,
                    line.span,
                )
            )  # fmt: skip
        return verdicts

    def _search(self, limit: Limit, status: Status, line: Line, end: float) -> Side:
        """Search one direction; where left-out sets keep a zone open, count the sets anew that matter there."""
        rises = (end > line.given) == (limit.better == "low")
        if limit.is_monotone and rises == (status == "not met"):
            return Side(end, None)  # what is met stays so where risk falls, and what is not met where it rises
        side = Side(line.given, None)
        for attempt in range(_RECOUNTS):

            def between(low: float, high: float, line: Line = line) -> Status:
                return limit.status_over(line.points(low), line.points(high))

            flip = search_line(between, status, line.given, end, monotone=limit.is_monotone)
            side = _better(side, flip, line.given)
            beyond = end if side.flipped is None else side.flipped
            gap = abs(beyond - side.holds)
            if gap <= _WIDE * max(abs(side.holds), abs(beyond)) or all(part.is_complete for part in line.counted):
                break
            if attempt + 1 == _RECOUNTS or not limit.is_monotone or time.monotonic() > self.deadline:
                break
            try:
                line = line.recentred((side.holds + beyond) / 2)
            except (ParameterError, DataError):  # more sets than may be counted
                break
        return side

    def _box(self) -> Box:
        """The largest half-width at which the corners of the box decide every verdict as it is; bisection."""
        decided = [limit for limit in self.limits if self.status[limit.field] != "incomplete"]
        undecided = tuple(limit.name for limit in self.limits if self.status[limit.field] == "incomplete")
        names = tuple(limit.name for limit in decided)
        if not decided:
            return Box(0.0, False, (), undecided)

        def holds(half_width: float) -> bool:
            low, high = (
                self._points(scaled(self.policy, self.names, factor)) for factor in (max(1 - half_width, 0.0), 1 + half_width)
            )
            return all(limit.status_over(low, high) == self.status[limit.field] for limit in decided)

        largest = largest_half_width(self.policy, self.names)
        holds_to, open_from = 0.0, largest
        try:
            with self._allowed():
                if holds(largest):
                    return Box(largest, True, names, undecided)
                if open_from > 1 and holds(1.0):
                    holds_to = 1.0
                elif open_from > 1:
                    open_from = 1.0
                while open_from - holds_to > max(PRECISION * open_from, 1e-5):
                    report_progress("searching the box in which verdicts hold", int(1000 * holds_to), 1000)
                    middle = (holds_to + open_from) / 2
                    holds_to, open_from = (middle, open_from) if holds(middle) else (holds_to, middle)
        except OutOfTimeError:
            return Box(holds_to, False, names, undecided, complete=False)
        return Box(holds_to, False, names, undecided)

    def _sums(self, original: Microdata | None) -> Sums:
        measure = self.measure
        return known_sets(
            self.table, epsilon=measure.epsilon, max_sets=measure.max_sets, missing=measure.missing, original=original
        )

    def _influence(self, sums: Sums, at: int) -> Influence:
        return Influence(self.table, sums.names, sums.tree, sums.slots, self.measure.missing, self.originals[at])

    def _of_queries(self, sums: Sums, influence: Influence) -> NDArray[np.float64]:
        """The risk of each query, with alpha."""
        return np.asarray(sums.per_record.risk[influence.first] * self.measure.alpha)

    def _sizes_of(self, sums: Sums) -> NDArray[np.float64]:
        own = sums.per_record
        return effective_sizes(
            own.risk, own.lower, own.upper, sums.consequence, own.kept_mass, own.whole_mass, len(self.data)
        ).value

    def _kept_values(self, sums: Sums, at: int) -> NDArray[np.float64]:
        """The risk, or the size, of each counted query over the sets that epsilon keeps."""
        values = (
            self._sizes_of(sums)
            if isinstance(self.measure.threshold, Among)
            else np.asarray(sums.per_record.risk * self.measure.alpha)
        )
        counted = self.counted[at]
        return values[np.searchsorted(sums.slots, counted.rows)]

    def _high_risk(self, sums: Sums) -> int:
        threshold = self.measure.threshold
        if isinstance(threshold, Among):
            return int(is_below(self._sizes_of(sums), threshold.among).sum())
        return int((sums.per_record.risk * self.measure.alpha > threshold).sum())

    @contextmanager
    def _allowed(self) -> Iterator[None]:
        with stop_after(self.deadline):
            yield

    def _try_reaches(self, line: Line, what: str) -> list[Reach]:
        """How far each verdict holds along one line; nothing but a note where the time is up."""
        try:
            with self._allowed():
                report_progress("searching where verdicts change", 0, 1)
                return self._reaches(line)
        except OutOfTimeError:
            self.unsearched.append(what)
            return []


def _better(old: Side, new: Side, given: float) -> Side:
    """Of two certain answers the one that says more: the farther value that holds, the nearer one that does not."""
    holds = max((old.holds, new.holds), key=lambda value: abs(value - given))
    flipped = [value for value in (old.flipped, new.flipped) if value is not None]
    return Side(holds, min(flipped, key=lambda value: abs(value - given)) if flipped else None)
