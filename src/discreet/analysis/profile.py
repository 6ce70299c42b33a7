"""The result of the analyzer: a proposed policy, with counts and a reason for each attribute."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from typing import Any, TypeVar

from pydantic import PrivateAttr

from discreet import registry
from discreet.analysis.measures import PROPOSED_CLASS_SIZE, propose_risks
from discreet.analysis.missing_notes import note_codes, note_texts_like_missing
from discreet.analysis.quasi_identifiers import Strength
from discreet.analysis.render import render_policy
from discreet.errors import redact_credentials
from discreet.model.attribute import Attribute, Role
from discreet.model.display import Described, format_shape, list_names, table_as_html
from discreet.model.policy import Policy, Step

_DOUBTFUL, _MOST_LISTED = 0.5, 12
"""Proposals with less confidence are listed first, and how many of them."""


@dataclass(frozen=True, repr=False)
class ColumnProfile(Described):
    """One column: its counts, the proposed attribute, and the reason."""

    name: str
    type: str
    attribute: Attribute
    reason: str
    distinct: int
    """Distinct values, null not counted."""
    nulls: int
    minimum: Any
    """The smallest value of a number or date that is not an identifier, else None; likewise the maximum."""
    maximum: Any
    most_frequent_share: float
    """The share of the records with the most frequent value."""
    strength: Strength
    """The attribute alone as a quasi-identifier."""
    given: bool = False
    """Whether the policy has this attribute."""
    confidence: float = 1.0
    """How sure the evidence makes the role, from 0 to 1: a judgement, not a probability; 1 where the policy sets the role."""
    derived_from: tuple[str, ...] = ()
    """The columns that this one is computed from."""
    like_missing: Mapping[str, int] = field(default_factory=dict)
    """Texts that read like a missing value, with their records, where the policy does not decide on them."""
    missing_codes: Mapping[str, int] = field(default_factory=dict)
    """Numbers outside all others that read like codes for a missing value, with their records, likewise."""

    def describe(self) -> tuple[str, dict[str, str]]:
        """Name and counts; minimum and maximum are values of single records and are not shown."""
        facts = {
            "role": str(self.attribute.role),
            "type": self.type,
            "distinct": f"{self.distinct:,}",
            "nulls": f"{self.nulls:,}",
        }
        return self.name, facts


class ProposedPolicy(Policy):
    """The policy that a profile proposes: used as it is, or called for a plain policy, with or without reasons."""

    _reasons: dict[str, str] = PrivateAttr(default_factory=dict)

    @classmethod
    def of(cls, policy: Policy, reasons: Mapping[str, str]) -> ProposedPolicy:
        """The proposed policy with the reason of each attribute at hand."""
        proposal = _copy_as(cls, policy)
        proposal._reasons = dict(reasons)
        return proposal

    def __call__(self, *, reasons: bool = False) -> Policy:
        """The proposal as a plain policy, with the reason of each attribute in it if ``reasons``."""
        if not reasons:
            return _copy_as(Policy, self)
        attributes = {
            name: attribute.model_copy(update={"reason": self._reasons[name]}) if name in self._reasons else attribute
            for name, attribute in self.attributes.items()
        }
        return _copy_as(Policy, self.with_(attributes=attributes))

    def __eq__(self, other: object) -> bool:
        return self() == (other() if isinstance(other, ProposedPolicy) else other)

    __hash__ = Policy.__hash__


_P = TypeVar("_P", bound=Policy)


def _copy_as(kind: type[_P], policy: Policy) -> _P:
    """A policy of another class with the same content, which was validated already."""
    copy = kind.model_construct(_fields_set=policy.model_fields_set, **dict(policy))
    copy._folder, copy._confined, copy._origin = policy._folder, policy._confined, policy._origin
    return copy


@dataclass(frozen=True, repr=False)
class Profile(Described):
    """The proposals for a table, to be reviewed by its data controller."""

    source: str
    records: int
    columns: tuple[ColumnProfile, ...]
    quasi_identifiers: tuple[Strength, ...]
    """The strongest sets of each size, and the minimal keys among the sets examined."""
    threshold: float
    """The distinct ratio from which a set counts as a key."""
    given: Policy = field(default_factory=Policy)
    notes: tuple[str, ...] = ()
    """How the table was read, where that was guessed."""

    def describe(self) -> tuple[str, dict[str, str]]:
        """Source, size and the proposed roles; see :mod:`discreet.model.display`."""
        roles = {str(role): list_names(names) for role in Role if (names := self.named(role))}
        return f"{redact_credentials(self.source)}: {format_shape(self.records, len(self.columns))}", roles

    def _repr_html_(self) -> str:
        """The title, and one row per attribute without its values."""
        fields = ("attribute", "type", "role", "known", "sensitivity", "reason")
        rows = [[str(row[field]) if row[field] is not None else "" for field in fields] for row in self.rows()]
        return f"<div><strong>Profile</strong> {html.escape(self.describe()[0])}{table_as_html(fields, rows)}</div>"

    def __getitem__(self, name: str) -> ColumnProfile:
        return next(column for column in self.columns if column.name == name)

    def named(self, role: Role | str) -> list[str]:
        """The columns that are proposed for a role, in the table's order."""
        return [column.name for column in self.columns if column.attribute.role == role]

    @property
    def value_notes(self) -> tuple[str, ...]:
        """What the data controller decides on single values: whether 'NA' means that a value is missing."""
        return (
            *note_texts_like_missing((column.name, column.like_missing, column.attribute.missing) for column in self.columns),
            *note_codes((column.name, column.missing_codes, column.attribute.missing) for column in self.columns),
        )

    @property
    def policy(self) -> ProposedPolicy:
        """The proposal as a policy; ``policy(reasons=True)`` is the same with the reason of each attribute in it."""
        return ProposedPolicy.of(self._build_policy(), {column.name: column.reason for column in self.columns})

    def _build_policy(self) -> Policy:
        """The proposed policy; sections of the given policy other than its attributes are unchanged."""
        attributes = {column.name: column.attribute for column in self.columns}
        risk = self.given.risk or propose_risks([column.attribute for column in self.columns], registry.installed_names("risk"))
        plan = self.given.plan
        if not plan.steps:
            plan = plan.model_copy(update={"steps": (Step(method="remove_identifiers"),)})
        absent = {name: attribute for name, attribute in self.given.attributes.items() if name not in attributes}
        return self.given.with_(attributes=attributes | absent, risk=risk, plan=plan)

    def to_yaml(self) -> str:
        """The policy as a file to edit, with the reason before each attribute as a comment."""
        return render_policy(self._build_policy(), {column.name: column.reason for column in self.columns}, self._heading())

    def _heading(self) -> list[str]:
        lines = [
            f"Proposed for {self.source}: {self.records:,} records, {len(self.columns):,} attributes.",
            "Every role and number is a proposal: edit what you know better. known is the probability that an intruder knows the",
            "attribute of a person, sensitivity the severity of its disclosure, from 0 to 1. A key is a quasi-identifier.",
        ]
        lines += [f"Read: {note}." for note in self.notes]
        lines += [f"Values: {note}." for note in self.value_notes]
        doubtful = [
            column for column in sorted(self.columns, key=lambda column: column.confidence) if column.confidence < _DOUBTFUL
        ]
        if doubtful:
            listed = ", ".join(f"{column.name} ({column.confidence:.2f})" for column in doubtful[:_MOST_LISTED])
            more = f" and {len(doubtful) - _MOST_LISTED:,} more" if len(doubtful) > _MOST_LISTED else ""
            lines.append(f"Decide these first, for their evidence is weak (confidence from 0 to 1): {listed}{more}.")
        has_sensitive = any(column.attribute.sensitivity for column in self.columns)
        if has_sensitive and not self.given.risk and "known_sets" in self._build_policy().risk:
            lines.append(
                f"A record is high-risk if its effective class size is below {PROPOSED_CLASS_SIZE}: as if it were hidden among "
                f"fewer than {PROPOSED_CLASS_SIZE} records, given everything an intruder may know."
            )
        if self.quasi_identifiers:
            lines += ["", "Candidate quasi-identifier sets (distinct ratio, separation ratio, share of sample uniques):"]
            lines += [
                f"  {', '.join(strength.attributes)}: {strength.distinct_ratio:.4g}, {strength.separation_ratio:.6g}, "
                f"{strength.unique_share:.4g}"
                + (f"; a minimal key (distinct ratio at least {self.threshold:g})" if strength.minimal_key else "")
                for strength in self.quasi_identifiers
            ]
        return lines

    def rows(self) -> list[dict[str, Any]]:
        """One row per attribute, for a table on a screen."""
        return [
            {
                "attribute": column.name, "type": column.type, "distinct": column.distinct, "nulls": column.nulls,
                "role": column.attribute.role.value, "level": column.attribute.level.value if column.attribute.level else "",
                "known": column.attribute.known, "sensitivity": column.attribute.sensitivity, "reason": column.reason,
            }
            for column in self.columns
        ]  # fmt: skip

    def review_rows(self) -> list[dict[str, Any]]:
        """One row per attribute with the confidence of its role, the doubtful ones first: what the data controller decides."""
        rows = [
            {"attribute": column.name, "confidence": column.confidence} | {name: row[name] for name in row if name != "attribute"}
            for column, row in zip(self.columns, self.rows(), strict=True)
        ]
        return sorted(rows, key=lambda row: float(row["confidence"]))

    def to_dict(self) -> dict[str, Any]:
        """The whole profile as JSON values."""
        return {
            "source": self.source,
            "records": self.records,
            "notes": [*self.notes, *self.value_notes],
            "attributes": {
                column.name: {
                    "type": column.type, "distinct": column.distinct, "nulls": column.nulls, "minimum": _as_json(column.minimum),
                    "maximum": _as_json(column.maximum), "most_frequent_share": column.most_frequent_share,
                    "distinct_ratio": column.strength.distinct_ratio, "separation_ratio": column.strength.separation_ratio,
                    "given": column.given, "reason": column.reason, "confidence": column.confidence,
                    "derived_from": list(column.derived_from),
                    "proposed": column.attribute.model_dump(mode="json", exclude_defaults=True),
                }
                for column in self.columns
            },
            "quasi_identifiers": [
                {
                    "attributes": list(strength.attributes), "distinct": strength.distinct,
                    "distinct_ratio": strength.distinct_ratio, "separation_ratio": strength.separation_ratio,
                    "unique": strength.unique, "minimal_key": strength.minimal_key,
                }
                for strength in self.quasi_identifiers
            ],
            "policy": self._build_policy().model_dump(mode="json", exclude_defaults=True),
        }  # fmt: skip


def _as_json(value: Any) -> Any:
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return None
    return str(value) if value is not None and (isinstance(value, timedelta) or not isinstance(value, int | float)) else value
