"""What an assessment says where it is not certain which released row comes from which original."""

from __future__ import annotations

from typing import Any, Literal

import pytest

import discreet
from discreet.assessment.assess import assess
from discreet.assessment.measurements import Covering
from discreet.model.microdata import Microdata
from discreet.model.results import Assessment
from discreet.risks.coverage.measure import Coverage
from discreet.risks.known_sets.measure import KnownSets
from discreet.testing import table

DOUBT = "the rows were reordered"


def _table(judge: Literal["both", "release"], limit: float) -> Microdata:
    data = table(
        {"age": [30, 30, 40, 40], "ill": ["flu", "flu", "cold", "cold"]},
        key=["age"],
        confidential=["ill"],
        known={"age": 0.5},
        sensitivity={"ill": 1.0},
    )
    return data.with_policy(data.policy.with_(limits={"known_sets.max": limit}, judge=judge))


def _assess(judge: Any, limit: float, doubts: tuple[str, ...]) -> Assessment:
    data = _table(judge, limit)
    return assess(data, data, [KnownSets()], {}, doubts=doubts, covering=Covering(Coverage(), data))


def test_a_limit_that_rests_on_doubtful_links_is_not_met_but_incomplete() -> None:
    certain, doubted = _assess("both", 1000.0, ()), _assess("both", 1000.0, (DOUBT,))
    assert [certain.verdicts[0].status, doubted.verdicts[0].status] == ["met", "incomplete"]
    assert doubted.verdicts[0].sentence.endswith(f", but {DOUBT}")
    assert DOUBT in doubted.gaps


def test_a_limit_that_is_missed_is_missed_whatever_the_links_are() -> None:
    doubted = _assess("both", 0.0, (DOUBT,))
    assert doubted.verdicts[0].status == "not met"
    assert DOUBT not in doubted.verdicts[0].sentence


def test_an_owner_who_gave_up_the_informed_intruder_needs_no_links() -> None:
    doubted = _assess("release", 1000.0, (DOUBT,))
    assert doubted.verdicts[0].status == "met"
    assert DOUBT not in doubted.gaps


@pytest.mark.parametrize(("judge", "said"), [("both", True), ("release", False)])
def test_restoring_is_a_gap_where_links_are_in_doubt_unless_only_the_release_is_judged(judge: Any, said: bool) -> None:
    doubted = _assess(judge, 1000.0, (DOUBT,))
    assert any("it was not measured whether masked values can be restored" in gap for gap in doubted.gaps) == said


def test_every_assessment_measures_coverage_of_the_original_and_of_the_release() -> None:
    data = _table("both", 1000.0)
    assessment = discreet.assess(data, data)
    assert "coverage" in assessment.before
    assert "coverage" in assessment.after
