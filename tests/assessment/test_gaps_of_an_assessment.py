"""What an assessment leaves open, piece by piece: gaps in the limits, measures that could not be taken, links in doubt."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet.assessment import assess, limit_gaps
from discreet.assessment.measurements import Covering, Measurements, _cover, explain_missing
from discreet.engine.runtime.progress import OutOfTimeError, report_progress
from discreet.errors import DataError, MemoryLimitError, UnexplainedCellError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.results import KNOWS_ORIGINALS, NO_LIMITS, NO_RISK_LIMIT, RELEASE_ALONE, Assessment, Verdict
from discreet.model.score import Score


def table(limits: dict[str, float] | None = None, persons: tuple[str, ...] = ("a", "a", "b"), **more: Any) -> Microdata:
    attributes = {"who": {"role": "person"}, "age": {"role": "key"}}
    frame = pl.DataFrame({"who": persons, "age": [30, 30, 40][: len(persons)]})
    return Microdata(frame, Policy.from_dict({"attributes": attributes, "limits": limits or {}, **more}))


@pytest.mark.parametrize(
    ("limits", "persons", "gaps"),
    [
        ({}, ("a", "a", "b"), [NO_LIMITS]),
        ({"ncp.loss": 0.1}, ("a", "a", "b"), [NO_RISK_LIMIT]),
        ({"k_anonymity.k": 2, "ncp.loss": 0.1}, ("a", "b", "c"), []),
        ({"k_anonymity.k": 2, "repeated_records.min_persons": 2}, ("a", "a", "b"), []),
    ],
)
def test_limits_must_judge_disclosure(limits: dict[str, float], persons: tuple[str, ...], gaps: list[str]) -> None:
    assert limit_gaps.gaps_in_limits(table(limits, persons)) == gaps


def test_limits_that_count_records_leave_open_what_persons_risk() -> None:
    [gap] = limit_gaps.gaps_in_limits(table({"k_anonymity.k": 2}))
    assert gap.startswith("'who' has several records per person (3 records, 2 persons)")
    without_persons = Policy.from_dict({"attributes": {"age": {"role": "key"}}, "limits": {"k_anonymity.k": 2}})
    assert limit_gaps.gaps_in_limits(Microdata(pl.DataFrame({"age": [1, 1]}), without_persons)) == []


@pytest.mark.parametrize(("share", "beyond", "worst"), [(0.99, False, False), (1.0, False, True), (1.01, True, False)])
def test_a_limit_at_its_worst_number_judges_nothing_and_one_beyond_it_is_a_gap(share: float, beyond: bool, worst: bool) -> None:
    policy = table({"known_sets.high_risk_share": share, "known_sets.mean": 9.0}).policy
    assert len(limit_gaps.limits_out_of_range(policy)) == beyond
    assert len(limit_gaps.limits_at_the_worst(policy)) == worst
    assert all(f"known_sets.high_risk_share: {share:g}" in text for text in limit_gaps.limits_out_of_range(policy))


@pytest.mark.parametrize(
    ("deadline", "least", "most"), [(None, 60, 60), (1000.0, 60, 60), (20.0, 15, 20), (1.0, 2, 2), (-50.0, 2, 2)]
)
def test_deciding_a_limit_takes_a_minute_at_most_and_two_seconds_at_least(deadline: float | None, least: int, most: int) -> None:
    end = None if deadline is None else time.monotonic() + deadline
    seconds = Measurements(table(), table(), end, patient=False, last=None)._seconds_per_decision()
    assert least <= seconds <= most


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (DataError("no key"), "no key"),
        (MemoryLimitError("it needs 9 GB"), "it needs 9 GB"),
        (MemoryError(), "there is not enough memory for it"),
        (OutOfTimeError(), "there was no time left for it; 'discreet assess' measures it"),
    ],
)
def test_a_measure_that_cannot_be_taken_says_why(error: Exception, reason: str) -> None:
    missing: dict[str, str] = {}
    with explain_missing("k_anonymity", missing):
        raise error
    assert missing == {"k_anonymity": reason}


def test_a_cell_that_nobody_can_explain_ends_the_assessment() -> None:
    missing: dict[str, str] = {}
    with pytest.raises(UnexplainedCellError), explain_missing("k_anonymity", missing):
        raise UnexplainedCellError("what is '??'")
    assert missing == {}


@dataclass
class Recorder:
    """A measure that remembers whether it was given the original table."""

    needs: bool
    uses: bool
    name: str = "recorder"
    judges_written: bool = False
    calls: list[bool] = field(default_factory=list)

    def needs_original(self, data: Microdata) -> bool:
        return self.needs

    def uses_original(self, data: Microdata) -> bool:
        return self.uses

    def for_limits(self, limits: Any, seconds: float) -> Recorder:
        return self

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        self.calls.append(original is not None)
        return Score(self.name, {"number": len(self.calls)})


@pytest.mark.parametrize(
    ("needs", "uses", "calls", "informed"),
    [(False, False, [False], False), (False, True, [False, True], True), (True, True, [True], False)],
)
def test_the_informed_intruder_is_measured_once_where_originals_make_a_difference(
    needs: bool, uses: bool, calls: list[bool], informed: bool
) -> None:
    measure: Any = Recorder(needs, uses)
    taken = Measurements(table(), table(), None, patient=False, last=None)
    taken._measure_after(measure, None)
    assert (measure.calls, "recorder" in taken.informed, "recorder" in taken.bound) == (calls, informed, needs)


@pytest.mark.parametrize(
    ("judge", "doubts", "calls", "gaps"),
    [("both", [], [False, True], 0), ("both", ["rows are in doubt"], [False, False], 1), ("release", ["x"], [False, False], 0)],
)
def test_coverage_compares_masked_values_only_where_it_is_certain_which_row_is_whose(
    judge: str, doubts: list[str], calls: list[bool], gaps: int
) -> None:
    measure: Any = Recorder(False, True)
    original = table({"k_anonymity.k": 2}, judge=judge)
    _, after = _cover(Covering(measure, table()), original, doubts, None)
    assert measure.calls == calls
    assert len(after.gaps) == gaps
    assert all(doubts[0] in gap for gap in after.gaps)


def test_a_known_coverage_of_the_release_is_not_measured_again() -> None:
    measure: Any = Recorder(False, True)
    known = Score("coverage", {"gaps": 0})
    _, after = _cover(Covering(measure, table()), table({"k_anonymity.k": 2}), [], known)
    assert after is known
    assert measure.calls == [False]


def verdict(limit: str, intruder: str | None, informed: float | None, status: Any = "met") -> Verdict:
    return Verdict(limit, 2.0, 3.0, status, "k is 3", intruder, 3.0, informed)


@pytest.mark.parametrize(
    ("limit", "intruder", "informed", "judge", "uses"),
    [
        ("k_anonymity.k", KNOWS_ORIGINALS, 3.0, "release", True),
        ("k_anonymity.k", RELEASE_ALONE, 3.0, "both", True),
        ("k_anonymity.k", RELEASE_ALONE, 3.0, "release", False),
        ("k_anonymity.k", RELEASE_ALONE, None, "both", False),
        ("ncp.loss", None, None, "release", True),
    ],
)
def test_verdicts_on_loss_and_on_the_informed_intruder_rest_on_the_links_of_rows(
    limit: str, intruder: str | None, informed: float | None, judge: str, uses: bool
) -> None:
    assert assess._uses_links(verdict(limit, intruder, informed), judge) is uses


def test_what_is_met_by_links_in_doubt_is_incomplete_and_what_is_not_met_stays_so() -> None:
    doubted = assess._doubted(verdict("k_anonymity.k", None, None), "rows are in doubt")
    assert (doubted.status, doubted.sentence) == ("incomplete", "k is 3, but rows are in doubt")
    missed = verdict("k_anonymity.k", None, None, "not met")
    assert assess._doubted(missed, "rows are in doubt") == missed


def test_rows_without_an_original_are_counted() -> None:
    data = table()
    assert assess._count_simulated(data) == 0
    assert assess._count_simulated(data.replace(data.frame, np.array([-2, 0, -1]))) == 2
    elsewhere: Any = SimpleNamespace(engine="spark")
    assert assess._count_simulated(elsewhere) == 0, "the rows of a cluster are not looked at for this"


@dataclass
class Watched(Recorder):
    """A measure that can be interrupted, has no original to compare with, and says of each table what it is told to."""

    needs: bool = False
    uses: bool = False
    name: str = "k_anonymity"
    score: Score = field(default_factory=lambda: Score("k_anonymity", {"k": 3}))
    error: DataError | None = None

    def sampled(self) -> Watched:
        return self

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        report_progress("measuring", 0, 1)
        self.calls.append(original is not None)
        if self.error is not None:
            raise self.error
        return self.score


def assessed(measures: list[Any], limits: dict[str, float], **more: Any) -> Assessment:
    judge = more.pop("judge", "both")
    data = table(limits, persons=("a", "b", "c"), judge=judge)
    return assess.assess(data, data, measures, more.pop("losses", {}), **more)


@pytest.mark.parametrize("judge", ["both", "release"])
def test_a_limit_on_a_measure_that_cannot_be_taken_is_incomplete_and_needs_no_warning(judge: str) -> None:
    assessment = assessed([Watched(error=DataError("no key"))], {"k_anonymity.k": 2}, judge=judge)
    [verdict] = assessment.verdicts
    assert (verdict.status, verdict.sentence) == ("incomplete", "k_anonymity.k could not be measured: no key")
    assert assessment.warnings == ()
    assert not assessment.ok


def test_a_measure_without_a_limit_that_cannot_be_taken_is_a_warning() -> None:
    failing = Watched(name="l_diversity", error=DataError("no secret"))
    assessment = assessed([Watched(), failing], {"k_anonymity.k": 2})
    assert assessment.warnings == ("l_diversity could not be measured: no secret",)
    assert assessment.ok


def test_what_cannot_be_measured_before_is_not_measured_after() -> None:
    failing = Watched(error=DataError("no key"))
    assessed([failing], {"k_anonymity.k": 2})
    assert len(failing.calls) == 1


def test_scores_of_the_original_that_are_known_are_not_measured_again() -> None:
    measure, known = Watched(), Score("k_anonymity", {"k": 1})
    assessment = assessed([measure], {"k_anonymity.k": 2}, before={"k_anonymity": known})
    assert len(measure.calls) == 1
    assert (assessment.before["k_anonymity"], assessment.after["k_anonymity"]) == (known, measure.score)


@pytest.mark.parametrize(
    ("deadline", "last", "taken"),
    [(-1.0, None, {"k_anonymity"}), (-1.0, -1.0, set()), (60.0, 60.0, {"k_anonymity", "l_diversity"})],
    ids=["after the deadline", "after the last moment", "in time"],
)
def test_after_the_deadline_only_what_a_limit_names_is_measured(deadline: float, last: float | None, taken: set[str]) -> None:
    now = time.monotonic()
    measures = [Watched(name="l_diversity", score=Score("l_diversity", {})), Watched()]
    ends = {"deadline": now + deadline, "last": None if last is None else now + last}
    assessment = assessed(measures, {"k_anonymity.k": 2}, **ends)
    assert set(assessment.after) == taken


@pytest.mark.parametrize(("largest", "said"), [(0.0, True), (0.1, False)])
def test_a_limit_on_a_risk_that_is_0_before_masking_is_a_gap(largest: float, said: bool) -> None:
    score = Score("known_sets", {"max": 0.0}, bounds={"max": (0.0, largest)})
    assessment = assessed([Watched(name="known_sets", score=score)], {"known_sets.max": 0.2})
    assert any(gap.startswith("known_sets is 0 for every record of the original") for gap in assessment.gaps) is said


def test_gaps_of_scores_and_losses_are_gaps_of_the_assessment_and_each_is_named_once() -> None:
    score, loss = Score("k_anonymity", {"k": 3}, gaps=("a sample",)), Score("ncp", {"loss": 0.1}, gaps=("a sample", "rounded"))
    assessment = assessed([Watched(score=score)], {"k_anonymity.k": 2}, losses={"ncp": loss})
    assert assessment.gaps == ("a sample", "rounded")
