"""A number between 0 and 1 that the data controller guesses: one number, or a range of which the upper end counts.

Risk rises with every probability that an attribute is known and with every sensitivity (docs/theory/ranges.md), so the upper end
of a range is the worst case. A :class:`Guess` is that upper end wherever a number is needed; only what compares the two ends
asks for ``low``.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field, PlainSerializer, ValidatorFunctionWrapHandler, WithJsonSchema, WrapValidator


class Guess(float):
    """The upper end of a range, with its lower end.

    >>> known = Guess(0.1, 0.5)
    >>> known, known.low, known * 2
    ([0.1, 0.5], 0.1, 1.0)
    """

    low: float

    def __new__(cls, low: float, high: float) -> Guess:
        guess = super().__new__(cls, high)
        guess.low = float(low)
        return guess

    def __reduce__(self) -> tuple[type[Guess], tuple[float, float]]:
        return Guess, (self.low, float(self))

    def __repr__(self) -> str:
        return f"[{self.low!r}, {float(self)!r}]"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Guess):
            return (self.low, float(self)) == (other.low, float(other))
        return False if isinstance(other, int | float) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other  # a float's own comparison would look at the upper ends alone

    def __hash__(self) -> int:
        return hash((self.low, float(self)))


def ends_as_text(value: float) -> str:
    """A number, or a range as people write it.

    >>> ends_as_text(0.25), ends_as_text(Guess(0.1, 0.5))
    ('0.25', '0.1 to 0.5')
    """
    return f"{value.low:.12g} to {float(value):.12g}" if isinstance(value, Guess) else f"{value:.12g}"


def _read(value: Any, check: ValidatorFunctionWrapHandler) -> float:
    if isinstance(value, Guess):
        return value
    if isinstance(value, str) and (ends := _WRITTEN.fullmatch(value.strip())) is not None:
        value = [ends[1], ends[2]]
    if not isinstance(value, list | tuple):
        return float(check(value))
    if len(value) != 2:
        raise ValueError(f"a range has two ends, such as [0.1, 0.5]; got {len(value)} numbers")
    low, high = (float(check(end)) for end in value)
    if low > high:
        raise ValueError(f"a range goes from its lower to its upper end; got [{low:g}, {high:g}]")
    return high if low == high else Guess(low, high)


def ends_of(value: float) -> float | list[float]:
    """A number as it is, a range as the list of its ends, as policies and JSON have it."""
    return [value.low, float(value)] if isinstance(value, Guess) else value


_WRITTEN = re.compile(r"(\S+?)\s*(?:\.\.|\bto\b)\s*(\S+)")
"""A range as a form has it: '0.1 to 0.5' or '0.1..0.5'."""
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
GuessedShare = Annotated[
    float,
    Field(ge=0, le=1),
    WrapValidator(_read),
    PlainSerializer(ends_of, return_type=float | list[float]),
    WithJsonSchema({"anyOf": [_SHARE, {"type": "array", "items": _SHARE, "minItems": 2, "maxItems": 2}]}),
]
