"""Checks that several methods make before they change a table, so that all raise the same errors; and strata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.classes.groups import group_columns
from discreet.engine.encoding.columns import encode
from discreet.errors import DataError, ParameterError, nearest
from discreet.model.attribute import Level, Role
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


def need_columns(method: str, columns: Sequence[str], what: str) -> None:
    """Require at least one column, and no column twice; ``what`` names the columns in the message."""
    if not columns:
        raise DataError(f"{method} needs columns: name {what}")
    for name in columns:
        if list(columns).count(name) > 1:
            raise ParameterError(f"{method} names the column '{name}' twice")


def need_values(method: str, data: Microdata, columns: Sequence[str]) -> None:
    """Require a value in every column: an empty column cannot be masked and points to an earlier mistake."""
    for name in columns:
        if data.frame[name].null_count() == len(data):
            raise DataError(
                f"{method} needs values, but '{name}' " + ("has no records" if not len(data) else "is null in every record")
            )


def need_numbers(method: str, data: Microdata, columns: Sequence[str], *, dates: bool = False) -> None:
    """Require finite numbers (or dates, where the method accepts them), by the column's type and by its level in the policy."""
    need_columns(method, columns, "the numeric attributes")
    for name in columns:
        level, dtype = data.level(name), data.frame.schema[name]
        if dates and dtype.is_temporal():
            continue
        if level is not Level.NUMERIC or not dtype.is_numeric():
            raise DataError(f"{method} needs numbers, but '{name}' is {level} ({dtype})")
        if dtype.is_float() and data.frame[name].is_infinite().any():
            raise DataError(f"{method} needs finite numbers, but '{name}' holds an infinite one")
    need_values(method, data, columns)


def need_other_columns(method: str, data: Microdata, parameter: str, names: Sequence[str], columns: Sequence[str] = ()) -> None:
    """Require that the columns named by a parameter exist and are not changed by the step itself."""
    for name in names:
        if name not in data.columns:
            raise ParameterError(f"{method}.{parameter} names '{name}', which is not a column; {nearest(name, data.columns)}")
        if name in columns:
            raise ParameterError(f"{method}.{parameter} names '{name}', which the step itself changes")


def maskable(data: Microdata, *levels: Level) -> list[str]:
    """Key and confidential columns of these levels: the default columns of a method."""
    return [name for name in data.named(Role.KEY, Role.CONFIDENTIAL) if data.level(name) in levels]


@dataclass(frozen=True)
class Strata:
    """Groups of records with equal values in the stratifying columns; null counts as a value of its own."""

    names: tuple[str, ...]
    ids: NDArray[np.int64]
    number: int

    @classmethod
    def of(cls, data: Microdata, names: Sequence[str]) -> Strata:
        ids, number = group_columns(encode(data, names), len(data))
        return cls(tuple(names), ids, number)

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.bincount(self.ids, minlength=self.number)

    def rows(self) -> list[NDArray[np.int64]]:
        """The row positions of each stratum, in the order of the table."""
        order = np.argsort(self.ids, kind="stable")
        return np.split(order, np.cumsum(self.sizes)[:-1]) if self.number else []

    def title(self, data: Microdata, stratum: int) -> str:
        """A stratum's title for messages: ``state = IN``."""
        if not self.names:
            return "the table"
        first = int(np.argmax(self.ids == stratum))
        return ", ".join(f"{name} = {data.frame[name][first]}" for name in self.names)
