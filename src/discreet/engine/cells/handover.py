"""What a masking method hands over with its column: the cell that each label stands for.

A label needs an entry only where the grammar does not explain it for the column's kind of values. Where a step works on
labels that an earlier step wrote, the meaning is composed: a label stands for all that the labels behind it stood for.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping
from zoneinfo import ZoneInfo

import polars as pl

from discreet.engine.cells.positions import kind_of, position
from discreet.engine.cells.reader import meaning_of
from discreet.model.cells import (
    EVERYTHING,
    Cell,
    ColumnCells,
    Group,
    Interval,
    Kind,
    Prefix,
    parse_cell,
    parse_group,
    parse_value,
    union,
)
from discreet.model.hierarchy import Hierarchy
from discreet.model.microdata import Microdata


def kind_in(data: Microdata, name: str) -> Kind:
    """The kind of the original values behind a column, which may hold labels by now."""
    own = data.cells.get(name)
    return own.kind if own is not None else kind_of(data.frame.schema[name])


def describe(
    data: Microdata,
    name: str,
    released: pl.Series,
    *,
    sources: Mapping[str, Iterable[str]] | None = None,
    nominal: Mapping[str, Cell | str] | None = None,
    hierarchy: Hierarchy | None = None,
) -> ColumnCells | None:
    """What the texts of a released column stand for; None where it still holds values of its own type.

    ``data`` is the table before the step. ``sources`` are the values that a label was made of, ``nominal`` the cell that the
    method means by it; labels of the ``hierarchy`` stand for their leaves.
    """
    if released.dtype != pl.String:
        return None
    return _Describer(data, name, hierarchy, sources or {}, nominal or {}).describe(released)


class _Describer:
    def __init__(
        self,
        data: Microdata,
        name: str,
        hierarchy: Hierarchy | None,
        sources: Mapping[str, Iterable[str]],
        nominal: Mapping[str, Cell | str],
    ) -> None:
        self.kind, self.own = kind_in(data, name), data.cells.get(name)
        self.sources, self.nominal = sources, nominal
        self.hierarchy, self.groups = hierarchy, hierarchy.groups if hierarchy is not None else {}

    def describe(self, released: pl.Series) -> ColumnCells:
        texts = released.unique().drop_nulls()
        listed = {*self.sources, *self.nominal, *self.groups, *(self.own.labels if self.own is not None else ())}
        candidates = texts.filter(texts.is_in(list(listed)) | texts.str.contains(r"^!?\{"))
        labels = {}
        for text in sorted(candidates.to_list()):
            if text == EVERYTHING:
                continue
            meant = self._meaning(text)
            if meant is not None and meant != (parse_cell(text, self.kind) or text):
                labels[text] = str(meant)
        return ColumnCells(kind=self.kind, labels=labels)

    def _meaning(self, text: str) -> Cell | str | None:
        """The cell that a released label stands for."""
        read = parse_cell(text, self.kind) or (text if parse_value(text, self.kind) is not None else None)
        said = self.nominal.get(text, read)
        inputs = [self._resolve(source) for source in self._inputs(text)]
        if not inputs:
            return said
        if said is not None and all(covers(said, one, self.kind) for one in inputs):
            return said
        if text in self.nominal:
            return union([self.nominal[text], *inputs], self.kind)
        return self._compact(text, union(inputs, self.kind))

    def _inputs(self, text: str) -> Iterable[str]:
        if text in self.sources:
            return self.sources[text]
        if text in self.groups:
            return self.groups[text]
        if self.own is not None and text in self.own.labels:
            return [text]
        group = parse_group(text)
        known = {*self.groups, *(self.own.labels if self.own is not None else ())}
        return group.members if group is not None and not known.isdisjoint(group.members) else ()

    def _resolve(self, text: str) -> Cell | str:
        """What a value or label of the table before the step stood for."""
        if self.own is not None and text in self.own.labels:
            return meaning_of(text, self.kind, self.own) or text
        if text in self.groups and (self.hierarchy is None or text not in self.hierarchy.position):
            return union([self._resolve(leaf) for leaf in self.groups[text]], self.kind)
        return parse_cell(text, self.kind) or text

    def _compact(self, text: str, cell: Cell | str) -> Cell | str:
        """A range instead of a list of leaves, where no other leaf of the hierarchy lies in it."""
        if self.kind in ("text", "boolean") or self.hierarchy is None or not isinstance(cell, Group) or cell.parts:
            return cell
        values = {leaf: value for leaf in self.hierarchy.leaves if (value := parse_value(leaf, self.kind)) is not None}
        inside = [parse_value(member, self.kind) for member in cell.members]
        if len(inside) < 2 or any(value is None for value in inside):
            return cell
        hull = Interval(min(inside, key=position), max(inside, key=position), True, True)
        return cell if any(value in hull and leaf not in cell.members for leaf, value in values.items()) else hull


def covers(cell: Cell | str, other: Cell | str, kind: Kind) -> bool:
    """Whether one cell (or the text of a value) holds all of another; False where that is not plain to see."""
    if cell in (EVERYTHING, other):
        return True
    if isinstance(other, str):
        return other != EVERYTHING and _holds(cell, other, kind)
    if isinstance(other, Group):
        if other.others:
            return False
        return all(_holds(cell, member, kind) for member in other.members) and all(covers(cell, one, kind) for one in other.parts)
    if isinstance(cell, Interval) and isinstance(other, Interval):
        return union([cell, other], kind) == cell
    if isinstance(cell, Prefix) and isinstance(other, Prefix):
        return cell.length == other.length and other.prefix.startswith(cell.prefix)
    return False


def _holds(cell: Cell | str, text: str, kind: Kind) -> bool:
    if isinstance(cell, Prefix):
        return text in cell
    value = parse_value(text, kind)
    if value is None:
        return False
    if isinstance(cell, str):
        return bool(parse_value(cell, kind) == value)
    if isinstance(cell, Interval):
        return value in cell
    members = {parse_value(member, kind) for member in cell.members}
    parts = (text in part if isinstance(part, Prefix) else value in part for part in cell.parts)
    return (value in members or any(parts)) != cell.others


def local_units(labels: Iterable[str], zone: str | None) -> dict[str, Cell | str]:
    """Units of time in a zone of its own as intervals in UTC; nothing where the grammar reads them rightly."""
    if zone in (None, "UTC"):
        return {}
    made: dict[str, Cell | str] = {}
    for label in labels:
        cell = parse_cell(label, "datetime")
        if isinstance(cell, Interval):
            made[label] = Interval(_in_utc(cell.lower, zone), _in_utc(cell.upper, zone))
    return made


def _in_utc(bound: datetime.datetime | float, zone: str | None) -> datetime.datetime | float:
    if not isinstance(bound, datetime.datetime):
        return bound
    try:
        return bound.replace(tzinfo=ZoneInfo(zone or "UTC")).astimezone(datetime.UTC).replace(tzinfo=None)
    except OverflowError:
        return math.inf if bound.year > 5000 else -math.inf
