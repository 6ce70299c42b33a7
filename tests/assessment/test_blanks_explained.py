"""Local suppression and k-anonymity may read a blank differently: the verdict says so, and what it advises works."""

from __future__ import annotations

from typing import Any

import pytest

import discreet
from discreet.testing import table


def release(blanks: str | None, missing: str = "category", size: int = 2) -> Any:
    """A table in which one record is alone in its class, masked and assessed."""
    ages = [30, 30, 30, 40, 40, 40, 50]
    step = {"method": "local_suppression", "k": 3} | ({} if blanks is None else {"blanks": blanks})
    policy = {
        "attributes": {"age": {"role": "key"}},
        "plan": {"steps": [step]},
        "risk": {"k_anonymity": {"missing": missing}},
        "limits": {"k_anonymity.k": size},
    }
    data = table({"age": ages}).with_policy(discreet.Policy.model_validate(policy))
    return discreet.assess(data, discreet.mask(data)).verdicts[0]


@pytest.mark.parametrize("blanks", [None, "match", "discount"])
def test_a_missed_limit_says_that_blanks_are_read_differently(blanks: str | None) -> None:
    verdict = release(blanks)
    assert verdict.status == "not met"
    assert f"local_suppression left (blanks: {blanks or 'match'}) counts as a value of its own in k_anonymity" in verdict.sentence
    assert "with blanks: category the step counts it so too" in verdict.sentence


def test_what_it_advises_meets_the_limit() -> None:
    verdict = release("category")
    assert verdict.status == "met", verdict.sentence
    assert "blanks" not in verdict.sentence


@pytest.mark.parametrize(("blanks", "missing", "size"), [("category", "category", 5), ("match", "wildcard", 2)])
def test_a_limit_that_is_missed_for_another_reason_says_nothing_of_blanks(blanks: str, missing: str, size: int) -> None:
    verdict = release(blanks, missing, size)
    assert verdict.status == "not met"
    assert "blanks" not in verdict.sentence
