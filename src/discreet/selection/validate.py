"""Checks of a plan against schema and data before it runs: errors, and steps that break a guarantee of an earlier step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from discreet import registry
from discreet.engine.runtime.dispatch import is_distributed
from discreet.errors import DiscreetError, nearest
from discreet.model.attribute import Role
from discreet.model.contracts import MaskingMethod
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Step

_CLASS_METHODS = ("generalization", "local_suppression", "balanced_partition", "microaggregation", "targeted_generalization")
"""Methods that guarantee something about the equivalence classes over their columns."""
_RISK_METHODS = ("targeted_suppression", "targeted_generalization", "min_risk_disclosure")
"""Methods that guarantee a risk of each record, which a change of any attribute may alter."""
_IDENTIFIER_METHODS = ("remove_identifiers", "pseudonymization")
"""Methods that change no attribute but identifiers."""


@dataclass(frozen=True)
class Finding:
    """A finding on one step of a plan: an error stops the plan, a warning does not."""

    step: int
    level: Literal["error", "warning"]
    sentence: str


def validate(data: Microdata, plan: Plan) -> list[Finding]:
    """Findings in the order of the steps; nothing is masked.

    A method checks the table as it is now. So if an earlier step changes a column of a step, only the parameters of that step
    are checked: the values that the column will hold are not known before the plan runs.

    >>> from discreet.testing import table
    >>> data = table({"town": ["A", "B"]}, key=["town"])
    >>> plan = Plan(steps=(Step(method="noise", columns=("town",), level=0.1),))
    >>> [(finding.step, finding.level) for finding in validate(data, plan)]
    [(1, 'error')]
    """
    findings: list[Finding] = []
    changed: set[str] = set()
    removed: set[str] = set()
    earlier: list[tuple[int, str, tuple[str, ...]]] = []
    for number, step in enumerate(plan.steps, 1):
        if not step.enabled:
            continue
        try:
            step, method = registry.resolve_step(step, data.policy, origin=f"step {number}")  # noqa: PLW2901 - as it will run
            columns = _resolve_columns(data, step, method, removed)
            if not set(columns) & changed and not is_distributed(data):  # another engine checks when the step runs
                method.check(data, columns)
        except DiscreetError as error:
            findings.append(Finding(number, "error", _prefix_with_step(number, step, str(error))))
            continue
        findings += [
            Finding(number, "warning", f"step {number} ({step.method}): {text}")
            for text in _find_broken_guarantees(method, columns, earlier)
        ]
        earlier.append((number, step.method, columns))
        if step.method == "remove_identifiers":
            removed |= set(columns)
        changed |= set(columns)
    return findings


def errors(findings: Sequence[Finding]) -> list[str]:
    """The messages of the findings that stop a plan."""
    return [finding.sentence for finding in findings if finding.level == "error"]


def _resolve_columns(data: Microdata, step: Step, method: MaskingMethod, removed: set[str]) -> tuple[str, ...]:
    """The columns of a step; default: those that its method chooses."""
    if step.columns is None:
        return tuple(name for name in method.choose(data) if name not in removed)
    for name in step.columns:
        if name in removed:
            raise DiscreetError(f"'{name}' was removed by an earlier step")
        if name not in data.columns:
            raise DiscreetError(f"there is no column '{name}'; {nearest(name, data.columns)}")
        if data.attribute(name).role is Role.IDENTIFIER and step.method == "generalization":
            raise DiscreetError(f"'{name}' is an identifier; remove it instead of generalizing it")
    return step.columns


def _prefix_with_step(number: int, step: Step, text: str) -> str:
    return text if text.startswith(f"step {number}") else f"step {number} ({step.method}): {text}"


def _find_broken_guarantees(
    method: MaskingMethod, columns: Sequence[str], earlier: Sequence[tuple[int, str, tuple[str, ...]]]
) -> list[str]:
    """Warnings about guarantees of earlier steps (number, method, columns) that this method may break."""
    if method.name in _IDENTIFIER_METHODS:
        return []
    warnings = []
    for number, name, earlier_columns in earlier:
        shared = [column for column in columns if column in earlier_columns]
        if name in _CLASS_METHODS and shared and method.name != "global_recoding":
            warnings.append(
                f"changes {', '.join(shared)}, on which step {number} ({name}) built equivalence classes: "
                "its guarantee may no longer hold"
            )
        elif name in _CLASS_METHODS and method.name in ("sampling", "simulation"):
            warnings.append(f"removes or adds records, so the equivalence classes of step {number} ({name}) may become smaller")
        elif name in _RISK_METHODS and (shared or method.name in ("sampling", "simulation")):
            warnings.append(
                f"comes after step {number} ({name}), and changes the risks that it lowered: move it before that step"
            )
    return warnings
