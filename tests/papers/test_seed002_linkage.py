"""Truta, Fotouhi & Barth-Jones, section 4: the example and its cases A and B."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from discreet.model.attribute import Attribute, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.target_linkage.measure import TargetLinkage


def file_of_20000(zip_of_target):
    """20,000 records with ages and zip codes, one of them aged 26 in the target's zip code."""
    rng = np.random.default_rng(2003)
    age, code = rng.integers(18, 68, 20_000), rng.integers(0, 1000, 20_000)
    age[(age == 26) & (code == zip_of_target)] = 27
    age[123], code[123] = 26, zip_of_target
    frame = pl.DataFrame({"age": age, "zip": code, "income": rng.integers(0, 90_000, 20_000)})
    attributes = {"age": Attribute(role=Role.KEY), "zip": Attribute(role=Role.KEY), "income": Attribute(role=Role.CONFIDENTIAL)}
    return Microdata(frame, Policy(attributes=attributes))


CASES = {
    "the example: printed as 0.024 %": (482, {"domain": {"age": 50, "zip": 1000}}, 0.00024996, 5e-9),
    # the paper prints 4.98 %, which does not follow from (4.10): 0.05 / (0.05 + 0.9999) is 4.7624 %
    "case A, young people are rare": (
        482,
        {"density": {"age": {"18..28": 1 / 10_000, "28..68": 9_999 / 40_000}}, "domain": {"zip": 1000}},
        0.047624,
        5e-7,
    ),
    "case B, months and five digits: printed as 23.08 %": (48201, {"domain": {"age": 600, "zip": 100_000}}, 0.230787, 5e-7),
}


@pytest.mark.parametrize("case", CASES)
def test_the_papers_cases_come_out(case, tmp_path, monkeypatch):
    zip_code, beliefs, expected, rounding = CASES[case]
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"name": ["John Smith"], "age": [26], "zip": [zip_code]}).write_csv("targets.csv")
    measure = TargetLinkage(population=200_000_000, model="uniform", targets="targets.csv", **beliefs)
    score = measure.measure(file_of_20000(zip_code))
    assert score["targets"] == 1
    assert score["max"] == pytest.approx(expected, abs=rounding)
    assert score["mean"] == score["expected_links"] == score["max"]
    assert score.per_record.to_dicts() == [{"probability": score["max"], "best": 123, "candidates": 1, "runner_up": 0.0}]
