"""Which columns of a release hold cells that overlap, and which of their codes agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.cells.atoms import Atoms, shared_atoms
from discreet.engine.cells.hierarchies import read_rows
from discreet.engine.encoding.columns import Column
from discreet.engine.encoding.policy_paths import place
from discreet.engine.overlap.relations import Relation, relate
from discreet.model.cells import ColumnCells
from discreet.model.hierarchy import Hierarchy
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MARKS = r"\.\.|^\s*[\[(<>]|^!?\{|\*$"
"""What a text must hold to be a cell of the grammar in a column of which nothing is declared."""


def declared_cells(data: Microdata, name: str) -> ColumnCells | None:
    """What the release says of a column's labels."""
    return data.cells.get(name)


def column_relation(data: Microdata, column: Column, *, null_agrees: bool, spare_null: bool = False) -> Relation:
    """Which codes of a column agree with each; ``spare_null`` has one more code, for blanks that the column does not hold yet."""
    kept: dict[tuple[str, bool, bool], Relation] = data.cache.setdefault("relations", {})
    key = (column.name, null_agrees, spare_null or column.has_null)
    if key not in kept:
        atoms = column_atoms(data, column)
        if atoms is None:
            atoms = _single_values(column)
        if key[2] and len(atoms.blank) == len(column.values):
            atoms = _with_null(atoms)
        null = None if null_agrees or len(atoms.blank) == len(column.values) else len(column.values)
        kept[key] = relate(atoms, atoms, null=null, null_asks=null, name=column.name)
    return kept[key]


def overlaps(data: Microdata, column: Column) -> bool:
    """Whether some cell of the column agrees with another one; nulls are left out."""
    kept: dict[str, bool] = data.cache.setdefault("overlaps", {})
    if column.name not in kept:
        atoms = column_atoms(data, column)
        if atoms is None:
            kept[column.name] = False
        else:
            singles = atoms.first[: len(column.values)]
            plain = bool(atoms.is_single[: len(column.values)].all()) and len(np.unique(singles)) == len(singles)
            kept[column.name] = not plain and bool((column_relation(data, column, null_agrees=False).spans > 1).any())
    return kept[column.name]


def asks_nothing(data: Microdata, column: Column, *, null_agrees: bool) -> NDArray[np.bool_]:
    """Which codes of a column say nothing, so that a record is not found by them."""
    atoms = column_atoms(data, column)
    if atoms is None:
        blank = np.zeros(column.cardinality, dtype=np.bool_)
        blank[len(column.values) :] = null_agrees
        return blank
    blank = atoms.blank.copy()
    blank[len(column.values) :] = null_agrees
    return blank


def column_atoms(data: Microdata, column: Column) -> Atoms | None:
    """What the cells of a release's column stand for, compared with each other; None where all are plain values."""
    kept: dict[str, Atoms | None] = data.cache.setdefault("atoms", {})
    if column.name not in kept:
        cells = declared_cells(data, column.name)
        tree = None if cells is not None else label_hierarchy(data, column)
        if cells is None and tree is None and not _is_marked(column.values):
            kept[column.name] = None
        else:
            kept[column.name] = shared_atoms([(column, cells)], hierarchy=tree)[0]
    return kept[column.name]


def label_hierarchy(data: Microdata, column: Column) -> Hierarchy | None:
    """The policy's own groups, where the column holds one of their labels.

    A release need not hold the leaves, so they are taken from the policy alone; widths, quantiles, prefixes and dates write
    labels that the grammar explains. A label that is also the name of a leaf is taken for the leaf: in a table that was never
    masked it is one. What a release declares of its column goes before.
    """
    rows = _policy_rows(data, column.name)
    if not rows or column.values.dtype != pl.String:
        return None
    leaves = {row[0] for row in rows}
    held = set(column.values.to_list())
    if not any(label in held and label not in leaves for row in rows for label in row[1:]):
        return None
    hidden = [[row[0], *(f"{label}\0" if label in leaves else label for label in row[1:])] for row in rows]
    return Hierarchy.from_rows(hidden, attribute=column.name)


def policy_labels(data: Microdata, name: str) -> list[str]:
    """The labels that the policy's own groups of an attribute have, but those that are names of leaves too."""
    rows = _policy_rows(data, name)
    leaves = {row[0] for row in rows}
    return sorted({label for row in rows for label in row[1:] if label not in leaves})


def _policy_rows(data: Microdata, name: str) -> list[list[str]]:
    """A row per leaf with its labels, of a hierarchy that is a file or groups; none of others."""
    spec = data.attribute(name).hierarchy
    if spec is None or not (spec.groups or spec.file):
        return []
    return read_rows(place(data.policy, spec.file), name) if spec.file else _rows_of_groups(spec.groups)


def _rows_of_groups(groups: Sequence[dict[str, tuple[str, ...]]]) -> list[list[str]]:
    """One row per leaf with its labels level by level, as ``hierarchy_of`` in engine/cells/hierarchies.py reads the groups."""
    rows = {member: [member] for members in groups[0].values() for member in members}
    for level, named in enumerate(groups):
        label_of = {member: label for label, members in named.items() for member in members}
        for leaf, row in rows.items():
            row.append(label_of.get(row[level], label_of.get(leaf, "*")))
    return list(rows.values())


def _is_marked(values: pl.Series) -> bool:
    return values.dtype == pl.String and bool(values.str.contains(MARKS).any())


def _single_values(column: Column) -> Atoms:
    """Every value an atom of its own, and null a blank."""
    size, cardinality = len(column.values), column.cardinality
    first, last = np.zeros(cardinality, np.int64), np.zeros(cardinality, np.int64)
    first[:size], last[:size] = np.arange(size), np.arange(1, size + 1)
    blank = np.arange(cardinality) >= size
    return Atoms(size, blank, first, last, np.zeros(cardinality + 1, np.int64), np.zeros(0, np.int64))


def _with_null(atoms: Atoms) -> Atoms:
    """The same cells and a null behind them."""
    return Atoms(
        atoms.number,
        np.append(atoms.blank, True),
        np.append(atoms.first, 0),
        np.append(atoms.last, 0),
        np.append(atoms.starts, atoms.starts[-1]),
        atoms.members,
    )
