"""What a person looks at in the workspace: all of it is in the address, so that a view can be kept, shared and opened again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import urlencode

from discreet.web.errors import InvalidRequest

SORTS = ("after", "before", "row")
RISK = "\0risk"
"""The attribute of a brush on the risk distribution; no column has such a name."""
_MOST = 2**31 - 1


@dataclass(frozen=True)
class View:
    """A threshold, a brushed bar, an order and page of the list, an open record, and guesses that are not saved."""

    RISK: ClassVar[str] = RISK
    at: int | None = None
    """The position of the threshold's slider; None: the policy's threshold."""
    on: str = ""
    """The attribute whose bar is brushed, ``RISK`` for the risk distribution."""
    bar: int | None = None
    sort: str = "after"
    page: int = 1
    record: int | None = None
    """The number of the open record, from 1."""
    known: Mapping[str, str] = field(default_factory=dict)
    """Probabilities of the sliders as they were sent, by field."""

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> View:
        """Read a view from an address; raises where a part is not valid."""
        sort = query.get("sort") or "after"
        if sort not in SORTS:
            raise InvalidRequest(f"records are sorted by {', '.join(SORTS)}; got '{sort[:40]}'")
        known = {name: value for name, value in query.items() if name.startswith("known.")}
        bar = _whole_number(query, "bar")
        on = query.get("on", "") if bar is not None else ""
        return cls(
            _whole_number(query, "at"), RISK if on == "risk" and query.get("of") != "attribute" else on, bar if on else None,
            sort, max(_whole_number(query, "page") or 1, 1), _whole_number(query, "record"), known,
        )  # fmt: skip

    @property
    def brushes_risk(self) -> bool:
        """Whether a bar of the risk distribution is brushed."""
        return self.on == RISK

    def to_query(self, **changes: Any) -> str:
        """The address of this view with some parts changed; without the page unless it is given, because the list changes."""
        parts: dict[str, Any] = {
            "at": self.at, "on": self.on, "bar": self.bar, "sort": self.sort, "record": self.record, **self.known, **changes,
        }  # fmt: skip
        if parts.get("on") == RISK:
            parts["on"] = "risk"
        elif parts.get("on") == "risk":
            parts["of"] = "attribute"
        if parts.get("sort") == "after":
            parts["sort"] = None
        return "?" + urlencode({name: value for name, value in parts.items() if value not in (None, "")})


def _whole_number(query: Mapping[str, str], name: str) -> int | None:
    text = query.get(name, "")
    if not text:
        return None
    if not text.isdecimal() or not text.isascii() or int(text[:12]) > _MOST:
        raise InvalidRequest(f"'{name}' must be a whole number; got '{text[:40]}'")
    return int(text)
