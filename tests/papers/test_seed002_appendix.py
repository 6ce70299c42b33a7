"""Truta, Fotouhi & Barth-Jones, Appendix A: Table A.1 masked by microaggregation of Age and sampling."""

from __future__ import annotations

import pytest

import discreet
from discreet import Plan, Policy
from discreet.masking.generate import generate
from discreet.model.microdata import Microdata
from discreet.reproduce.appendix import patients

POLICY = {
    "attributes": {
        "Name": {"role": "identifier"}, "SSN": {"role": "identifier"}, "Age": {"role": "key"}, "State": {"role": "key"},
        "Diagnosis": {"role": "confidential"}, "Income": {"role": "confidential"}, "Billing": {"role": "confidential"},
    },
    "plan": {
        "seed": 1,
        "steps": [
            {"method": "remove_identifiers"},
            {"method": "microaggregation", "columns": ["Age"], "size": 2},
            {"method": "sampling", "fraction": 0.8},
        ],
    },
}  # fmt: skip
DATA = Microdata(patients().frame, Policy.from_dict(POLICY), "patient")


def test_eight_of_ten_records_are_released_without_identifiers_and_the_factors_are_reported():
    release = discreet.mask(DATA)
    assert release.masked.columns == ["Age", "State", "Diagnosis", "Income", "Billing"]
    assert (release.n, release.t, release.r, release.sf, release.fs) == (10, 8, 8, 0.8, 0.0)
    assert [entry.method for entry in release.log] == ["remove_identifiers", "microaggregation", "sampling"]
    assert [entry.records_removed for entry in release.log] == [0, 0, 2]
    assert release.log[1].values_changed == 2, "25 and 35 become 30, the other ages are groups already"


def test_microaggregation_alone_leaves_no_age_unpaired():
    release = discreet.mask(DATA, {"steps": POLICY["plan"]["steps"][:2]})
    assert sorted(release.masked.frame["Age"]) == [30, 30, 44, 44, 44, 45, 45, 55, 55, 55]
    assert release.warnings == ()


@pytest.mark.parametrize("seed", range(60))
def test_the_sample_that_breaks_the_groups_is_warned_of_by_name_and_no_other_is(seed):
    release = generate(DATA, Plan(seed=seed, steps=DATA.policy.plan.steps))
    ages = release.masked.frame["Age"].to_list()
    alone = sum(ages.count(age) == 1 for age in ages)
    if not alone:
        assert release.warnings == ()
    else:
        (warning,) = release.warnings
        assert warning.startswith("step 2 (microaggregation): its groups of at least 2 records with equal Age no longer exist")
        assert f"{alone} record" in warning


def test_the_lesson_of_the_appendix_happens_two_records_end_up_unpaired():
    found = set()
    for seed in range(60):
        ages = generate(DATA, Plan(seed=seed, steps=DATA.policy.plan.steps)).masked.frame["Age"].to_list()
        found.add(sum(ages.count(age) == 1 for age in ages))
    assert {0, 1, 2} <= found
