"""Which attributes the page of all attributes shows, in which order, and how their distributions are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlencode

from discreet.model.attribute import Role
from discreet.web.projects.attributes import AttributeRow

ROWS_PER_PAGE = 50
CONFIDENCES = {"doubtful": (0.0, 0.5), "likely": (0.5, 0.8), "sure": (0.8, 1.01)}
"""Ranges of the Analyzer's confidence: lower bound inside, upper outside."""
ORDERS = {"doubtful": "doubtful first", "table": "order of the table", "name": "name"}
STATES = {"open": "not decided", "decided": "decided"}
BAR_WIDTH, BAR_STEP, HEIGHT = 7, 8, 24
"""Of a distribution in pixels: the width of a bar, the distance to the next, and the height of the highest."""


@dataclass(frozen=True)
class AttributeFilter:
    """What the filter form holds; empty texts select everything."""

    text: str = ""
    role: str = ""
    confidence: str = ""
    state: str = ""
    order: str = "doubtful"
    page: int = 1

    @classmethod
    def from_query(cls, query: Mapping[str, Any]) -> Self:
        """The filter of an address or form; what is not understood is ignored."""
        page = str(query.get("page", ""))
        order = str(query.get("order", ""))
        return cls(
            str(query.get("text", "")).strip()[:200],
            role if (role := str(query.get("role", ""))) in set(Role) else "",
            confidence if (confidence := str(query.get("confidence", ""))) in CONFIDENCES else "",
            state if (state := str(query.get("state", ""))) in STATES else "",
            order if order in ORDERS else "doubtful",
            int(page) if page.isdecimal() and 0 < len(page) < 6 and int(page) > 0 else 1,
        )

    @property
    def active(self) -> bool:
        """Whether it hides anything."""
        return bool(self.text or self.role or self.confidence or self.state)

    def address(self, page: int | None = None) -> str:
        """The query of the page with this filter."""
        values = {name: value for name, value in vars(self).items() if value not in ("", "doubtful") or name == "confidence"}
        values["page"] = self.page if page is None else page
        return urlencode({name: value for name, value in values.items() if value not in ("", 1)})

    def select(self, rows: Sequence[AttributeRow]) -> list[AttributeRow]:
        """The rows that match, in order."""
        matching = [row for row in rows if self._matches(row)]
        if self.order == "name":
            matching.sort(key=lambda row: row.name.casefold())
        elif self.order == "doubtful":
            matching.sort(key=lambda row: (row.decided, 1.0 if row.decided or row.confidence is None else row.confidence))
        return matching

    def _matches(self, row: AttributeRow) -> bool:
        if self.text and self.text.casefold() not in f"{row.name}\n{row.reason}".casefold():
            return False
        if self.role and row.attribute.role != self.role:
            return False
        if self.state and row.decided != (self.state == "decided"):
            return False
        return not self.confidence or confidence_label(row.confidence) == self.confidence


def confidence_label(confidence: float | None) -> str:
    """A confidence in a word; empty if there is none.

    >>> confidence_label(0.3), confidence_label(0.5), confidence_label(1.0), confidence_label(None)
    ('doubtful', 'likely', 'sure', '')
    """
    if confidence is None:
        return ""
    return next((word for word, (low, high) in CONFIDENCES.items() if low <= confidence < high), "")


@dataclass(frozen=True)
class Bars:
    """A distribution as the outline of its bars, and in words."""

    path: str
    width: int
    description: str


def draw_bars(distribution: Mapping[str, Any] | None) -> Bars | None:
    """The bars of a distribution as one SVG path; None if there is none.

    >>> draw_bars({"kind": "values", "counts": [2, 1], "labels": ["f", "m"], "others": 0})
    Bars(path='M0 24v-24h7v24zM8 24v-12h7v12z', width=16, description='f 2, m 1')
    """
    counts = list((distribution or {}).get("counts") or ())
    if distribution is None or not counts or max(counts) <= 0:
        return None
    highest = max(counts)
    # a count that is not zero stays visible
    heights = [max(1, round(HEIGHT * count / highest)) if count else 0 for count in counts]
    path = "".join(f"M{BAR_STEP * at} {HEIGHT}v-{high}h{BAR_WIDTH}v{high}z" for at, high in enumerate(heights) if high)
    labels = [str(label) for label in distribution.get("labels") or ()]
    if distribution.get("kind") == "intervals":
        description = f"{labels[0]} to {labels[1]}, {len(counts)} intervals, highest count {highest:,}"
    else:
        description = ", ".join(f"{label} {count:,}" for label, count in zip(labels, counts, strict=False))
        if others := distribution.get("others"):
            description += f", others {others:,}"
    return Bars(path, BAR_STEP * len(counts), description)
