"""The measurements of an assessment: every risk before and after, within the time there is, with reasons where one is missing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from discreet.assessment.known_scores import KnownScores
from discreet.assessment.verdicts import limits_of
from discreet.engine.runtime.dispatch import is_distributed
from discreet.engine.runtime.progress import OutOfTimeError, stop_after
from discreet.errors import DataError, MemoryLimitError, UnexplainedCellError
from discreet.model.contracts import RiskMeasure
from discreet.model.engine_work import engine_label
from discreet.model.microdata import Microdata
from discreet.model.score import Score

_SECONDS = 60.0
"""What one measurement may spend on bringing the bounds of its numbers to one side of the limits on them."""
_LEAST_SECONDS = 2.0
"""The same where the deadline has passed: as much as a search spends on each plan."""
NO_TIME = "there was no time left for it; 'discreet assess' measures it"
_ONLY_SAMPLED = "this is the number of a sample: there was no time left to measure everybody; 'discreet assess' does"


@contextmanager
def explain_missing(name: str, missing: dict[str, str]) -> Iterator[None]:
    """Keep the reason why a measure could not be taken."""
    try:
        yield
    except UnexplainedCellError:  # nobody knows what was released: that is wrong input, and no verdict can be given at all
        raise
    except (DataError, MemoryLimitError) as error:
        missing[name] = str(error)
    except MemoryError:
        missing[name] = "there is not enough memory for it"
    except OutOfTimeError:
        missing[name] = NO_TIME


class Measurements:
    """The scores of an assessment, and why those are missing that could not be taken."""

    def __init__(
        self, original: Microdata, masked: Microdata, deadline: float | None, *, patient: bool, last: float | None,
        written: Microdata | None = None, known: KnownScores | None = None,
    ) -> None:  # fmt: skip
        self.known = known or KnownScores()
        self.original, self.masked, self.deadline, self.patient, self.last = original, masked, deadline, patient, last
        self.written = masked if written is None else written
        """The masked table without columns that are left out of what is written."""
        self.before: dict[str, Score] = {}
        self.after: dict[str, Score] = {}
        self.informed: dict[str, Score] = {}
        self.missing: dict[str, str] = {}
        self.bound: set[str] = set()
        """The measures that cannot be taken without the original values."""
        self.sampled: dict[str, str] = {}
        """The measures that are those of a sample, because there was no time for all, with this reason."""

    def measure_limited(self, measure: RiskMeasure) -> None:
        """Measure a risk that a limit names: until the last moment, but for the informed intruder."""
        self._measure(measure, self.last, self.last if self.patient else self.deadline)

    def measure_if_time(self, measure: RiskMeasure) -> None:
        """Measure a risk that no limit names."""
        self._measure(measure, self.deadline, self.deadline)

    def _measure(self, measure: RiskMeasure, last: float | None, informed_until: float | None) -> None:
        """Before and after; what cannot be measured before is not measured after either, so that both can be compared."""
        if self._is_known(measure):
            return
        with explain_missing(measure.name, self.missing), stop_after(last):
            self._measure_before(measure)
        if measure.name in self.before:
            with explain_missing(measure.name, self.missing), stop_after(last):
                self._measure_after(measure, informed_until)

    def cover(self, covering: Covering, doubts: Sequence[str]) -> None:
        """Measure the coverage of the original and of the release."""
        name = covering.measure.name
        known = self.known.after.get(name) if self.known.measures.get(name) == covering.measure and not doubts else None
        with explain_missing(name, self.missing), stop_after(self.deadline):
            self.before[name], self.after[name] = _cover(covering, self.original, doubts, known)

    def _is_known(self, measure: RiskMeasure) -> bool:
        """Take the scores of an equal measure that are known already; False if there are none."""
        name, required = measure.name, measure.needs_original(self.masked)
        uses_informed = measure.uses_original(self.masked) and not required
        if not self.known.has(measure, informed=uses_informed):
            return False
        self.before[name], self.after[name] = self.known.before[name], self.known.after[name]
        if required:
            self.bound.add(name)
        elif uses_informed:
            self.informed[name] = self.known.informed[name]
        return True

    def _measure_before(self, measure: RiskMeasure) -> None:
        if measure.name in self.before:
            return
        needs_original = measure.needs_original(self.original)
        measure = measure if self.last is None else measure.sampled()
        self.before[measure.name] = measure.measure(self.original, original=self.original if needs_original else None)

    def _measure_after(self, measure: RiskMeasure, informed_until: float | None) -> None:
        name, required = measure.name, measure.needs_original(self.masked)
        released = self.written if measure.judges_written else self.masked
        measure = measure.for_limits(limits_of(name, self.original.policy), seconds=self._seconds_per_decision())
        if required:
            self.bound.add(name)
        original = self.original if required else None
        sample = measure if self.last is None else measure.sampled()
        if sample != measure:  # under a clock a number of a sample comes first: it is known whatever happens
            self.after[name] = sample.measure(released, original=original)
            try:
                self.after[name] = measure.measure(released, original=original)
            except OutOfTimeError:
                self.sampled[name] = _ONLY_SAMPLED
        else:
            self.after[name] = measure.measure(released, original=original)
        if measure.uses_original(self.masked) and not required:
            with stop_after(informed_until):
                self.informed[name] = measure.measure(self.masked, original=self.original)

    def _seconds_per_decision(self) -> float:
        if self.deadline is None:
            return _SECONDS
        return min(_SECONDS, max(_LEAST_SECONDS, self.deadline - time.monotonic()))


@dataclass(frozen=True)
class Covering:
    """The measure ``coverage``, and the release as it is written: without identifiers that are never written."""

    measure: RiskMeasure
    released: Microdata


def _cover(covering: Covering, original: Microdata, doubts: Sequence[str], known: Score | None) -> tuple[Score, Score]:
    """Coverage of the original and of the release, which may be ``known``.

    Masked values are only compared where it is certain which row is whose.
    """
    measure, released = covering.measure, covering.released
    if is_distributed(released):
        raise DataError(f"it does not run on {engine_label(released.engine)}; read both tables on the local engine")
    before = measure.measure(original)
    if known is not None:
        return before, known
    if not doubts:
        return before, measure.measure(released, original=original)
    after = measure.measure(released)
    if original.policy.judge == "both":
        after.gaps = (*after.gaps, f"it was not measured whether masked values can be restored, because {doubts[0]}")
    return before, after
