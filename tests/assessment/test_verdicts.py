"""The verdict: three states, the worse of two intruders, and nothing green that the evidence does not cover."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.assessment.verdicts import Evidence, judge_limit
from discreet.errors import DataError, MemoryLimitError
from discreet.model.microdata import Microdata
from discreet.model.results import KNOWS_ORIGINALS, NO_LIMITS, RELEASE_ALONE
from discreet.model.score import Score
from discreet.risks.known_sets.measure import KnownSets
from discreet.testing import patients as patients_with_ids
from discreet.testing import students, table


def patients(records: int) -> Microdata:
    """Patients without their ids, which no release may hold."""
    return patients_with_ids(records).drop(["patient"])


LIMIT = "known_sets.max"


def with_limits(data: Microdata, limits: dict[str, float], **more: Any) -> Microdata:
    return data.with_policy(data.policy.with_(limits=limits, **more))


def evidence(alone: float | None, informed: float | None, **more: Any) -> Evidence:
    scores = [{} if number is None else {"known_sets": Score("known_sets", {"max": number})} for number in (alone, informed)]
    return Evidence(release=scores[0], informed=scores[1], **more)


def test_a_limit_met_on_the_release_alone_is_not_met_where_the_informed_intruder_breaks_it() -> None:
    """Finding 5: 'target_linkage.max 0.0828, kept' although the intruder who knows the original values links with certainty."""
    towns = [f"town {at // 13}" for at in range(130)]
    data = table({"age": [77 if at % 13 == 0 else 30 for at in range(130)], "town": towns}, key=["age", "town"])
    data = with_limits(data, {"target_linkage.max": 0.09}, risk={"target_linkage": {}})
    blanked = data.frame.with_columns(age=pl.when(pl.col("age") != 77).then(pl.col("age")))
    found = discreet.assess(data, data.replace(blanked, data.records))
    verdict = found.verdicts[0]
    assert verdict.measured_release == pytest.approx(1 / 13)  # a blank agrees with its whole town
    assert verdict.measured_informed == verdict.found == 1.0  # nobody but the blank record can be 77
    assert (found.status, found.ok, verdict.kept, verdict.intruder) == ("not met", False, False, KNOWS_ORIGINALS)
    given_up = discreet.assess(data.with_policy(data.policy.with_(judge="release")), data.replace(blanked, data.records))
    assert (given_up.status, given_up.verdicts[0].intruder) == ("met", RELEASE_ALONE)


@given(
    alone=st.one_of(st.none(), st.floats(0, 1)),
    informed=st.one_of(st.none(), st.floats(0, 1)),
    required=st.floats(0, 1),
    judge=st.sampled_from(["both", "release"]),
)
def test_a_limit_is_met_only_where_every_number_it_is_judged_on_meets_it(
    alone: float | None, informed: float | None, required: float, judge: Any
) -> None:
    missing = {} if informed is not None else {"known_sets": "out of memory"}
    found = judge_limit(LIMIT, required, evidence(alone, informed, missing=missing, judge=judge))
    asked = [alone] if judge == "release" else [alone, informed]
    if any(number is not None and number > required for number in asked):
        assert found.status == "not met"
    elif None in asked:
        assert found.status == "incomplete"
    else:
        assert found.status == "met"
    assert found.kept == (found.status == "met")
    measured = [number for number in asked if number is not None]
    assert found.found == (max(measured) if measured else None)
    assert (found.measured_release, found.measured_informed) == (alone, informed)
    if measured:
        assert found.intruder == (KNOWS_ORIGINALS if alone is None or found.found != alone else RELEASE_ALONE)


def test_a_number_that_is_not_one_is_not_measured() -> None:
    assert judge_limit(LIMIT, 1.0, evidence(math.nan, 0.1)).status == "incomplete"
    assert judge_limit(LIMIT, 1.0, evidence(math.inf, 0.1)).status == "not met"


def test_of_a_limit_from_below_the_smaller_number_is_the_worse_one() -> None:
    scores = [{"decision": Score("decision", {"unmatched": number})} for number in (5, 2)]
    found = judge_limit("decision.unmatched", 3, Evidence(release=scores[0], informed=scores[1]))
    assert (found.status, found.found, found.intruder) == ("not met", 2.0, KNOWS_ORIGINALS)
    assert found.sentence == (
        "decision.unmatched is 2 for an intruder who knows the original values (5 on the release alone); "
        "at least 3 is required (off by 1)"
    )


def test_a_measure_that_needs_the_original_values_is_the_informed_intruders() -> None:
    scores = {"record_linkage": Score("record_linkage", {"correct_share": 0.5})}
    found = judge_limit(
        "record_linkage.correct_share", 0.1, Evidence(release=scores, bound=frozenset({"record_linkage"}), judge="release")
    )
    assert (found.status, found.intruder, found.measured_release, found.measured_informed) == (
        "not met", KNOWS_ORIGINALS, None, 0.5,
    )  # fmt: skip


@pytest.mark.parametrize("error", [DataError("no link"), MemoryLimitError("3 GB are needed"), MemoryError()])
def test_an_informed_number_that_cannot_be_computed_makes_the_limit_incomplete(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = KnownSets.measure

    def fails(self: KnownSets, data: Microdata, *, original: Microdata | None = None) -> Score:
        if original is not None:
            raise error
        return plain(self, data)

    monkeypatch.setattr(KnownSets, "measure", fails)
    data = with_limits(patients(100), {LIMIT: 1e9})
    found = discreet.assess(data, data)
    assert (found.status, found.verdicts[0].status, found.ok) == ("incomplete", "incomplete", False)
    assert discreet.assess(with_limits(data, {LIMIT: 0.0}), data).status == "not met"
    given_up = discreet.assess(with_limits(data, {LIMIT: 1e9}, judge="release"), data)
    assert given_up.status == "met"
    assert given_up.sentences[0].startswith("Judged on the release alone, as the policy says (judge: release)")


def test_a_measure_that_cannot_read_the_release_leaves_the_others_and_is_incomplete(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = KnownSets.measure

    def fails(self: KnownSets, data: Microdata, *, original: Microdata | None = None) -> Score:
        if data.source == "release":
            raise DataError("'20..25' is no number")
        return plain(self, data, original=original)

    monkeypatch.setattr(KnownSets, "measure", fails)
    data = with_limits(patients(100), {LIMIT: 1e9, "k_anonymity.k": 1})
    found = discreet.assess(data, Microdata(data.frame, data.policy, "release"))
    assert [one.status for one in found.verdicts] == ["incomplete", "met"]
    assert found.verdicts[0].sentence == "known_sets.max could not be measured: '20..25' is no number"
    assert found.status == "incomplete"


def test_without_limits_nothing_is_judged() -> None:
    data = patients(50)
    found = discreet.assess(data, data)
    assert (found.status, found.ok, found.gaps) == ("incomplete", False, (NO_LIMITS,))
    assert found.sentences[0] == "Incomplete: the evidence does not cover the release."


def test_a_gap_that_a_measure_reports_makes_a_met_verdict_incomplete(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = KnownSets.measure

    def with_gap(self: KnownSets, data: Microdata, *, original: Microdata | None = None) -> Score:
        score = plain(self, data, original=original)
        score.gaps = () if data.source != "release" else ("nobody looked at 'name'",)
        return score

    monkeypatch.setattr(KnownSets, "measure", with_gap)
    data = with_limits(patients(100), {LIMIT: 1e9})
    release = Microdata(data.frame, data.policy, "release")
    found = discreet.assess(data, release)
    assert (found.status, found.gaps) == ("incomplete", ("nobody looked at 'name'",))
    assert found.sentences == (
        "Incomplete: the evidence does not cover the release, although the one limit is met.",
        "Nobody looked at 'name'.",
    )
    assert discreet.assess(with_limits(data, {LIMIT: 0.0}), release).status == "not met"


def test_rows_that_agree_with_strangers_only_make_the_informed_verdict_incomplete() -> None:
    data = with_limits(students(400), {LIMIT: 1e9, "k_anonymity.k": 1})
    shuffled = data.frame[np.random.default_rng(1).permutation(400)]
    found = discreet.assess(data, Microdata(shuffled, data.policy, "shuffled"))
    assert [one.status for one in found.verdicts] == ["incomplete", "met"]
    assert found.status == "incomplete"
    assert any("no better than unrelated rows" in gap for gap in found.gaps)
    only_release = with_limits(data, {LIMIT: 1e9}, judge="release")
    assert discreet.assess(only_release, Microdata(shuffled, data.policy, "shuffled")).status == "met"


def test_simulated_rows_are_a_gap_where_the_informed_intruder_is_judged() -> None:
    data = with_limits(students(300), {LIMIT: 1e9})
    release = discreet.mask(data, {"steps": [{"method": "simulation", "factor": 0.2}]})
    found = discreet.assess(data, release)
    assert found.status == "incomplete"
    assert "released rows are simulated" in found.gaps[0]
    assert discreet.assess(with_limits(data, {"k_anonymity.k": 1}), release).status == "met"


def test_the_json_keeps_the_old_names_and_adds_the_state_and_both_numbers() -> None:
    data = with_limits(patients(60), {LIMIT: 1e9})
    made = discreet.assess(data, data).to_dict()
    assert (made["ok"], made["status"], made["gaps"]) == (True, "met", [])
    assert list(made["limits"][0]) == [
        "limit", "wanted", "found", "kept", "status", "intruder", "measured_release", "measured_informed", "sentence",
    ]  # fmt: skip


def test_a_number_outside_its_certified_bounds_is_not_shown_beside_a_verdict():
    score = Score("known_sets", {"high_risk_share": 0.0, "undecided": 77}, bounds={"high_risk_share": (0.228, 1.0)})
    verdict = judge_limit("known_sets.high_risk_share", 0.05, Evidence(release={"known_sets": score}))
    assert verdict.status == "not met"
    assert verdict.measured_release == verdict.found == 0.228
