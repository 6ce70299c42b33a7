"""Reading the distinct values of a column as values or cells: the only place where a label is given its meaning.

The rules, in this order: ``*`` and null stand for any value; a label listed in the column's
:class:`~discreet.model.cells.ColumnCells` stands for its cell, whatever it looks like and whatever type a file reader gave it; a
label of a hierarchy stands for its leaves; a value of the column's kind stands for itself; the rest is parsed by the grammar of
cells. A text that none of these rules explains raises UnexplainedCellError.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.cells.positions import is_native, native_positions, text_positions
from discreet.engine.encoding.columns import Column
from discreet.engine.encoding.shared_codes import as_text
from discreet.errors import UnexplainedCellError
from discreet.model.cells import EVERYTHING, Cell, ColumnCells, Group, Kind, parse_cell, parse_value
from discreet.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Reading:
    """The meaning of each distinct value of a column.

    ``blank`` has one entry per code, null last, and is true for null and ``*``; ``plain`` has one entry per value and is true for
    single values. A plain value is ``positions[code]`` (ordered kinds) or ``texts[code]`` (text); ``cells`` holds all others by
    code.
    """

    kind: Kind
    blank: NDArray[np.bool_]
    plain: NDArray[np.bool_]
    positions: NDArray[Any]
    texts: pl.Series
    cells: Mapping[int, Cell]
    other_texts: Mapping[int, str] = field(default_factory=dict)
    """Texts in a column of an ordered kind that are not values of that kind and stand for themselves, such as ``unknown``."""


def printed_texts(values: pl.Series) -> pl.Series:
    """Distinct values as the texts by which labels are looked up; whole floats are written without ``.0``."""
    return values if values.dtype == pl.String else as_text(values)


def read_column(
    column: Column,
    kind: Kind,
    cells: ColumnCells | None = None,
    hierarchy: Hierarchy | None = None,
    *,
    known: frozenset[str] | None = None,
    allow_other_texts: bool = False,
) -> Reading:
    """Read the distinct values of a column as values or cells of a kind.

    ``known`` are the texts that occur in the original of a text column. Where it is given and the column has no declared labels,
    any other text raises UnexplainedCellError. So does a text that is not a value of an ordered kind, unless
    ``allow_other_texts`` or it occurs in the original.
    """
    values = column.values
    size = len(values)
    labels, groups = cells.labels if cells is not None else {}, _group_labels(hierarchy, cells)
    native = kind != "text" and is_native(values.dtype, kind)
    # texts are built only where something is looked up by them
    texts = pl.Series(values.name, [], dtype=pl.String) if native and not labels and not groups else printed_texts(values)
    blank = np.zeros(column.cardinality, dtype=np.bool_)
    blank[size:] = True
    cell_of_code: dict[int, Cell] = {}
    other_texts: dict[int, str] = {}
    special = _codes_with_text(texts, {EVERYTHING, *labels, *groups})
    single: dict[int, str] = {}
    for code, text in special.items():
        meaning = _cell_of_label(text, kind, labels, hierarchy)
        if meaning is None:
            blank[code] = True
        elif isinstance(meaning, str):
            single[code] = meaning
        else:
            cell_of_code[code] = meaning
    if single:
        replaced = texts.to_list()
        for code, text in single.items():
            replaced[code] = text
        texts = pl.Series(texts.name, replaced, dtype=pl.String)
    if kind == "text":
        positions = np.zeros(0, dtype=np.int64)
        plain = _plain_texts(column.name, texts, cell_of_code, blank[:size], cells, hierarchy, known)
    else:
        if native and not single:
            positions, plain = native_positions(values), np.ones(size, dtype=np.bool_)
        else:
            positions, plain = text_positions(texts, kind)
        plain = plain & ~blank[:size]
        plain[list(cell_of_code)] = False
        for code in np.flatnonzero(~plain & ~blank[:size]).tolist():
            if code in cell_of_code:
                continue
            if (cell := parse_cell(texts[code], kind)) is not None:
                cell_of_code[code] = cell
            elif allow_other_texts or (known is not None and texts[code] in known):
                other_texts[code] = texts[code]
            else:
                raise unexplained_error(column.name, texts[code], kind)
    return Reading(kind, blank, plain, positions, texts, cell_of_code, other_texts)


def meaning_of(text: str, kind: Kind, cells: ColumnCells | None, hierarchy: Hierarchy | None = None) -> Cell | str | None:
    """The meaning of a single text: a cell, ``*``, the text of a value, or None where nothing explains it."""
    if text == EVERYTHING:
        return EVERYTHING
    labels = cells.labels if cells is not None else {}
    if text in labels or text in _group_labels(hierarchy, cells):
        meaning = _cell_of_label(text, kind, labels, hierarchy)
        return EVERYTHING if meaning is None else meaning
    if (cell := parse_cell(text, kind)) is not None:
        return cell
    return text if parse_value(text, kind) is not None else None


def _group_labels(hierarchy: Hierarchy | None, cells: ColumnCells | None) -> Mapping[str, frozenset[str]]:
    """The labels of a hierarchy that stand for several leaves; none for a column whose labels are declared."""
    if hierarchy is None or cells is not None:
        return {}
    return hierarchy.groups


def _codes_with_text(texts: pl.Series, labels: set[str]) -> dict[int, str]:
    if not len(texts):
        return {}
    codes = np.flatnonzero(texts.is_in(list(labels)).to_numpy()).tolist()
    return {code: texts[code] for code in codes}


def _cell_of_label(text: str, kind: Kind, labels: Mapping[str, str], hierarchy: Hierarchy | None) -> Cell | str | None:
    """The cell of a label, the text of the single value that it stands for, or None for ``*``."""
    if text in labels:
        label_text = labels[text]
        if label_text == EVERYTHING:
            return None
        return parse_cell(label_text, kind) or label_text
    if text == EVERYTHING:
        return None
    grammar = parse_cell(text, kind)
    if grammar is not None and not isinstance(grammar, Group) and kind != "text":
        return grammar
    return hierarchy_cell(text, kind, hierarchy)


def hierarchy_cell(text: str, kind: Kind, hierarchy: Hierarchy | None) -> Group:
    """The leaves under a label, without leaves that are not values of the kind."""
    leaves = hierarchy.groups.get(text, frozenset()) if hierarchy is not None else frozenset()
    return Group(frozenset(leaf for leaf in leaves if parse_value(leaf, kind) is not None))


def _plain_texts(
    name: str,
    texts: pl.Series,
    cell_of_code: dict[int, Cell],
    blank: NDArray[np.bool_],
    cells: ColumnCells | None,
    hierarchy: Hierarchy | None,
    known: frozenset[str] | None,
) -> NDArray[np.bool_]:
    """Which texts are values; groups and patterns are added to ``cell_of_code``."""
    plain = ~blank
    plain[list(cell_of_code)] = False
    marked = (texts.str.starts_with("{") | texts.str.starts_with("!{") | texts.str.ends_with("*")).to_numpy() & plain
    for code in np.flatnonzero(marked).tolist():
        if (cell := parse_cell(texts[code], "text")) is not None:
            cell_of_code[code] = _with_leaves(cell, hierarchy)
            plain[code] = False
    if known is None or cells is not None:
        return plain
    leaves = hierarchy.leaves if hierarchy is not None else ()
    unknown = plain & ~texts.is_in([*known, *leaves]).to_numpy()
    if unknown.any():
        raise unexplained_error(name, texts[int(np.argmax(unknown))], "text")
    return plain


def _with_leaves(cell: Cell, hierarchy: Hierarchy | None) -> Cell:
    """The cell with labels of the hierarchy among its members replaced by their leaves."""
    if hierarchy is None or not isinstance(cell, Group):
        return cell
    leaves = {leaf for member in cell.members for leaf in hierarchy.groups.get(member, ())}
    return Group(cell.members - hierarchy.groups.keys() | leaves, cell.parts, cell.others) if leaves else cell


def unexplained_error(name: str, text: str, kind: Kind) -> UnexplainedCellError:
    """The error for a text of a masked column that nothing explains."""
    what = "no value of the original" if kind == "text" else f"no {kind}"
    return UnexplainedCellError(
        f"the masked column '{name}' holds '{text}', which is {what} and cannot be parsed as a cell; declare its meaning in the "
        "policy's cells section, keep the file's .cells.yaml beside it, or give the attribute its hierarchy"
    )
