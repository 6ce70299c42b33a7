"""The internal report draws what each attribute contributes to scores; the public one has nothing of it."""

from __future__ import annotations

import discreet
from discreet.report.evidence import gather
from discreet.report.histograms import contributions
from discreet.report.page import render
from discreet.report.public_report.evidence import publish
from discreet.testing import table

ROWS = {"age": [44, 44, 55, 55], "sex": ["f", "m", "f", "f"], "job": ["nurse", "nurse", "nurse", "judge"]}


def test_attributes_come_by_their_contribution_before_masking_with_the_one_after() -> None:
    data = table(ROWS, key=list(ROWS))
    policy = data.policy.with_(risk={"special_uniques": {}})
    release = discreet.mask(
        data.with_policy(policy),
        {"steps": [{"method": "targeted_suppression", "risk": "special_uniques", "missing": "wildcard", "threshold": 1}]},
    )
    exact = gather(release.original, release, internal=True)
    (entry,) = exact["contributions"]
    assert [(row["label"], row["before"]) for row in entry["rows"]] == [("sex", 3.0), ("job", 3.0), ("age", 2.0)]
    after = discreet.risk(release.masked, "special_uniques")["special_uniques"].per_attribute
    assert {row["label"]: row["after"] for row in entry["rows"]} == dict(
        zip(after["attribute"], after["contribution"], strict=True)
    )
    page = render(exact)
    assert "<h2>Contributions of the attributes</h2>" in page
    assert "sex: 3 before" in page
    public = publish(exact)
    assert "contributions" not in public
    assert "Contributions of the attributes" not in render(public)


def test_measures_without_contributions_and_tables_without_risk_have_no_chart() -> None:
    data = table({"age": [44, 44], "sex": ["f", "f"]}, key=["age", "sex"])
    scores = discreet.risk(data, ["k_anonymity", "special_uniques", "rare_combinations"])
    assert contributions(scores["k_anonymity"]) is None
    assert contributions(scores["special_uniques"]) is None
    drawn = contributions(scores["rare_combinations"])
    assert drawn is not None
    assert [row["before"] for row in drawn["rows"]] == [2.0, 2.0]
