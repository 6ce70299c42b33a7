"""Which columns of a release hold overlapping cells, and which of their codes agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.cells.atoms import Atoms, read_sides, shared_atoms
from discreet.engine.cells.hierarchies import read_rows
from discreet.engine.encoding.columns import Column
from discreet.engine.encoding.policy_paths import resolve_path
from discreet.engine.overlap.relations import Relation, relate
from discreet.model.cells import ColumnCells
from discreet.model.hierarchy import Hierarchy
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MARKS = r"\.\.|^\s*[\[(<>]|^!?\{|\*$"
"""Marks without which a text in a column without declared labels cannot be a cell."""
_MARK_BYTES = (b"..", b"[", b"(", b"<", b">", b"{", b"*")
"""Every text with a mark holds one of these; looking for them in all texts at once takes a tenth of the time."""
_MARKED_BLOCK = 1 << 18


def declared_cells(data: Microdata, name: str) -> ColumnCells | None:
    """The declared meaning of a column's labels; None where nothing is declared."""
    return data.cells.get(name)


def column_relation(data: Microdata, column: Column, *, null_agrees: bool, spare_null: bool = False) -> Relation:
    """Which codes of a column agree with each other; ``spare_null`` adds a code for nulls that the column does not hold yet."""
    cached: dict[tuple[str, bool, bool], Relation] = data.cache.setdefault("relations", {})
    key = (column.name, null_agrees, spare_null or column.has_null)
    if key not in cached:
        atoms = column_atoms(data, column)
        if atoms is None:
            atoms = _single_values(column)
        if key[2] and len(atoms.blank) == len(column.values):
            atoms = _with_null(atoms)
        null = None if null_agrees or len(atoms.blank) == len(column.values) else len(column.values)
        cached[key] = relate(atoms, atoms, null=null, queried_null=null, name=column.name)
    return cached[key]


def overlaps(data: Microdata, column: Column) -> bool:
    """Whether two different cells of the column agree; nulls are ignored."""
    cached: dict[str, bool] = data.cache.setdefault("overlaps", {})
    if column.name not in cached:
        atoms = column_atoms(data, column)
        if atoms is None:
            cached[column.name] = False
        else:
            singles = atoms.first[: len(column.values)]
            plain = bool(atoms.is_single[: len(column.values)].all()) and len(np.unique(singles)) == len(singles)
            cached[column.name] = not plain and bool((column_relation(data, column, null_agrees=False).spans > 1).any())
    return cached[column.name]


def blank_codes(data: Microdata, column: Column, *, null_agrees: bool) -> NDArray[np.bool_]:
    """Which codes of a column stand for any value, so that an intruder cannot search by them."""
    atoms = column_atoms(data, column)
    if atoms is None:
        blank = np.zeros(column.cardinality, dtype=np.bool_)
        blank[len(column.values) :] = null_agrees
        return blank
    blank = atoms.blank.copy()
    blank[len(column.values) :] = null_agrees
    return blank


def column_atoms(data: Microdata, column: Column) -> Atoms | None:
    """The atoms of the cells of a column, compared with each other; None where all are plain values."""
    cached: dict[str, Atoms | None] = data.cache.setdefault("atoms", {})
    if column.name not in cached:
        cells = declared_cells(data, column.name)
        tree = None if cells is not None else label_hierarchy(data, column)
        if cells is None and tree is None and not _is_marked(column.values):
            cached[column.name] = None
        else:
            cached[column.name] = shared_atoms([(column, cells)], hierarchy=tree)[0]
    return cached[column.name]


def recognised_cells(data: Microdata, column: Column) -> ColumnCells | None:
    """The kind as which undeclared labels of a column are read, for whoever removes some of them; None where it is not ordered.

    The kind is recognised by intervals such as ``2014-05-01..2014-05-04``: without the last of them ``2014-05`` would be a text.
    """
    if (
        declared_cells(data, column.name) is not None
        or label_hierarchy(data, column) is not None
        or not _is_marked(column.values)
    ):
        return None
    reading = read_sides([(column, None)])[0]
    return None if reading.kind == "text" or reading.other_texts else ColumnCells(kind=reading.kind)


def label_hierarchy(data: Microdata, column: Column) -> Hierarchy | None:
    """The policy's groups or hierarchy file as a hierarchy, where the column holds one of their labels.

    A release need not hold the leaves, so they are taken from the policy alone; the labels of widths, quantiles, prefixes and
    dates are explained by the grammar. A label that equals a leaf is read as the leaf: in a table that was never masked it is
    one. Labels declared by the release take precedence.
    """
    rows = _policy_rows(data, column.name)
    if not rows or column.values.dtype != pl.String:
        return None
    leaves = {row[0] for row in rows}
    column_texts = set(column.values.to_list())
    if not any(label in column_texts and label not in leaves for row in rows for label in row[1:]):
        return None
    unambiguous = [[row[0], *(f"{label}\0" if label in leaves else label for label in row[1:])] for row in rows]
    return Hierarchy.from_rows(unambiguous, attribute=column.name)


def policy_labels(data: Microdata, name: str) -> list[str]:
    """The labels of the policy's groups or hierarchy file of an attribute, without those that are also leaves."""
    rows = _policy_rows(data, name)
    leaves = {row[0] for row in rows}
    return sorted({label for row in rows for label in row[1:] if label not in leaves})


def _policy_rows(data: Microdata, name: str) -> list[list[str]]:
    """One row per leaf with its labels, for a hierarchy from a file or groups; empty for other hierarchies."""
    spec = data.attribute(name).hierarchy
    if spec is None or not (spec.groups or spec.file):
        return []
    return read_rows(resolve_path(data.policy, spec.file), name) if spec.file else _rows_of_groups(spec.groups)


def _rows_of_groups(groups: Sequence[dict[str, tuple[str, ...]]]) -> list[list[str]]:
    """One row per leaf with its labels level by level, as ``hierarchy_of`` in engine/cells/hierarchies.py reads the groups."""
    rows = {member: [member] for members in groups[0].values() for member in members}
    for level, named in enumerate(groups):
        label_of = {member: label for label, members in named.items() for member in members}
        for leaf, row in rows.items():
            row.append(label_of.get(row[level], label_of.get(leaf, "*")))
    return list(rows.values())


def _is_marked(values: pl.Series) -> bool:
    """Whether some text has a mark of a cell; the pattern is tried only on blocks of texts that hold one of its bytes."""
    if values.dtype != pl.String:
        return False
    for begin in range(0, len(values), _MARKED_BLOCK):
        block = values.slice(begin, _MARKED_BLOCK)
        texts = block.to_arrow(compat_level=pl.CompatLevel.oldest()).buffers()[2]
        content = texts.to_pybytes() if texts else b""
        if any(mark in content for mark in _MARK_BYTES) and bool(block.str.contains(MARKS).any()):
            return True
    return False


def _single_values(column: Column) -> Atoms:
    """Atoms of a column of plain values: one atom per value, and null blank."""
    size, cardinality = len(column.values), column.cardinality
    first, last = np.zeros(cardinality, np.int64), np.zeros(cardinality, np.int64)
    first[:size], last[:size] = np.arange(size), np.arange(1, size + 1)
    blank = np.arange(cardinality) >= size
    return Atoms(size, blank, first, last, np.zeros(cardinality + 1, np.int64), np.zeros(0, np.int64))


def _with_null(atoms: Atoms) -> Atoms:
    """The atoms with one more code, a null."""
    return Atoms(
        atoms.number,
        np.append(atoms.blank, True),
        np.append(atoms.first, 0),
        np.append(atoms.last, 0),
        np.append(atoms.starts, atoms.starts[-1]),
        atoms.members,
    )
