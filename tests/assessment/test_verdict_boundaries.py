"""Verdicts at the limit itself: what is met by equality, what bounds on both sides of a limit say, and what a sentence names."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from discreet.assessment.verdicts import Evidence, judge_limit, limits_of
from discreet.model.policy import Policy
from discreet.model.results import KNOWS_ORIGINALS, RELEASE_ALONE
from discreet.model.score import Score

UNDECIDED = "known_sets.high_risk"


def _evidence(number: float, low: float, high: float, **more: Any) -> Evidence:
    fields = {"high_risk": number, "effective_k_min": number, **more}
    return Evidence(release={"known_sets": Score("known_sets", fields, bounds=dict.fromkeys(fields, (low, high)))})


@pytest.mark.parametrize(("loss", "status"), [(0.05, "met"), (0.0500001, "not met"), (None, "incomplete")])
def test_a_limit_on_loss_is_met_by_equality_and_incomplete_without_a_number(loss: float | None, status: str) -> None:
    verdict = judge_limit("ncp.loss", 0.05, Evidence(losses={"ncp": Score("ncp", {"loss": loss})}))
    assert (verdict.status, verdict.found) == (status, loss)


@pytest.mark.parametrize(("k", "status"), [(5, "met"), (4, "not met")])
def test_a_limit_on_k_is_met_by_equality(k: int, status: str) -> None:
    verdict = judge_limit("k_anonymity.k", 5, Evidence(release={"k_anonymity": Score("k_anonymity", {"k": k})}))
    assert verdict.status == status


def test_a_number_that_is_surely_beyond_its_limit_is_the_measured_one() -> None:
    verdict = judge_limit(UNDECIDED, 3, _evidence(7, 5, 12))
    assert (verdict.status, verdict.found) == ("not met", 7)


def test_a_number_that_seems_to_meet_a_limit_which_its_bounds_surely_miss_is_given_by_its_best_bound() -> None:
    verdict = judge_limit(UNDECIDED, 3, _evidence(2, 5, 12))
    assert (verdict.status, verdict.found) == ("not met", 5)


def test_bounds_on_both_sides_of_a_limit_name_the_limit_and_its_direction() -> None:
    high = judge_limit(UNDECIDED, 6, _evidence(5, 5, 12))
    assert high.status == "incomplete"
    assert high.sentence.endswith("it is between 5 and 12 over all known sets; at most 6 is required")
    low = judge_limit("known_sets.effective_k_min", 6, _evidence(5, 5, 12))
    assert low.status == "incomplete"
    assert low.sentence.endswith("it is between 5 and 12 over all known sets; at least 6 is required")


@pytest.mark.parametrize(
    ("undecided", "text"), [(1, "(1 record is undecided)"), (1_200, "(1,200 records are undecided)"), (0, "is not decided:")]
)
def test_the_undecided_records_are_counted_in_the_sentence(undecided: int, text: str) -> None:
    assert text in judge_limit(UNDECIDED, 6, _evidence(5, 5, 12, undecided=undecided)).sentence


def test_a_measure_without_a_count_of_undecided_records_has_none_in_its_sentence() -> None:
    assert "undecided" not in judge_limit(UNDECIDED, 6, _evidence(5, 5, 12, undecided=None)).sentence


def test_the_number_of_the_stronger_intruder_is_beside_that_of_the_release_alone() -> None:
    scores = [{"known_sets": Score("known_sets", {"max": number})} for number in (0.1, 0.4)]
    verdict = judge_limit("known_sets.max", 0.2, Evidence(release=scores[0], informed=scores[1]))
    assert (verdict.status, verdict.intruder, verdict.found) == ("not met", KNOWS_ORIGINALS, 0.4)
    assert "for an intruder who knows the original values (0.1 on the release alone)" in verdict.sentence


MEASURED = {"known_sets": Score("known_sets", {"max": 0.1})}
UNMEASURED = {"known_sets": Score("known_sets", {"max": math.nan})}


@pytest.mark.parametrize(
    ("evidence", "text"),
    [
        (
            Evidence(release=MEASURED, missing={"known_sets": "no time was left"}),
            "but for an intruder who knows the original values it could not be measured: no time was left",
        ),
        (Evidence(release=UNMEASURED, informed=MEASURED), "but on the release alone it could not be measured"),
    ],
    ids=["informed", "release alone"],
)
def test_a_number_that_is_missing_for_one_intruder_leaves_the_limit_incomplete(evidence: Evidence, text: str) -> None:
    verdict = judge_limit("known_sets.max", 0.2, evidence)
    assert (verdict.status, verdict.found) == ("incomplete", 0.1)
    assert verdict.sentence == f"known_sets.max is 0.1; at most 0.2 is required (0.1 to spare), {text}"


def test_a_number_that_one_intruder_exceeds_is_not_met_whatever_is_missing_for_the_other() -> None:
    verdict = judge_limit("known_sets.max", 0.05, Evidence(release=UNMEASURED, informed=MEASURED))
    assert (verdict.status, verdict.intruder) == ("not met", KNOWS_ORIGINALS)


def test_an_owner_who_judges_the_release_alone_is_not_asked_for_the_informed_number() -> None:
    missing = {"known_sets": "no time was left"}
    verdict = judge_limit("known_sets.max", 0.2, Evidence(release=MEASURED, missing=missing, judge="release"))
    assert (verdict.status, verdict.intruder) == ("met", RELEASE_ALONE)


@pytest.mark.parametrize("judge", ["both", "release"])
def test_a_measure_that_needs_the_original_values_is_the_informed_intruders(judge: Any) -> None:
    evidence = Evidence(release=MEASURED, bound=frozenset({"known_sets"}), judge=judge)
    verdict = judge_limit("known_sets.max", 0.2, evidence)
    assert (verdict.status, verdict.intruder) == ("met", KNOWS_ORIGINALS)
    assert (verdict.measured_release, verdict.measured_informed) == (None, 0.1)
    assert "release alone" not in verdict.sentence


@pytest.mark.parametrize("release", [{}, UNMEASURED])
def test_a_limit_without_any_number_is_incomplete_and_says_why(release: dict[str, Score]) -> None:
    evidence = Evidence(release=release, missing={"known_sets": "it needs 9 GB"})
    verdict = judge_limit("known_sets.max", 0.2, evidence)
    assert (verdict.status, verdict.found) == ("incomplete", None)
    assert verdict.sentence == "known_sets.max could not be measured: it needs 9 GB"


def test_of_equal_numbers_the_sentence_is_about_the_release_alone() -> None:
    verdict = judge_limit("known_sets.max", 0.2, Evidence(release=MEASURED, informed=MEASURED))
    assert (verdict.intruder, verdict.sentence) == (
        RELEASE_ALONE, "known_sets.max is 0.1; at most 0.2 is required (0.1 to spare)"
    )  # fmt: skip


def test_a_number_at_its_limit_has_nothing_to_spare() -> None:
    verdict = judge_limit("known_sets.max", 0.1, Evidence(release=MEASURED))
    assert verdict.sentence == "known_sets.max is 0.1; at most 0.1 is required"


def test_a_number_outside_its_bounds_is_given_by_the_nearer_bound() -> None:
    above = judge_limit(UNDECIDED, 1, _evidence(20, 5, 12))
    assert (above.status, above.found, above.measured_release) == ("not met", 12, 12)
    below = judge_limit(UNDECIDED, 15, _evidence(2, 5, 12))
    assert (below.status, below.found, below.measured_release) == ("met", 12, 5)


def test_a_search_looks_at_the_numbers_without_their_bounds() -> None:
    evidence = replace(_evidence(5, 5, 12), certified=False)
    assert judge_limit(UNDECIDED, 6, evidence).status == "met"
    assert judge_limit(UNDECIDED, 6, _evidence(5, 5, 12)).status == "incomplete"


def test_undecided_records_are_those_of_the_intruder_who_is_judged() -> None:
    informed = {"known_sets": Score("known_sets", {"high_risk": 4, "undecided": 9}, bounds={"high_risk": (4, 4)})}
    evidence = replace(_evidence(5, 5, 12, undecided=2), informed=informed)
    assert "(2 records are undecided)" in judge_limit(UNDECIDED, 6, evidence).sentence


def test_a_count_of_a_million_is_written_in_full() -> None:
    evidence = Evidence(release={"known_sets": Score("known_sets", {"high_risk": 1_234_567})})
    assert judge_limit(UNDECIDED, 1_000_000, evidence).sentence.startswith(
        "known_sets.high_risk is 1,234,567; at most 1,000,000 is required (off by 234,567)"
    )


def test_the_limits_of_a_measure_are_not_those_of_another_measure() -> None:
    policy = Policy.from_dict({"limits": {"known_sets.max": 0.1, "known_sets.high_risk": 0, "k_anonymity.k": 5}})
    assert limits_of("known_sets", policy) == {"max": 0.1, "high_risk": 0}
    assert limits_of("k_anonymity", policy) == {"k": 5}


def test_a_loss_without_a_number_gives_the_reason_where_there_is_one() -> None:
    unmeasured = {"ncp": Score("ncp", {"loss": None})}
    plain = judge_limit("ncp.loss", 0.05, Evidence(losses=unmeasured))
    assert plain.sentence == "ncp.loss could not be measured"
    explained = judge_limit("ncp.loss", 0.05, Evidence(losses=unmeasured, missing={"ncp": "it needs 9 GB"}))
    assert explained.sentence == "ncp.loss could not be measured: it needs 9 GB"


def test_a_loss_that_was_measured_gives_no_reason_for_a_missing_number() -> None:
    evidence = Evidence(losses={"ncp": Score("ncp", {"loss": 0.01})}, missing={"ncp": "it needs 9 GB"})
    assert judge_limit("ncp.loss", 0.05, evidence).sentence == "ncp.loss is 0.01; at most 0.05 is required (0.04 to spare)"


def test_a_limit_without_any_number_or_reason_is_incomplete() -> None:
    verdict = judge_limit("known_sets.max", 0.2, Evidence())
    assert (verdict.status, verdict.sentence) == ("incomplete", "known_sets.max could not be measured")


@pytest.mark.parametrize("bound", [frozenset(), frozenset({"known_sets"})], ids=["release alone", "needs the originals"])
def test_a_missed_limit_counts_the_undecided_records(bound: frozenset[str]) -> None:
    verdict = judge_limit(UNDECIDED, 3, replace(_evidence(7, 5, 12, undecided=2), bound=bound))
    assert verdict.status == "not met"
    assert verdict.sentence == "known_sets.high_risk is 7; at most 3 is required (off by 4); 2 records are undecided"


def test_undecided_records_are_those_of_the_informed_intruder_who_misses_the_limit() -> None:
    informed = _evidence(7, 7, 9, undecided=4).release
    verdict = judge_limit(UNDECIDED, 3, replace(_evidence(1, 1, 2, undecided=1), informed=informed))
    assert (verdict.status, verdict.intruder) == ("not met", KNOWS_ORIGINALS)
    assert verdict.sentence.endswith("(off by 4); 4 records are undecided")


def test_bounds_of_a_measure_that_knows_no_sets_are_not_over_known_sets() -> None:
    score = Score("k_anonymity", {"k": 4}, bounds={"k": (3, 6)})
    verdict = judge_limit("k_anonymity.k", 5, Evidence(release={"k_anonymity": score}))
    assert verdict.sentence == "k_anonymity.k is not decided: it is between 3 and 6; at least 5 is required"


def test_an_undecided_share_is_not_taken_for_a_number_of_records() -> None:
    assert "undecided" not in judge_limit(UNDECIDED, 6, _evidence(5, 5, 12, undecided=0.25)).sentence


def test_a_field_of_several_numbers_is_not_measured() -> None:
    evidence = Evidence(release={"known_sets": Score("known_sets", {"max": {"north": 0.1, "south": 0.2}})})
    assert judge_limit("known_sets.max", 0.2, evidence).status == "incomplete"
