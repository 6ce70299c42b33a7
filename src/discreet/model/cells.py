r"""What a single cell of a release may say: a value, an interval, a group, or nothing.

A masked table is a table of text and numbers that any program can read, so a coarser value is written
in a small grammar of its own, and read back by the same module:

    40000..70000     an interval, lower bound inside, upper bound outside
    [36, 49]         an interval with both bounds inside; "(36, 49]" and "[36, 49)" likewise
    <40000  >=70000  an interval open on one side (also <= and >)
    {Flu|Cold}       a group of categories; "|", "\", "{" and "}" inside a name are written "\|" and so on
    *                anything
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[+-]?inf"
_HALF_OPEN = re.compile(rf"\s*({NUMBER})\s*\.\.\s*({NUMBER})\s*")
_BRACKETS = re.compile(rf"\s*([\[(])\s*({NUMBER})\s*(?:,|\.\.)\s*({NUMBER})\s*([\])])\s*")
_ONE_SIDED = re.compile(rf"\s*(<=|>=|<|>)\s*({NUMBER})\s*")


@dataclass(frozen=True, slots=True)
class Interval:
    """Numbers between two bounds; each bound is inside or outside."""

    lower: float
    upper: float
    lower_inside: bool = True
    upper_inside: bool = False

    def __contains__(self, value: float) -> bool:
        above = value >= self.lower if self.lower_inside else value > self.lower
        below = value <= self.upper if self.upper_inside else value < self.upper
        return above and below

    def overlaps(self, other: Interval) -> bool:
        """Whether a number lies in both."""
        low, high = max(self.lower, other.lower), min(self.upper, other.upper)
        return low < high or (low == high and low in self and low in other)

    @property
    def width(self) -> float:
        return self.upper - self.lower

    def __str__(self) -> str:
        if math.isinf(self.lower) and math.isinf(self.upper):
            return "*"
        if math.isinf(self.lower):
            return f"{'<=' if self.upper_inside else '<'}{number_text(self.upper)}"
        if math.isinf(self.upper):
            return f"{'>=' if self.lower_inside else '>'}{number_text(self.lower)}"
        low, high = number_text(self.lower), number_text(self.upper)
        if self.lower_inside and not self.upper_inside:
            return f"{low}..{high}"
        return f"{'[' if self.lower_inside else '('}{low}, {high}{']' if self.upper_inside else ')'}"


@dataclass(frozen=True, slots=True)
class Group:
    """A set of categories, any of which may be the true one."""

    members: frozenset[str]

    def __contains__(self, value: str) -> bool:
        return value in self.members

    def __str__(self) -> str:
        return "{" + "|".join(_escape(member) for member in sorted(self.members)) + "}"


EVERYTHING = "*"


def number_text(value: float) -> str:
    """A number as a person would write it: no '.0' behind a whole one."""
    return str(int(value)) if math.isfinite(value) and value == int(value) and abs(value) < 2**53 else repr(float(value))


def parse_interval(text: str) -> Interval | None:
    """The interval that a text stands for, or None; one that begins or ends beyond all numbers is none."""
    made = _interval(text)
    return made if made is not None and made.lower < math.inf and made.upper > -math.inf else None


def _interval(text: str) -> Interval | None:
    if match := _HALF_OPEN.fullmatch(text):
        return Interval(float(match[1]), float(match[2]))
    if match := _BRACKETS.fullmatch(text):
        return Interval(float(match[2]), float(match[3]), match[1] == "[", match[4] == "]")
    if match := _ONE_SIDED.fullmatch(text):
        sign, bound = match[1], float(match[2])
        if sign.startswith("<"):
            return Interval(-math.inf, bound, False, sign == "<=")
        return Interval(bound, math.inf, sign == ">=", False)
    return None


def parse_group(text: str) -> Group | None:
    """The group that a text such as ``{a|b}`` stands for, or None."""
    if len(text) < 2 or text[0] != "{" or text[-1] != "}":
        return None
    members, current, escaped = [], "", False
    for char in text[1:-1]:
        if escaped:
            current, escaped = current + char, False
        elif char == "\\":
            escaped = True
        elif char == "|":
            members.append(current)
            current = ""
        elif char in "{}":
            return None
        else:
            current += char
    return None if escaped else Group(frozenset([*members, current]))


def is_coarse(text: str) -> bool:
    """Whether a text is an interval, a group or ``*`` rather than a value."""
    return text == EVERYTHING or parse_interval(text) is not None or parse_group(text) is not None


def _escape(member: str) -> str:
    return re.sub(r"([\\|{}])", r"\\\1", member)
