"""The attributes of a project's table as people classify them: what is decided, what is proposed, and what an edit changes.

The Analyzer proposes; nothing counts before somebody saves or accepts it. An edit is compared with what its form showed, so that
saving a form with a hundred attributes sets only those that were changed in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from discreet.model.attribute import Attribute
from discreet.model.policy import explain
from discreet.web.errors import Invalid
from discreet.web.projects.datasets import Dataset

IN_A_ROW = ("role", "level", "known", "sensitivity")
"""What is edited for all attributes at once; the rest has a page an attribute."""


@dataclass(frozen=True)
class Row:
    """One attribute: the column, and what is said of it."""

    number: int
    name: str
    type: str
    distinct: int | None
    nulls: int | None
    attribute: Attribute
    """As decided, else as proposed, else as nothing is known."""
    decided: bool
    proposed: Attribute | None
    reason: str

    @property
    def differs(self) -> bool:
        """Whether somebody decided otherwise than the Analyzer proposes."""
        return self.decided and self.proposed is not None and self.attribute != self.proposed


def rows(dataset: Dataset, document: Mapping[str, Any]) -> list[Row]:
    """The table's attributes in its order."""
    decided = document.get("attributes") or {}
    found = (dataset.profile or {}).get("attributes") or {}
    made = []
    for number, column in enumerate(dataset.columns):
        name = str(column["name"])
        about = found.get(name) or {}
        proposed = Attribute.model_validate(about["proposed"]) if "proposed" in about else None
        said = Attribute.model_validate(decided[name]) if name in decided else None
        made.append(
            Row(
                number, name, str(column.get("type", "")), column.get("distinct"), column.get("nulls"),
                said or proposed or Attribute(), said is not None, proposed, str(about.get("reason", "")),
            )
        )  # fmt: skip
    return made


def row(dataset: Dataset, document: Mapping[str, Any], name: str) -> Row:
    """One of them, by name."""
    found = next((one for one in rows(dataset, document) if one.name == name), None)
    if found is None:
        raise Invalid(f"the table '{dataset.name}' has no attribute '{name[:80]}'")
    return found


def strangers(dataset: Dataset, document: Mapping[str, Any]) -> list[str]:
    """Attributes that the policy speaks of and the table does not have."""
    columns = {column["name"] for column in dataset.columns}
    return [name for name in document.get("attributes") or {} if name not in columns]


def plain(content: Attribute | Mapping[str, Any], name: str) -> dict[str, Any]:
    """An attribute as a policy keeps it, defaults left out; a sentence that names it where a rule is broken."""
    try:
        made = content if isinstance(content, Attribute) else Attribute.model_validate(dict(content))
    except ValidationError as error:
        raise Invalid(explain(error, Attribute, name)) from None
    return made.model_copy(update={"reason": None}).model_dump(mode="json", exclude_defaults=True)


def edited(row: Row, said: Mapping[str, str]) -> dict[str, Any] | None:
    """What a form's line makes of an attribute; None where it says what it showed."""
    shown = plain(row.attribute, row.name)
    made: dict[str, Any] = {**shown}
    for field in IN_A_ROW:
        if field in said:
            made[field] = said[field].strip().replace(",", ".") or (None if field == "level" else 0)
    wanted = plain(made, row.name)
    return None if wanted == shown else wanted


def accepted(dataset: Dataset, document: Mapping[str, Any]) -> dict[str, Any]:
    """The sections that accept every proposal of which nobody has decided otherwise, the measures of risk included."""
    made: dict[str, Any] = {
        f"attributes.{one.name}": plain(one.proposed, one.name)
        for one in rows(dataset, document)
        if not one.decided and one.proposed is not None
    }
    measures = ((dataset.profile or {}).get("policy") or {}).get("risk")
    if measures and not document.get("risk"):
        made["risk"] = measures
    return made
