"""The meaning of labels that a masking method writes: the cell that each label of a masked column stands for.

A label needs an entry only where the grammar does not already give it that meaning for the column's kind of values. Where a step
recodes labels of an earlier step, the meanings are composed: a new label stands for everything that the labels it replaces stood
for.
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


def original_kind(data: Microdata, name: str) -> Kind:
    """The kind of the original values of a column, which may hold labels of an earlier step."""
    own = data.cells.get(name)
    return own.kind if own is not None else kind_of(data.frame.schema[name])


def describe_labels(
    data: Microdata,
    name: str,
    released: pl.Series,
    *,
    sources: Mapping[str, Iterable[str]] | None = None,
    nominal: Mapping[str, Cell | str] | None = None,
    hierarchy: Hierarchy | None = None,
) -> ColumnCells | None:
    """The meaning of the labels of a masked column; None where the column is not text, so that it holds plain values.

    ``data`` is the table before the step. ``sources`` are the values that each label replaces, ``nominal`` the cell that the
    method means by it; labels of the ``hierarchy`` stand for their leaves.
    """
    if released.dtype != pl.String:
        return None
    return _LabelDescriber(data, name, hierarchy, sources or {}, nominal or {}).describe(released)


class _LabelDescriber:
    def __init__(
        self,
        data: Microdata,
        name: str,
        hierarchy: Hierarchy | None,
        sources: Mapping[str, Iterable[str]],
        nominal: Mapping[str, Cell | str],
    ) -> None:
        self.kind, self.own = original_kind(data, name), data.cells.get(name)
        self.sources, self.nominal = sources, nominal
        self.hierarchy, self.groups = hierarchy, _value_groups(hierarchy, self.kind)
        self.resolved: dict[str, Cell | str] = {}
        self.known = {*self.groups, *(self.own.labels if self.own is not None else ())}

    def describe(self, released: pl.Series) -> ColumnCells:
        texts = released.unique().drop_nulls()
        listed = {*self.sources, *self.nominal, *self.groups, *(self.own.labels if self.own is not None else ())}
        candidates = texts.filter(texts.is_in(list(listed)) | texts.str.contains(r"^!?\{"))
        labels = {}
        for text in sorted(candidates.to_list()):
            if text == EVERYTHING:
                continue
            meaning = self._meaning(text)
            if meaning is not None and meaning != (parse_cell(text, self.kind) or text):
                labels[text] = str(meaning)
        return ColumnCells(kind=self.kind, labels=labels)

    def _meaning(self, text: str) -> Cell | str | None:
        """The cell that a label stands for: what the method states, extended where an input value lies outside it."""
        parsed = parse_cell(text, self.kind) or (text if parse_value(text, self.kind) is not None else None)
        stated = self.nominal.get(text, parsed)
        inputs = [self._resolve(source) for source in self._inputs(text)]
        if not inputs:
            return stated
        if stated is not None and all(covers(stated, cell, self.kind) for cell in inputs):
            return stated
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
        if not self.known:
            return ()
        group = parse_group(text)
        return group.members if group is not None and not self.known.isdisjoint(group.members) else ()

    def _resolve(self, text: str) -> Cell | str:
        """The meaning of a value or label of the table before the step, which many labels may contain."""
        if text not in self.resolved:
            self.resolved[text] = self._find_meaning(text)
        return self.resolved[text]

    def _find_meaning(self, text: str) -> Cell | str:
        if self.own is not None and text in self.own.labels:
            return meaning_of(text, self.kind, self.own) or text
        if text in self.groups and (self.hierarchy is None or text not in self.hierarchy.position):
            return union([self._resolve(leaf) for leaf in self.groups[text]], self.kind)
        return parse_cell(text, self.kind) or text

    def _compact(self, text: str, cell: Cell | str) -> Cell | str:
        """An interval instead of a list of leaves, where no other leaf of the hierarchy lies in it."""
        if self.kind in ("text", "boolean") or self.hierarchy is None or not isinstance(cell, Group) or cell.parts:
            return cell
        values = {leaf: value for leaf in self.hierarchy.leaves if (value := parse_value(leaf, self.kind)) is not None}
        inside = [parse_value(member, self.kind) for member in cell.members]
        if len(inside) < 2 or any(value is None for value in inside):
            return cell
        hull = Interval(min(inside, key=position), max(inside, key=position), True, True)
        return cell if any(value in hull and leaf not in cell.members for leaf, value in values.items()) else hull


def _value_groups(hierarchy: Hierarchy | None, kind: Kind) -> dict[str, frozenset[str]]:
    """The leaves of each label; without those that are no values of the kind, such as a line of a file for missing values."""
    if hierarchy is None:
        return {}
    wrong = {leaf for leaf in hierarchy.leaves if parse_value(leaf, kind) is None}
    return {label: leaves - wrong for label, leaves in hierarchy.groups.items()} if wrong else hierarchy.groups


def covers(cell: Cell | str, other: Cell | str, kind: Kind) -> bool:
    """Whether a cell (or the text of a value) contains another; False where this cannot be decided from their form."""
    if cell in (EVERYTHING, other):
        return True
    if isinstance(other, str):
        return other != EVERYTHING and _contains_value(cell, other, kind)
    if isinstance(other, Group):
        if other.others:
            return False
        return all(_contains_value(cell, member, kind) for member in other.members) and all(
            covers(cell, part, kind) for part in other.parts
        )
    if isinstance(cell, Interval) and isinstance(other, Interval):
        return union([cell, other], kind) == cell
    if isinstance(cell, Prefix) and isinstance(other, Prefix):
        return cell.length == other.length and other.prefix.startswith(cell.prefix)
    return False


def _contains_value(cell: Cell | str, text: str, kind: Kind) -> bool:
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


def local_time_units_in_utc(labels: Iterable[str], zone: str | None) -> dict[str, Cell | str]:
    """Labels of time units in a time zone as intervals in UTC; empty for UTC, where the grammar reads them correctly."""
    if zone in (None, "UTC"):
        return {}
    intervals: dict[str, Cell | str] = {}
    for label in labels:
        cell = parse_cell(label, "datetime")
        if isinstance(cell, Interval):
            intervals[label] = Interval(_in_utc(cell.lower, zone), _in_utc(cell.upper, zone))
    return intervals


def _in_utc(bound: datetime.datetime | float, zone: str | None) -> datetime.datetime | float:
    if not isinstance(bound, datetime.datetime):
        return bound
    try:
        return bound.replace(tzinfo=ZoneInfo(zone or "UTC")).astimezone(datetime.UTC).replace(tzinfo=None)
    except OverflowError:
        return math.inf if bound.year > 5000 else -math.inf
