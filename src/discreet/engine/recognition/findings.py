"""What a detector says of one column."""

from __future__ import annotations

from dataclasses import dataclass, field

from discreet.engine.recognition.name_rules import UNNAMED_KNOWN, UNNAMED_SENSITIVITY, Kind
from discreet.model.attribute import Role

_NUMBERLESS = (Role.IDENTIFIER, Role.PERSON, Role.WEIGHT)


@dataclass(frozen=True, slots=True)
class Finding:
    """A proposed role, its two numbers, and the reason in words."""

    role: Role
    reason: str
    known: float = 0.0
    sensitivity: float = 0.0
    values: dict[str, float] = field(default_factory=dict)


def numbers_for(role: Role, kind: Kind | None) -> tuple[float, float, str]:
    """Known probability and sensitivity for a role, from the kind's table, and what the table calls it."""
    if role in _NUMBERLESS:
        return 0.0, 0.0, ""
    if kind is not None and kind.role not in _NUMBERLESS:
        sensitivity = kind.sensitivity or (UNNAMED_SENSITIVITY if role is Role.CONFIDENTIAL else 0.0)
        return kind.known, sensitivity, kind.name
    if role is Role.KEY:
        return 0.1, 0.0, "a key of no known kind"
    if role is Role.CONFIDENTIAL:
        return UNNAMED_KNOWN, UNNAMED_SENSITIVITY, "a confidential attribute of no known kind"
    return UNNAMED_KNOWN, 0.0, "an attribute of no known kind"


def start(known: float, sensitivity: float, source: str) -> str:
    """The two numbers in words, said to be what they are."""
    return f"known {known:g} and sensitivity {sensitivity:g} are where '{source}' starts, to be edited"
