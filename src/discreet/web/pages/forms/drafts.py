"""The form of one attribute. Every value is kept as typed, so that an invalid one can be shown again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

from starlette.datastructures import FormData

from discreet.model.attribute import Attribute
from discreet.model.guess import ends_as_text
from discreet.web.errors import InvalidRequest
from discreet.web.pages.forms import category_order
from discreet.web.projects import hierarchies
from discreet.web.projects.hierarchies import ValueCounts

HIERARCHY_KINDS = ("widths", "quantiles", "prefixes", "dates", "groups")
FREQUENT_VALUES = 20
BLANK_ROWS = 3
MAX_LEVELS = 10


@dataclass(frozen=True)
class AttributeDraft:
    """The contents of the form of one attribute."""

    role: str
    level: str
    known: str
    sensitivity: str
    default: str = ""
    missing: str = ""
    order: str = ""
    weights: tuple[tuple[str, str], ...] = ()
    """(value or interval, sensitivity weight); rows without a weight are offered by the form and not saved."""
    kind: str = "none"
    hierarchy_fields: dict[str, str] = field(default_factory=dict)
    """The text in the fields of each kind of hierarchy."""
    rows: tuple[tuple[str, tuple[str, ...]], ...] | None = None
    """(value, labels per level) as edited; None if the groups are those of the hierarchy."""

    @classmethod
    def from_attribute(cls, attribute: Attribute) -> Self:
        """The form of an attribute of the policy."""
        spec = attribute.hierarchy
        hierarchy_fields: dict[str, str] = {}
        kind = "none"
        if spec is not None:
            kind = next((name for name in HIERARCHY_KINDS if getattr(spec, name)), "none")
            if kind not in ("none", "groups"):
                hierarchy_fields = {
                    kind: ", ".join(_format_value(number) for number in getattr(spec, kind)),
                    "origin": _format_value(spec.origin),
                }
        return cls(
            attribute.role.value, attribute.level.value if attribute.level else "", _format_value(attribute.known),
            _format_value(attribute.sensitivity), "" if attribute.default is None else _format_value(attribute.default),
            "\n".join(attribute.missing), "\n".join(attribute.order or ()),
            tuple((value, _format_value(weight)) for value, weight in attribute.values.items()), kind, hierarchy_fields,
        )  # fmt: skip

    @classmethod
    def from_form(cls, form: FormData) -> Self:
        """The form as the browser sent it."""
        weights = [(_read_text(form, f"value.{n}"), _read_text(form, f"weight.{n}")) for n in _row_numbers(form, "value.")]
        hierarchy_fields = {name: _read_text(form, name) for name in ("widths", "origin", "quantiles", "prefixes")}
        hierarchy_fields["dates"] = ", ".join(str(unit) for unit in form.getlist("dates"))
        kind = "groups" if _read_text(form, "action") == "group" else _read_text(form, "kind")
        order = category_order.read_order(form)
        return cls(
            _read_text(form, "role"),
            _read_text(form, "level"),
            _read_text(form, "known"),
            _read_text(form, "sensitivity"),
            _read_text(form, "default"),
            _read_text(form, "missing"),
            _read_text(form, "order") if order is None else "\n".join(order),
            tuple(pair for pair in weights if any(pair)),
            kind if kind in HIERARCHY_KINDS else "none",
            hierarchy_fields,
            _read_groups(form) if kind == "groups" else None,
        )

    def to_policy_values(self) -> dict[str, Any]:
        """The values of the attribute for the policy, not yet validated."""
        values: dict[str, Any] = {"role": self.role, "level": self.level or None}
        values |= {"known": _normalise_decimal(self.known) or 0, "sensitivity": _normalise_decimal(self.sensitivity) or 0}
        values |= {
            "default": _normalise_decimal(self.default) or None,
            "missing": _split_lines(self.missing),
            "order": _split_lines(self.order) or None,
        }
        weights = [(value, _normalise_decimal(weight)) for value, weight in self.weights if weight]
        if any(not value for value, _ in weights):
            raise InvalidRequest("a weight needs a value or an interval")
        if len({value for value, _ in weights}) < len(weights):
            raise InvalidRequest("a value has two weights; leave one of them empty")
        values["values"] = dict(weights)
        if self.kind == "groups":
            groups = hierarchies.groups_from_rows([(leaf, list(labels)) for leaf, labels in self.rows or ()])
            values["hierarchy"] = {"groups": groups} if groups else None
        else:
            values["hierarchy"] = hierarchies.specification_from_form(self.kind, self.hierarchy_fields)
        return values

    def weight_rows(self, values: ValueCounts) -> list[tuple[str, int | None, str]]:
        """Rows of the table of weights: values with a weight, the most frequent values, and a few blank rows."""
        records = dict(values.counts)
        rows: list[tuple[str, int | None, str]] = [(value, records.get(value), weight) for value, weight in self.weights]
        listed = {value for value, _, _ in rows}
        rows += [(value, count, "") for value, count in values.counts[:FREQUENT_VALUES] if value not in listed]
        return rows + [("", None, "")] * BLANK_ROWS

    def with_all_values_ordered(self, values: ValueCounts) -> Self:
        """A copy whose order has every value of the data, missing ones at its end; an ordered attribute is at least ordinal."""
        leaves = [leaf for leaf, _, _ in hierarchies.editor_rows(values, None)[: hierarchies.MAX_GRID_VALUES]]
        level = "ordinal" if self.level in ("", "nominal") else self.level
        return replace(self, level=level, order="\n".join(dict.fromkeys([*_split_lines(self.order), *leaves])))

    def order_rows(self, values: ValueCounts) -> list[tuple[str, int | None]]:
        """The categories in order with their record counts; None for a category that the data do not have."""
        records = dict(values.counts)
        return [(value, records.get(value)) for value in _split_lines(self.order)]


def _read_groups(form: FormData) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if "rows" in form:
        return tuple((leaf, tuple(labels)) for leaf, labels in hierarchies.parse_text(_read_text(form, "rows")))
    depth = min(int(_read_text(form, "depth") or 0) if _read_text(form, "depth").isdecimal() else 0, MAX_LEVELS)
    return tuple(
        (str(form[f"leaf.{n}"]), tuple(_read_text(form, f"label.{n}.{level}") for level in range(depth)))
        for n in _row_numbers(form, "leaf.")
    )


def group_ticked(draft: AttributeDraft, form: FormData) -> AttributeDraft:
    """The draft with the ticked values in one group of a level.

    Where their coarser labels differ, they are cleared: values of one group are together on every level above it.
    """
    name, level = _read_text(form, "group"), _read_text(form, "group-level") or "1"
    ticked = {str(form.get(f"leaf.{n}", "")) for n in form.getlist("tick")}
    if not name or not ticked:
        raise InvalidRequest("tick the values that belong together, and give the group a name")
    if not level.isdecimal() or not 1 <= int(level) <= MAX_LEVELS:
        raise InvalidRequest(f"the level of a group is a whole number from 1 to {MAX_LEVELS}; got '{level[:40]}'")
    place = int(level) - 1
    rows = draft.rows or ()
    coarser = {tuple(labels[place + 1 :]) for leaf, labels in rows if leaf in ticked}
    kept = next(iter(coarser)) if len(coarser) == 1 else ()
    grouped = []
    for leaf, labels in rows:
        below = (*labels[:place], *[""] * (place - len(labels[:place])))
        grouped.append((leaf, (*below, name, *kept) if leaf in ticked else labels))
    return replace(draft, rows=tuple(grouped))


def _row_numbers(form: FormData, prefix: str) -> list[str]:
    return [row for key in form if (row := key.removeprefix(prefix)) != key and row.isdecimal()]


def _read_text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return value.replace("\r\n", "\n").strip() if isinstance(value, str) else ""


def _split_lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _normalise_decimal(text: str) -> str:
    return text.strip().replace(",", ".")


def _format_value(value: Any) -> str:
    return ends_as_text(value) if isinstance(value, float) else str(value)
