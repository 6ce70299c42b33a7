"""A plan checked against schema and data before it runs: what is wrong, and what would undo an earlier promise."""

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

_CLASSES = ("generalization", "local_suppression", "balanced_partition", "microaggregation", "targeted_generalization")
"""Methods that promise something of groups of records that agree on the columns they worked on."""
_RISKS = ("targeted_suppression", "targeted_generalization", "min_risk_disclosure")
"""Methods that promise something of every record's risk, which other values of any attribute may change."""
_KEEPS = ("remove_identifiers", "pseudonymization")
"""Methods that leave the values of all other attributes alone."""


@dataclass(frozen=True)
class Finding:
    """One thing to know of a plan: an error stops it, a warning does not."""

    step: int
    level: Literal["error", "warning"]
    sentence: str


def validate(data: Microdata, plan: Plan) -> list[Finding]:
    """Findings in the order of the steps; nothing is masked.

    Methods check the table as it is now, so a step on a column that an earlier step changes is checked for its
    parameters only: what the column will hold then is not known before the plan runs.

    >>> from discreet.testing import table
    >>> data = table({"town": ["A", "B"]}, key=["town"])
    >>> plan = Plan(steps=(Step(method="noise", columns=("town",), level=0.1),))
    >>> [(one.step, one.level) for one in validate(data, plan)]
    [(1, 'error')]
    """
    findings: list[Finding] = []
    changed: set[str] = set()
    gone: set[str] = set()
    done: list[tuple[int, str, tuple[str, ...]]] = []
    for number, step in enumerate(plan.steps, 1):
        if not step.enabled:
            continue
        try:
            step, method = registry.resolve_step(step, data.policy, origin=f"step {number}")  # noqa: PLW2901 - as it will run
            columns = _columns(data, step, method, gone)
            if not set(columns) & changed and not is_distributed(data):  # elsewhere the engine checks where the rows are
                method.check(data, columns)
        except DiscreetError as error:
            findings.append(Finding(number, "error", _told(number, step, str(error))))
            continue
        findings += [
            Finding(number, "warning", f"step {number} ({step.method}): {text}") for text in _undone(method, columns, done)
        ]
        done.append((number, step.method, columns))
        if step.method == "remove_identifiers":
            gone |= set(columns)
        changed |= set(columns)
    return findings


def errors(findings: Sequence[Finding]) -> list[str]:
    """The sentences of the findings that stop a plan."""
    return [one.sentence for one in findings if one.level == "error"]


def _columns(data: Microdata, step: Step, method: MaskingMethod, gone: set[str]) -> tuple[str, ...]:
    if step.columns is None:
        return tuple(name for name in method.choose(data) if name not in gone)
    for name in step.columns:
        if name in gone:
            raise DiscreetError(f"'{name}' was removed by an earlier step")
        if name not in data.columns:
            raise DiscreetError(f"there is no column '{name}'; {nearest(name, data.columns)}")
        if data.attribute(name).role is Role.IDENTIFIER and step.method == "generalization":
            raise DiscreetError(f"'{name}' is an identifier; remove it rather than make it coarser")
    return step.columns


def _told(number: int, step: Step, text: str) -> str:
    return text if text.startswith(f"step {number}") else f"step {number} ({step.method}): {text}"


def _undone(method: MaskingMethod, columns: Sequence[str], done: Sequence[tuple[int, str, tuple[str, ...]]]) -> list[str]:
    """What earlier steps promised and this one changes."""
    if method.name in _KEEPS:
        return []
    told = []
    for number, name, before in done:
        shared = [column for column in columns if column in before]
        if name in _CLASSES and shared and method.name != "global_recoding":
            told.append(
                f"changes {', '.join(shared)}, on which step {number} ({name}) made classes: its promise may not hold any more"
            )
        elif name in _CLASSES and method.name in ("sampling", "simulation"):
            told.append(f"takes or adds records, so the classes of step {number} ({name}) may become smaller")
        elif name in _RISKS and (shared or method.name in ("sampling", "simulation")):
            told.append(f"comes after step {number} ({name}), whose risks it changes: put it before")
    return told
