"""The result of a detector for one column: a proposed role with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field

from discreet.engine.recognition.name_rules import UNNAMED_KNOWN, UNNAMED_SENSITIVITY, Kind
from discreet.model.attribute import Role

_ROLES_WITHOUT_NUMBERS = (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD, Role.WEIGHT)


@dataclass(frozen=True, slots=True)
class Finding:
    """A proposed role, its known probability and sensitivity, and the reason."""

    role: Role
    reason: str
    known: float = 0.0
    sensitivity: float = 0.0
    values: dict[str, float] = field(default_factory=dict)
    confidence: float = 0.9
    """From 0 to 1: how sure the evidence makes the role; a judgement, not a probability."""
    kind: Kind | None = None


def default_numbers(role: Role, kind: Kind | None) -> tuple[float, float, str]:
    """Default known probability and sensitivity for a role and kind, and the name of the source of these defaults."""
    if role in _ROLES_WITHOUT_NUMBERS:
        return 0.0, 0.0, ""
    if kind is not None and kind.role not in _ROLES_WITHOUT_NUMBERS:
        sensitivity = kind.sensitivity or (UNNAMED_SENSITIVITY if role is Role.CONFIDENTIAL else 0.0)
        return kind.known, sensitivity, kind.name
    if role is Role.KEY:
        return 0.1, 0.0, "a key of unknown kind"
    if role is Role.CONFIDENTIAL:
        return UNNAMED_KNOWN, UNNAMED_SENSITIVITY, "a confidential attribute of unknown kind"
    return UNNAMED_KNOWN, 0.0, "an attribute of unknown kind"


def describe_defaults(known: float, sensitivity: float, source: str) -> str:
    """A sentence that marks the two numbers as defaults."""
    return f"default known = {known:g}, sensitivity = {sensitivity:g} for '{source}' (to be edited)"
