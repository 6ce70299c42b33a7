"""Plans checked before they run."""

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
def test_what_cannot_work_is_an_error_that_names_it(step: dict[str, Any], word: str) -> None:
    (found,) = findings(step)
    assert (found.step, found.level) == (1, "error")
    assert word in found.sentence
    assert errors([found]) == [found.sentence]


def test_a_column_that_was_removed_is_told() -> None:
    found = findings({"method": "remove_identifiers"}, {"method": "pseudonymization", "columns": ["name"]})
    assert "was removed by an earlier step" in found[0].sentence


@pytest.mark.parametrize(
    ("later", "word"),
    [
        ({"method": "swapping", "columns": ["age"]}, "its promise may not hold"),
        ({"method": "sampling", "fraction": 0.5}, "may become smaller"),
    ],
)
def test_a_step_that_undoes_an_earlier_promise_is_warned_of(later: dict[str, Any], word: str) -> None:
    found = findings({"method": "generalization", "k": 2, "algorithm": "partition"}, later)
    assert [(one.step, one.level) for one in found] == [(2, "warning")]
    assert word in found[0].sentence


def test_a_step_that_is_switched_off_is_not_looked_at() -> None:
    assert findings({"method": "noise", "columns": ["town"], "level": 0.1, "enabled": False}) == []
