"""The attributes of a project's table: saved classification, the Analyzer's proposal, and the changes of an edit.

The Analyzer only proposes; nothing takes effect before a user saves or accepts it. An edit is compared with what its form showed,
so that saving a form with a hundred attributes sets only those that were changed in it.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from discreet.model.attribute import Attribute
from discreet.model.validation_errors import explain_validation_error
from discreet.web.errors import InvalidRequest
from discreet.web.projects.datasets import Dataset

ROW_FIELDS = ("role", "level", "known", "sensitivity")
"""Fields that are edited for all attributes on one page; the others are edited on one page per attribute."""


@dataclass(frozen=True)
class AttributeRow:
    """An attribute: its column and its classification."""

    number: int
    name: str
    type: str
    distinct: int | None
    nulls: int | None
    attribute: Attribute
    """As saved, otherwise as proposed, otherwise the default."""
    decided: bool
    proposed: Attribute | None
    reason: str
    confidence: float | None = None
    """How sure the Analyzer is of the role, from 0 to 1; None before it has run."""
    distribution: Mapping[str, Any] | None = None
    """Counts of values or intervals; see :mod:`discreet.web.jobs.distributions`."""

    @property
    def differs(self) -> bool:
        """Whether the saved classification differs from the Analyzer's proposal."""
        return self.decided and self.proposed is not None and self.attribute != self.proposed


def list_attributes(dataset: Dataset, document: Mapping[str, Any]) -> list[AttributeRow]:
    """The attributes of a table, in the order of its columns."""
    decided = document.get("attributes") or {}
    analyzed = (dataset.profile or {}).get("attributes") or {}
    attribute_rows = []
    for number, column in enumerate(dataset.columns):
        name = str(column["name"])
        finding = analyzed.get(name) or {}
        proposed = Attribute.model_validate(finding["proposed"]) if "proposed" in finding else None
        saved = Attribute.model_validate(decided[name]) if name in decided else None
        attribute_rows.append(
            AttributeRow(
                number, name, str(column.get("type", "")), column.get("distinct"), column.get("nulls"),
                saved or proposed or Attribute(), saved is not None, proposed, str(finding.get("reason", "")),
                finding.get("confidence"), finding.get("distribution"),
            )
        )  # fmt: skip
    return attribute_rows


def get_attribute(dataset: Dataset, document: Mapping[str, Any], name: str) -> AttributeRow:
    """An attribute of a table, by name."""
    attribute_row = next((candidate for candidate in list_attributes(dataset, document) if candidate.name == name), None)
    if attribute_row is None:
        raise InvalidRequest(f"the table '{dataset.name}' has no attribute '{name[:80]}'")
    return attribute_row


def unknown_attributes(dataset: Dataset, document: Mapping[str, Any]) -> list[str]:
    """Attributes that the policy defines but the table does not have."""
    columns = {column["name"] for column in dataset.columns}
    return [name for name in document.get("attributes") or {} if name not in columns]


def to_policy_values(content: Attribute | Mapping[str, Any], name: str) -> dict[str, Any]:
    """An attribute as stored in a policy, without defaults; raises an error that names the attribute if it is invalid."""
    try:
        attribute = content if isinstance(content, Attribute) else Attribute.model_validate(dict(content))
    except ValidationError as error:
        raise InvalidRequest(explain_validation_error(error, Attribute, name)) from None
    return attribute.model_copy(update={"reason": None}).model_dump(mode="json", exclude_defaults=True)


def changed_values(row: AttributeRow, submitted: Mapping[str, str]) -> dict[str, Any] | None:
    """The values of an attribute after a form row was submitted; None if the row was not changed."""
    shown = to_policy_values(row.attribute, row.name)
    requested = to_policy_values({**shown, **_parse_fields(submitted)}, row.name)
    return None if requested == shown else requested


def bulk_values(row: AttributeRow, values: dict[str, Any] | None, common: Mapping[str, str]) -> dict[str, Any] | None:
    """The values of one of several attributes that get common values, on top of its own changes; None if nothing changes.

    ``common`` holds only fields that are to be set. A value that equals the proposal decides the attribute all the same.
    """
    shown = to_policy_values(row.attribute, row.name)
    requested = to_policy_values({**(shown if values is None else values), **_parse_fields(common)}, row.name)
    return values if row.decided and requested == shown else requested


def _parse_fields(submitted: Mapping[str, str]) -> dict[str, Any]:
    return {
        field: submitted[field].strip().replace(",", ".") or (None if field == "level" else 0)
        for field in ROW_FIELDS
        if field in submitted
    }


def proposal_sections(dataset: Dataset, document: Mapping[str, Any], names: Container[str] | None = None) -> dict[str, Any]:
    """The policy sections that accept the proposals for attributes without a saved classification and for the risk measures.

    With ``names``, only those attributes, and no measures.
    """
    sections: dict[str, Any] = {
        f"attributes.{attribute_row.name}": to_policy_values(attribute_row.proposed, attribute_row.name)
        for attribute_row in list_attributes(dataset, document)
        if not attribute_row.decided and attribute_row.proposed is not None and (names is None or attribute_row.name in names)
    }
    if names is not None:
        return sections
    measures = ((dataset.profile or {}).get("policy") or {}).get("risk")
    if measures and not document.get("risk"):
        sections["risk"] = measures
    return sections
