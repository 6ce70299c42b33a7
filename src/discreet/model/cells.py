r"""The grammar of a released cell: a value, an interval, a group, a pattern, or ``*``.

A masked table is a table of text and numbers that any program can read, so a coarser value is written
as text in a small grammar, and parsed by this module:

    40000..70000     an interval, lower bound inside, upper bound outside
    [36, 49]         an interval with both bounds inside; "(36, 49]" and "[36, 49)" likewise
    <40000  >=70000  an interval open on one side (also <= and >)
    {Flu|Cold}       a group; "|", "\", "{", "}" and "*" inside a name are written "\|" and so on
    {1..5|9}         a group of numbers, dates or times may hold intervals
    !{Flu|Cold}      anything but these
    4820*            a text of five characters that begins with 4820, or an integer of that shape
    2014-05          of dates: a month, and likewise 2014, 2014-Q2, 2014-W07 (ISO week) and 2010s
    *                anything

Bounds and members are values of the column's *kind* (:data:`Kind`): ``2014-05-01..2014-06-01`` is an interval of dates.
The meaning of a label that is not in this grammar is declared in :class:`ColumnCells`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from discreet.model.cell_values import KINDS, LITERALS, NUMBER, Kind, number_text, parse_value, unit_bounds, value_text

__all__ = [
    "EVERYTHING", "KINDS", "NUMBER", "Cell", "ColumnCells", "Group", "Interval", "Kind", "Prefix", "is_coarse", "number_text",
    "parse_cell", "parse_group", "parse_interval", "parse_value", "union", "value_text",
]  # fmt: skip

_CELLS_REMEMBERED = 65_536
"""Parsed texts that are remembered: several measures read the labels of one release."""
_DIGITS_AND_STARS = re.compile(r"(-?)(\d+)(\*+)")
_SHAPES = {
    kind: (
        re.compile(rf"\s*({literal})\s*\.\.\s*({literal})\s*"),
        re.compile(rf"\s*([\[(])\s*({literal})\s*(?:,|\.\.)\s*({literal})\s*([\])])\s*"),
        re.compile(rf"\s*(<=|>=|<|>)\s*({literal})\s*"),
    )
    for kind, literal in LITERALS.items()
}


@dataclass(frozen=True, slots=True)
class Interval:
    """Values between two bounds, each included or excluded; an infinite bound leaves that side open."""

    lower: Any
    upper: Any
    lower_inside: bool = True
    upper_inside: bool = False

    def __contains__(self, value: Any) -> bool:
        above = _is_open(self.lower) or (value >= self.lower if self.lower_inside else value > self.lower)
        below = _is_open(self.upper) or (value <= self.upper if self.upper_inside else value < self.upper)
        return bool(above and below)

    def overlaps(self, other: Interval) -> bool:
        """Whether some value lies in both intervals."""
        lows = [bound for bound in (self.lower, other.lower) if not _is_open(bound)]
        highs = [bound for bound in (self.upper, other.upper) if not _is_open(bound)]
        if not lows or not highs:
            return True
        low, high = max(lows), min(highs)
        return bool(low < high or (low == high and low in self and low in other))

    @property
    def width(self) -> float:
        return float(self.upper - self.lower)

    def __str__(self) -> str:
        if _is_open(self.lower) and _is_open(self.upper):
            return EVERYTHING
        if _is_open(self.lower):
            return f"{'<=' if self.upper_inside else '<'}{value_text(self.upper)}"
        if _is_open(self.upper):
            return f"{'>=' if self.lower_inside else '>'}{value_text(self.lower)}"
        low, high = value_text(self.lower), value_text(self.upper)
        if self.lower_inside and not self.upper_inside:
            return f"{low}..{high}"
        return f"{'[' if self.lower_inside else '('}{low}, {high}{']' if self.upper_inside else ')'}"


@dataclass(frozen=True, slots=True)
class Prefix:
    """Texts of a given length with a given prefix."""

    prefix: str
    length: int

    def __contains__(self, value: str) -> bool:
        return len(value) == self.length and value.startswith(self.prefix)

    def __str__(self) -> str:
        return self.prefix + "*" * (self.length - len(self.prefix))


@dataclass(frozen=True, slots=True)
class Group:
    """A set of values, any of which may be the original one; ``parts`` are further intervals or patterns of the set.

    With ``others`` it is the complement: every value except these.
    """

    members: frozenset[str]
    parts: frozenset[Interval | Prefix] = frozenset()
    others: bool = False

    def __contains__(self, value: str) -> bool:
        return (value in self.members or any(value in part for part in self.parts)) != self.others

    def __str__(self) -> str:
        texts = [_escape(member) for member in self.members] + [_part_text(part) for part in self.parts]
        return ("!{" if self.others else "{") + "|".join(sorted(texts)) + "}"


Cell = Interval | Prefix | Group
EVERYTHING = "*"


class ColumnCells(BaseModel):
    """The meaning of the labels of a masked column.

    ``kind`` is the type of the original values. ``labels`` maps a label, in its printed form, to a cell in the grammar; it holds
    only labels that the grammar does not already explain for that kind. A column with such an entry is fully described: in a text
    column, everything that is neither a label nor a cell of the grammar is a value.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind = Field(description="type of the original values: number, date, datetime, time, duration, boolean or text")
    labels: Mapping[str, str] = Field(default_factory=dict, description="label to the cell that it stands for")

    @field_validator("labels", mode="before")
    @classmethod
    def _texts(cls, labels: Any) -> Any:
        if not isinstance(labels, Mapping):
            return labels
        return {_yaml_text(label): _yaml_text(cell) for label, cell in labels.items()}

    @model_validator(mode="after")
    def _labels_are_cells(self) -> ColumnCells:
        for label, cell in self.labels.items():
            if cell != EVERYTHING and parse_cell(cell, self.kind) is None and parse_value(cell, self.kind) is None:
                raise ValueError(f"the label '{label}' stands for '{cell}', which is not a cell of kind {self.kind}")
        return self


def _yaml_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@lru_cache(maxsize=_CELLS_REMEMBERED)
def parse_cell(text: str, kind: Kind) -> Cell | None:
    """The interval, group or pattern that a text denotes for a kind of values; None where it is a value, ``*`` or a label.

    >>> parse_cell("2014-02", "date")
    Interval(lower=datetime.date(2014, 2, 1), upper=datetime.date(2014, 3, 1), lower_inside=True, upper_inside=False)
    >>> parse_cell("4820*", "text"), str(parse_cell("4820*", "number"))
    (Prefix(prefix='4820', length=5), '48200..48210')
    """
    if (tokens := _split_group(text)) is not None:
        return _group(tokens, kind, others=text.startswith("!"))
    if kind == "text":
        return _pattern(text)
    if (interval := parse_interval(text, kind)) is not None:
        return interval
    if kind == "number":
        return _digit_pattern(text)
    bounds = unit_bounds(text, kind) if kind in ("date", "datetime") else None
    return Interval(*bounds) if bounds is not None else None


def parse_interval(text: str, kind: Kind = "number") -> Interval | None:
    """The interval that a text denotes, or None; None also for an interval that starts at infinity or ends at minus infinity."""
    interval = _interval(text, kind)
    if interval is None or interval.lower == math.inf or interval.upper == -math.inf:
        return None
    return interval


def _interval(text: str, kind: Kind) -> Interval | None:
    if kind not in _SHAPES:
        return None
    half_open, brackets, one_sided = _SHAPES[kind]
    if match := half_open.fullmatch(text):
        return _between(match[1], match[2], kind)
    if match := brackets.fullmatch(text):
        return _between(match[2], match[3], kind, match[1] == "[", match[4] == "]")
    if match := one_sided.fullmatch(text):
        sign, bound = match[1], parse_value(match[2], kind)
        if bound is None:
            return None
        if sign.startswith("<"):
            return Interval(-math.inf, bound, False, sign == "<=")
        return Interval(bound, math.inf, sign == ">=", False)
    return None


def _between(low: str, high: str, kind: Kind, lower_inside: bool = True, upper_inside: bool = False) -> Interval | None:
    lower, upper = parse_value(low, kind), parse_value(high, kind)
    return None if lower is None or upper is None else Interval(lower, upper, lower_inside, upper_inside)


def parse_group(text: str) -> Group | None:
    """The group of texts that a text such as ``{a|b}`` denotes, or None."""
    if text.startswith("!") or (tokens := _split_group(text)) is None:
        return None
    return Group(frozenset(_unescape(token) for token in tokens))


def is_coarse(text: str) -> bool:
    """Whether a text denotes an interval of numbers, a group or ``*`` and not a value."""
    return text == EVERYTHING or parse_interval(text) is not None or parse_group(text) is not None


def union(cells: Iterable[Cell | str], kind: Kind) -> Cell | str:
    """The union of several cells (or texts of values) as one cell.

    Intervals that touch are joined. The union of a complement with anything else is ``*``.

    >>> str(union([Interval(0, 10), Interval(10, 20), "25"], "number"))
    '{0..20|25}'
    """
    members: set[str] = set()
    intervals: list[Interval] = []
    patterns: set[Interval | Prefix] = set()
    complement: Group | None = None
    for cell in cells:
        if isinstance(cell, Group):
            if cell.others:
                if complement not in (None, cell):
                    return EVERYTHING
                complement = cell
                continue
            members |= cell.members
            intervals += [part for part in cell.parts if isinstance(part, Interval)]
            patterns |= {part for part in cell.parts if isinstance(part, Prefix)}
        elif isinstance(cell, Interval):
            intervals.append(cell)
        elif isinstance(cell, Prefix):
            patterns.add(cell)
        elif cell == EVERYTHING:
            return EVERYTHING
        else:
            members.add(cell)
    if complement is not None:
        return EVERYTHING if members or intervals or patterns else complement
    joined = _merge_intervals(intervals)
    if any(_is_open(interval.lower) and _is_open(interval.upper) for interval in joined):
        return EVERYTHING
    if joined or patterns:
        members = {text for text in members if not _is_inside(text, kind, joined, patterns)}
    parts = frozenset(joined) | frozenset(patterns)
    if not members and len(parts) == 1:
        return next(iter(parts))
    if len(members) == 1 and not parts:
        return next(iter(members))
    return Group(frozenset(members), parts)


def _is_inside(text: str, kind: Kind, intervals: Iterable[Interval], patterns: Iterable[Any]) -> bool:
    if any(text in pattern for pattern in patterns):
        return True
    value = parse_value(text, kind) if kind != "text" else None
    return value is not None and any(value in interval for interval in intervals)


def _merge_intervals(intervals: list[Interval]) -> list[Interval]:
    """The intervals in order, those that overlap or touch merged into one."""
    merged: list[Interval] = []
    for interval in sorted(
        intervals, key=lambda interval: (not _is_open(interval.lower), _Key(interval.lower), not interval.lower_inside)
    ):
        last = merged[-1] if merged else None
        if last is not None and (
            _is_open(last.upper) or _is_open(interval.lower) or interval.lower < last.upper or _touch(last, interval)
        ):
            further = not _is_open(last.upper) and (
                _is_open(interval.upper)
                or interval.upper > last.upper
                or (interval.upper == last.upper and interval.upper_inside)
            )
            if further:
                merged[-1] = Interval(last.lower, interval.upper, last.lower_inside, interval.upper_inside)
        else:
            merged.append(interval)
    return merged


def _touch(left: Interval, right: Interval) -> bool:
    return bool(left.upper == right.lower and (left.upper_inside or right.lower_inside))


@dataclass(frozen=True)
class _Key:
    """A sort key for bounds: an open bound sorts before all others."""

    bound: Any

    def __lt__(self, other: _Key) -> bool:
        if _is_open(self.bound) or _is_open(other.bound):
            return bool(_is_open(self.bound) and not _is_open(other.bound))
        return bool(self.bound < other.bound)


def _is_open(bound: Any) -> bool:
    return isinstance(bound, float) and math.isinf(bound)


def _pattern(text: str) -> Prefix | None:
    beginning = text.rstrip("*")
    return Prefix(beginning, len(text)) if len(beginning) < len(text) and text != EVERYTHING else None


def _digit_pattern(text: str) -> Interval | None:
    """The interval of integers with the given first digits, such as ``4820*``."""
    if (match := _DIGITS_AND_STARS.fullmatch(text)) is None:
        return None
    size = 10 ** len(match[3])
    low = int(match[2]) * size
    return Interval(-low - size, -low, False, True) if match[1] else Interval(low, low + size)


def _split_group(text: str) -> list[str] | None:
    """The members between ``{`` and ``}``, still escaped; None where the text is not a group."""
    text = text.removeprefix("!")
    if len(text) < 2 or text[0] != "{" or text[-1] != "}":
        return None
    if "\\" not in text:  # nearly always, and groups of a large table are many
        return None if "{" in text[1:-1] or "}" in text[1:-1] else text[1:-1].split("|")
    tokens, current, escaped = [], "", False
    for char in text[1:-1]:
        if escaped:
            current, escaped = current + char, False
        elif char == "\\":
            current, escaped = current + char, True
        elif char == "|":
            tokens.append(current)
            current = ""
        elif char in "{}":
            return None
        else:
            current += char
    return None if escaped else [*tokens, current]


def _group(tokens: list[str], kind: Kind, *, others: bool) -> Group | None:
    if kind == "text" and not any("*" in token or "\\" in token for token in tokens):
        return Group(frozenset(tokens), others=others)
    members, parts = set(), set()
    for token in tokens:
        part = _escaped_pattern(token) if kind == "text" else parse_cell(_unescape(token), kind)
        member = _unescape(token)
        if isinstance(part, Interval | Prefix):
            parts.add(part)
        elif parse_value(member, kind) is not None:
            members.add(member)
        else:
            return None
    return Group(frozenset(members), frozenset(parts), others)


def _escaped_pattern(token: str) -> Prefix | None:
    """A pattern inside a group: the stars of a pattern are not escaped, those of a name are."""
    beginning = token.rstrip("*")
    if len(beginning) == len(token):
        return None
    if (len(beginning) - len(beginning.rstrip("\\"))) % 2:  # the first star is escaped
        if len(beginning) + 1 == len(token):
            return None
        beginning += "*"
    return Prefix(_unescape(beginning), len(_unescape(beginning)) + len(token) - len(beginning))


def _part_text(part: Interval | Prefix) -> str:
    if isinstance(part, Interval):
        return str(part)
    return _escape(part.prefix) + "*" * (part.length - len(part.prefix))


_ESCAPED = re.compile(r"([\\|{}*])")


def _escape(member: str) -> str:
    # groups of a large table repeat the same values thousands of times, and few hold a character of the grammar
    return _ESCAPED.sub(r"\\\1", member) if _ESCAPED.search(member) else member


def _unescape(token: str) -> str:
    return re.sub(r"\\(.)", r"\1", token, flags=re.DOTALL) if "\\" in token else token
