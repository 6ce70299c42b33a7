"""One attribute of a table: its role, and what an intruder may know and learn about it."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import re
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from discreet.model.cells import Interval, parse_group, parse_interval
from discreet.model.display import facts_as_html
from discreet.model.guess import Guess, GuessedShare
from discreet.model.hierarchy import HierarchySpec

_LEADING_ZERO = re.compile(r"[+-]?0\d")
"""A number with a leading zero is a code and not a number."""


class Role(StrEnum):
    """The role of an attribute: identifier, key (quasi-identifier) or confidential (Truta et al., section 3), and further roles.

    ``person`` and ``household`` group records, ``weight`` is a sampling weight.
    """

    IDENTIFIER = "identifier"
    KEY = "key"
    CONFIDENTIAL = "confidential"
    PERSON = "person"
    HOUSEHOLD = "household"
    WEIGHT = "weight"
    OTHER = "other"


class Level(StrEnum):
    """The level of measurement, which decides what a method may do with the values."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    NUMERIC = "numeric"
    DATE = "date"


class Attribute(BaseModel):
    """One attribute in the policy; ``known`` and the sensitivities are those of Orooji & Knapp (2018a), eq. 3 and 4."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Role = Field(default=Role.OTHER, description="identifier, key, confidential, person, household, weight or other")
    level: Level | None = Field(default=None, description="nominal, ordinal, numeric or date; default: from the data")
    order: tuple[str, ...] | None = Field(default=None, description="the categories of an ordinal attribute, lowest first")
    known: GuessedShare = Field(
        default=0.0, description="probability that an intruder knows this attribute of a person, or a range such as [0.1, 0.5]"
    )
    sensitivity: GuessedShare = Field(
        default=0.0, description="sensitivity: harm if an intruder learns the attribute, 0 to 1, or a range"
    )
    values: dict[str, GuessedShare] = Field(
        default_factory=dict, description="sensitivity of single values or intervals, 0 to 1, or ranges"
    )
    default: GuessedShare | None = Field(
        default=None, description="sensitivity of a value that is not listed; default: 0 if values are listed, else 1"
    )
    missing: tuple[str, ...] = Field(default=(), description="texts that mean 'missing' in this attribute")
    allow_absent: bool = Field(
        default=False, description="accept values, order and groups with values that do not occur in the table"
    )
    hierarchy: HierarchySpec | None = Field(default=None, description="generalization hierarchy: a file, or a rule")
    accepted: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)] | None = Field(
        default=None,
        description="why the data controller releases this column despite a concern of coverage; reports print it first",
    )
    reason: str | None = Field(default=None, description="why the analyzer proposed this; for people, not used by the program")

    def _repr_html_(self) -> str:
        """The settings that differ from the default; of what may be long, or hold values of the data, only the number."""
        facts = {}
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if name == "role" or value == field.default or value is None:
                continue
            facts[name] = f"{len(value):,}" if isinstance(value, tuple | dict) else str(value) if _is_plain(value) else "set"
        return facts_as_html("Attribute", self.role.value, facts)

    @field_validator("values", mode="before")
    @classmethod
    def _keys_as_text(cls, values: Any) -> Any:
        return {_yaml_text(key): weight for key, weight in values.items()} if isinstance(values, dict) else values

    @field_validator("order", "missing", mode="before")
    @classmethod
    def _items_as_text(cls, items: Any) -> Any:
        return [_yaml_text(item) for item in items] if isinstance(items, list | tuple) else items

    @model_validator(mode="after")
    def _order_is_a_list_of_different_values(self) -> Attribute:
        if self.order is not None and len(set(self.order)) < len(self.order):
            twice = next(value for value in self.order if self.order.count(value) > 1)
            raise ValueError(f"order names '{twice}' twice")
        return self

    @property
    def ranges(self) -> int:
        """How many of the probability and the sensitivities are ranges rather than one number."""
        return sum(isinstance(value, Guess) for value in (self.known, self.sensitivity, self.default, *self.values.values()))

    def at_low_end(self) -> Attribute:
        """The attribute with the lower end of every range."""
        return self.corners()[0] if self.ranges else self

    def corners(self) -> list[Attribute]:
        """The attribute with every choice of an end for every range: all lower ends first, all upper ends last."""
        choices = {
            "known": _ends(self.known),
            "sensitivity": _ends(self.sensitivity),
            "default": (None,) if self.default is None else _ends(self.default),
        }
        listed = [_ends(value) for value in self.values.values()]
        return [
            self.model_copy(
                update=dict(zip(choices, ends, strict=False)) | {"values": dict(zip(self.values, ends[3:], strict=True))}
            )
            for ends in itertools.product(*choices.values(), *listed)
        ]

    @property
    def unlisted(self) -> float:
        """The sensitivity of a value that is not listed."""
        if self.default is not None:
            return self.default
        return 0.0 if self.values else 1.0

    def intervals(self) -> list[tuple[Interval, float]]:
        """The listed intervals with their sensitivities, in the policy's order."""
        return [(interval, weight) for key, weight in self.values.items() if (interval := parse_interval(key))]

    def value_weight(self, value: Any) -> float:
        """W(r(A)), Orooji & Knapp (2018a), eq. 4: of a listed value, else of the first listed interval around it, else the
        default.

        A coarse cell of a masked table, such as ``{Flu|Cancer}`` or ``30..40``, has the largest weight of the values it may stand
        for.
        """
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return self.unlisted
        key = self.listed_key(value)
        if key is not None:
            return self.values[key]
        return self._coarse_weight(value) if self.values and isinstance(value, str) else self.unlisted

    def listed_key(self, value: Any) -> str | None:
        """The entry of ``values`` for a value: its own text or number, or the first interval that contains it."""
        for text in text_forms(value):
            if text in self.values:
                return text
        number = _number(value)
        if number is None:
            return None
        numbers, intervals = _read_keys(tuple(self.values))
        if not isinstance(value, str) and number in numbers:
            return numbers[number]
        return next((key for key, interval in intervals if number in interval), None)

    def _coarse_weight(self, text: str) -> float:
        """The largest weight of the values that a coarse cell may stand for."""
        if (group := parse_group(text)) is not None:
            return max(self.value_weight(member) for member in group.members)
        if (cell := parse_interval(text)) is None:
            return self.unlisted
        inside = [weight for key, weight in self.values.items() if (n := _number(key)) is not None and n in cell]
        overlapping = [weight for listed, weight in self.intervals() if listed.overlaps(cell)]
        return max([self.unlisted, *inside, *overlapping])


def _ends(value: float) -> tuple[float, ...]:
    """The ends of a range as plain numbers; a single number once."""
    return (value.low, float(value)) if isinstance(value, Guess) else (value,)


@lru_cache(maxsize=256)
def _read_keys(keys: tuple[str, ...]) -> tuple[dict[float, str], list[tuple[str, Interval]]]:
    """The listed single numbers in any notation (1.0, 1e-7; 01 is a code, not a number), and the listed intervals."""
    plain = [key for key in keys if not _LEADING_ZERO.match(key)]
    numbers = {number: key for key in reversed(plain) if (number := _number(key)) is not None}
    return numbers, [(key, interval) for key in keys if (interval := parse_interval(key))]


def text_forms(value: Any) -> tuple[str, ...]:
    """The texts by which a policy may name a value: its printed form, and a whole float without '.0'."""
    if isinstance(value, bool):
        return ("true", "True", "TRUE") if value else ("false", "False", "FALSE")
    if isinstance(value, dt.datetime):
        day = (str(value.date()),) if value.time() == dt.time() else ()
        return (str(value), value.isoformat(), *day)
    if isinstance(value, float) and value.is_integer():
        return (str(value), str(int(value)))
    return (str(value),)


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _yaml_text(key: Any) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)


def _is_plain(value: object) -> bool:
    return isinstance(value, bool | int | float | StrEnum)
