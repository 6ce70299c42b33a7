"""Checks of plans before they run."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.model.policy import Plan, Policy
from discreet.selection.validate import Finding, errors, validate
from discreet.testing import table

DATA = table(
    {"name": ["a", "b", "c", "d"], "age": [30, 31, 40, 41], "town": ["A", "A", "B", "B"], "income": [1.0, 2.0, 3.0, 4.0]},
    identifier=["name"], key=["age", "town"], confidential=["income"],
)  # fmt: skip


def findings(*steps: dict[str, Any]) -> list[Finding]:
    return validate(DATA, Policy.from_dict({"plan": {"steps": list(steps)}}).plan)


def test_a_good_plan_has_no_findings() -> None:
    assert findings({"method": "remove_identifiers"}, {"method": "generalization", "k": 2, "algorithm": "partition"}) == []
    assert validate(DATA, Plan()) == []


@pytest.mark.parametrize(
    ("step", "word"),
    [
        ({"method": "noise", "columns": ["town"], "level": 0.1}, "town"),
        ({"method": "microaggregation", "columns": ["age"], "size": 1}, "size"),
        ({"method": "generalisation", "k": 2}, "generalization"),
        ({"method": "rounding", "columns": ["salary"], "base": 5}, "salary"),
        ({"method": "generalization", "columns": ["name"], "k": 2}, "identifier"),
    ],
)
def test_a_step_that_cannot_run_is_an_error_that_names_the_cause(step: dict[str, Any], word: str) -> None:
    (finding,) = findings(step)
    assert (finding.step, finding.level) == (1, "error")
    assert word in finding.sentence
    assert errors([finding]) == [finding.sentence]


def test_a_step_on_a_removed_column_is_an_error() -> None:
    (finding,) = findings({"method": "remove_identifiers"}, {"method": "pseudonymization", "columns": ["name"]})
    assert "was removed by an earlier step" in finding.sentence


@pytest.mark.parametrize(
    ("later", "word"),
    [
        ({"method": "swapping", "columns": ["age"]}, "its guarantee may no longer hold"),
        ({"method": "sampling", "fraction": 0.5}, "may become smaller"),
    ],
)
def test_a_step_that_may_break_an_earlier_guarantee_is_a_warning(later: dict[str, Any], word: str) -> None:
    (finding,) = findings({"method": "generalization", "k": 2, "algorithm": "partition"}, later)
    assert (finding.step, finding.level) == (2, "warning")
    assert word in finding.sentence


def test_a_disabled_step_is_not_checked() -> None:
    assert findings({"method": "noise", "columns": ["town"], "level": 0.1, "enabled": False}) == []
