"""An attribute on its way between the policy and a form: everything as typed, so that what was wrong can be shown again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

from starlette.datastructures import FormData

from discreet.model.attribute import Attribute
from discreet.web.errors import Invalid
from discreet.web.pages.forms import category_order
from discreet.web.projects import hierarchies
from discreet.web.projects.hierarchies import Values

KINDS = ("widths", "quantiles", "prefixes", "dates", "groups")
TOP = 20
BLANK = 3
DEEPEST = 10


@dataclass(frozen=True)
class Draft:
    """What the form of one attribute holds."""

    role: str
    level: str
    known: str
    sensitivity: str
    default: str = ""
    missing: str = ""
    order: str = ""
    weights: tuple[tuple[str, str], ...] = ()
    """Values or intervals with a weight each; those without one are offered, not said."""
    kind: str = "none"
    said: dict[str, str] = field(default_factory=dict)
    """What stands in the fields of each kind of hierarchy."""
    rows: tuple[tuple[str, tuple[str, ...]], ...] | None = None
    """The groups as edited in a table or as text; None where they are as the hierarchy makes them."""

    @classmethod
    def of(cls, attribute: Attribute) -> Self:
        """As the policy says it."""
        spec = attribute.hierarchy
        said: dict[str, str] = {}
        kind = "none"
        if spec is not None:
            kind = next((one for one in KINDS if getattr(spec, one)), "none")
            if kind not in ("none", "groups"):
                said = {kind: ", ".join(_text(one) for one in getattr(spec, kind)), "origin": _text(spec.origin)}
        return cls(
            attribute.role.value, attribute.level.value if attribute.level else "", _text(attribute.known),
            _text(attribute.sensitivity), "" if attribute.default is None else _text(attribute.default),
            "\n".join(attribute.missing), "\n".join(attribute.order or ()),
            tuple((value, _text(weight)) for value, weight in attribute.values.items()), kind, said,
        )  # fmt: skip

    @classmethod
    def sent(cls, form: FormData) -> Self:
        """As a form says it."""
        weights = [(_said(form, f"value.{n}"), _said(form, f"weight.{n}")) for n in _places(form, "value.")]
        said = {name: _said(form, name) for name in ("widths", "origin", "quantiles", "prefixes")}
        said["dates"] = ", ".join(str(one) for one in form.getlist("dates"))
        kind = _said(form, "kind")
        listed = category_order.sent(form)
        return cls(
            _said(form, "role"), _said(form, "level"), _said(form, "known"), _said(form, "sensitivity"), _said(form, "default"),
            _said(form, "missing"), _said(form, "order") if listed is None else "\n".join(listed),
            tuple(pair for pair in weights if any(pair)),
            kind if kind in KINDS else "none", said, _rows(form) if kind == "groups" else None,
        )  # fmt: skip

    def content(self) -> dict[str, Any]:
        """The attribute as a policy would say it; the rules are the attribute's own."""
        made: dict[str, Any] = {"role": self.role, "level": self.level or None}
        made |= {"known": _number(self.known) or 0, "sensitivity": _number(self.sensitivity) or 0}
        made |= {"default": _number(self.default) or None, "missing": _lines(self.missing), "order": _lines(self.order) or None}
        weighed = [(value, _number(weight)) for value, weight in self.weights if weight]
        if any(not value for value, _ in weighed):
            raise Invalid("a weight needs the value or interval that it is for")
        if len({value for value, _ in weighed}) < len(weighed):
            raise Invalid("a value has two weights; leave one of them empty")
        made["values"] = dict(weighed)
        if self.kind == "groups":
            groups = hierarchies.as_groups([(leaf, list(labels)) for leaf, labels in self.rows or ()])
            made["hierarchy"] = {"groups": groups} if groups else None
        else:
            made["hierarchy"] = hierarchies.proposed(self.kind, self.said)
        return made

    def offered(self, found: Values) -> list[tuple[str, int | None, str]]:
        """Lines for the table of weights: what has one, the most frequent values, and a few empty ones."""
        records = dict(found.counts)
        made: list[tuple[str, int | None, str]] = [(value, records.get(value), weight) for value, weight in self.weights]
        named = {value for value, _, _ in made}
        made += [(value, count, "") for value, count in found.counts[:TOP] if value not in named]
        return made + [("", None, "")] * BLANK

    def ordered(self, found: Values) -> Self:
        """With every value of the data in the order, those that it lacks at its end; what has an order is ordinal at least."""
        leaves = [leaf for leaf, _, _ in hierarchies.as_rows(found, None)[: hierarchies.GRID]]
        level = "ordinal" if self.level in ("", "nominal") else self.level
        return replace(self, level=level, order="\n".join(dict.fromkeys([*_lines(self.order), *leaves])))

    def places(self, found: Values) -> list[tuple[str, int | None]]:
        """The categories in their order with their records; None where the data do not hold one."""
        records = dict(found.counts)
        return [(value, records.get(value)) for value in _lines(self.order)]


def _rows(form: FormData) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if "rows" in form:
        return tuple((leaf, tuple(labels)) for leaf, labels in hierarchies.from_text(_said(form, "rows")))
    deep = min(int(_said(form, "depth") or 0) if _said(form, "depth").isdecimal() else 0, DEEPEST)
    return tuple(
        (str(form[f"leaf.{n}"]), tuple(_said(form, f"label.{n}.{level}") for level in range(deep)))
        for n in _places(form, "leaf.")
    )


def _places(form: FormData, start: str) -> list[str]:
    return [place for key in form if (place := key.removeprefix(start)) != key and place.isdecimal()]


def _said(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return value.replace("\r\n", "\n").strip() if isinstance(value, str) else ""


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _number(text: str) -> str:
    return text.strip().replace(",", ".")


def _text(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)
