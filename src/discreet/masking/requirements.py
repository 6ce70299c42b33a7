"""What the methods ask of a table before they change anything, said once so that all say it alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.classes.groups import groups_of
from discreet.engine.encoding.columns import encode
from discreet.errors import DataError, ParameterError, nearest
from discreet.model.attribute import Level, Role
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


def need_columns(method: str, columns: Sequence[str], what: str) -> None:
    """There must be something to work on, and each column once."""
    if not columns:
        raise DataError(f"{method} needs columns: name {what}")
    for name in columns:
        if list(columns).count(name) > 1:
            raise ParameterError(f"{method} names the column '{name}' twice")


def need_values(method: str, data: Microdata, columns: Sequence[str]) -> None:
    """A column without a single value cannot be masked, and says that something else went wrong before."""
    for name in columns:
        if data.frame[name].null_count() == len(data):
            raise DataError(
                f"{method} needs values, but '{name}' " + ("has no records" if not len(data) else "is null in every record")
            )


def need_numbers(method: str, data: Microdata, columns: Sequence[str], *, dates: bool = False) -> None:
    """Numbers (or dates, where the method can do with them), by the column's type and by the owner's word."""
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
    """Columns that a parameter names must exist, and must not be those that the step changes."""
    for name in names:
        if name not in data.columns:
            raise ParameterError(f"{method}.{parameter} names '{name}', which is not a column; {nearest(name, data.columns)}")
        if name in columns:
            raise ParameterError(f"{method}.{parameter} names '{name}', which the step itself changes")


def maskable(data: Microdata, *levels: Level) -> list[str]:
    """Key and confidential columns of these levels: what a method takes where the step names none."""
    return [name for name in data.named(Role.KEY, Role.CONFIDENTIAL) if data.level(name) in levels]


@dataclass(frozen=True)
class Strata:
    """Records by equal values of the stratifying columns, a null being one more value."""

    names: tuple[str, ...]
    ids: NDArray[np.int64]
    number: int

    @classmethod
    def of(cls, data: Microdata, names: Sequence[str]) -> Strata:
        ids, number = groups_of(encode(data, names), len(data))
        return cls(tuple(names), ids, number)

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.bincount(self.ids, minlength=self.number)

    def rows(self) -> list[NDArray[np.int64]]:
        """The positions of each stratum's records, in their order."""
        order = np.argsort(self.ids, kind="stable")
        return np.split(order, np.cumsum(self.sizes)[:-1]) if self.number else []

    def title(self, data: Microdata, stratum: int) -> str:
        """A stratum as a person would call it: ``state = IN``."""
        if not self.names:
            return "the table"
        first = int(np.argmax(self.ids == stratum))
        return ", ".join(f"{name} = {data.frame[name][first]}" for name in self.names)
