"""Which cell stands behind each distinct value of a column: the one place where a label is given its meaning.

In this order: ``*`` and null say nothing; a label that the column's :class:`~discreet.model.cells.ColumnCells` lists stands
for its cell, whatever it looks like and whatever type a file reader gave it; what a hierarchy groups stands for its leaves;
a value of the column's kind is that value; the rest is read by the grammar. What none of these explains is an error.
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
from discreet.model.cells import EVERYTHING, Cell, ColumnCells, Group, Interval, Kind, parse_cell, parse_value
from discreet.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Reading:
    """The distinct values of a column by what they stand for.

    ``blank`` has an entry per code, null last; ``plain`` one per value. A plain value's place is ``places[code]`` (ordered
    kinds) or ``texts[code]`` (text); ``cells`` holds the others, by code.
    """

    kind: Kind
    blank: NDArray[np.bool_]
    plain: NDArray[np.bool_]
    places: NDArray[Any]
    texts: pl.Series
    cells: Mapping[int, Cell]
    words: Mapping[int, str] = field(default_factory=dict)
    """Texts in a column of an ordered kind that are no values of it, and stand for themselves."""


def printed_texts(values: pl.Series) -> pl.Series:
    """Distinct values as texts, by which labels are looked up: a whole float without its ``.0``."""
    return values if values.dtype == pl.String else as_text(values)


def read_column(
    column: Column,
    kind: Kind,
    cells: ColumnCells | None = None,
    hierarchy: Hierarchy | None = None,
    *,
    known: frozenset[str] | None = None,
    words: bool = False,
) -> Reading:
    """Read the distinct values of a column as cells of a kind.

    ``known`` are the texts that the original of a text column holds. Where it is given and nothing declares the column,
    another text is a label that nobody explains: UnexplainedCellError. So is a text that is no value of an ordered kind, unless
    ``words`` allows it or the original holds it.
    """
    values = column.values
    size = len(values)
    labels, groups = cells.labels if cells is not None else {}, _grouping(hierarchy, cells)
    native = kind != "text" and is_native(values.dtype, kind)
    # texts are made only where something is looked up by them
    texts = pl.Series(values.name, [], dtype=pl.String) if native and not labels and not groups else printed_texts(values)
    blank = np.zeros(column.cardinality, dtype=np.bool_)
    blank[size:] = True
    found: dict[int, Cell] = {}
    strays: dict[int, str] = {}
    special = _codes_of(texts, {EVERYTHING, *labels, *groups})
    single: dict[int, str] = {}
    for code, text in special.items():
        meaning = _labelled(text, kind, labels, hierarchy)
        if meaning is None:
            blank[code] = True
        elif isinstance(meaning, str):
            single[code] = meaning
        else:
            found[code] = meaning
    if single:
        replaced = texts.to_list()
        for code, text in single.items():
            replaced[code] = text
        texts = pl.Series(texts.name, replaced, dtype=pl.String)
    if kind == "text":
        places = np.zeros(0, dtype=np.int64)
        plain = _plain_texts(column.name, texts, found, blank[:size], cells, hierarchy, known)
    else:
        if native and not single:
            places, plain = native_positions(values), np.ones(size, dtype=np.bool_)
        else:
            places, plain = text_positions(texts, kind)
        plain = plain & ~blank[:size]
        plain[list(found)] = False
        for code in np.flatnonzero(~plain & ~blank[:size]).tolist():
            if code in found:
                continue
            if (cell := parse_cell(texts[code], kind)) is not None:
                found[code] = cell
            elif words or (known is not None and texts[code] in known):
                strays[code] = texts[code]
            else:
                raise unexplained(column.name, texts[code], kind)
    return Reading(kind, blank, plain, places, texts, found, strays)


def meaning_of(text: str, kind: Kind, cells: ColumnCells | None, hierarchy: Hierarchy | None = None) -> Cell | str | None:
    """What a single text stands for: a cell, ``*``, the text of a value, or None where nobody explains it."""
    if text == EVERYTHING:
        return EVERYTHING
    labels = cells.labels if cells is not None else {}
    if text in labels or text in _grouping(hierarchy, cells):
        meaning = _labelled(text, kind, labels, hierarchy)
        return EVERYTHING if meaning is None else meaning
    if (cell := parse_cell(text, kind)) is not None:
        return cell
    return text if parse_value(text, kind) is not None else None


def _grouping(hierarchy: Hierarchy | None, cells: ColumnCells | None) -> Mapping[str, frozenset[str]]:
    """The labels of a hierarchy that stand for several leaves; a column that says by itself what it holds needs none."""
    if hierarchy is None or cells is not None:
        return {}
    return hierarchy.groups


def _codes_of(texts: pl.Series, wanted: set[str]) -> dict[int, str]:
    if not len(texts):
        return {}
    codes = np.flatnonzero(texts.is_in(list(wanted)).to_numpy()).tolist()
    return {code: texts[code] for code in codes}


def _labelled(text: str, kind: Kind, labels: Mapping[str, str], hierarchy: Hierarchy | None) -> Cell | str | None:
    """The cell of a label, the text of the one value that it stands for, or None for ``*``."""
    if text in labels:
        said = labels[text]
        if said == EVERYTHING:
            return None
        return parse_cell(said, kind) or said
    if text == EVERYTHING:
        return None
    grammar = parse_cell(text, kind)
    if grammar is not None and not isinstance(grammar, Group) and kind != "text":
        return grammar
    return hierarchy_cell(text, kind, hierarchy)


def hierarchy_cell(text: str, kind: Kind, hierarchy: Hierarchy | None) -> Group:
    """The leaves under a label; leaves that are no values of the kind cannot be meant."""
    leaves = hierarchy.groups.get(text, frozenset()) if hierarchy is not None else frozenset()
    return Group(frozenset(leaf for leaf in leaves if parse_value(leaf, kind) is not None))


def _plain_texts(
    name: str,
    texts: pl.Series,
    found: dict[int, Cell],
    blank: NDArray[np.bool_],
    cells: ColumnCells | None,
    hierarchy: Hierarchy | None,
    known: frozenset[str] | None,
) -> NDArray[np.bool_]:
    """Which texts are values; groups and patterns among the others are added to ``found``."""
    plain = ~blank
    plain[list(found)] = False
    marked = (texts.str.starts_with("{") | texts.str.starts_with("!{") | texts.str.ends_with("*")).to_numpy() & plain
    for code in np.flatnonzero(marked).tolist():
        if (cell := parse_cell(texts[code], "text")) is not None:
            found[code] = _with_leaves(cell, hierarchy)
            plain[code] = False
    if known is None or cells is not None:
        return plain
    leaves = hierarchy.leaves if hierarchy is not None else ()
    strange = plain & ~texts.is_in([*known, *leaves]).to_numpy()
    if strange.any():
        raise unexplained(name, texts[int(np.argmax(strange))], "text")
    return plain


def _with_leaves(cell: Cell, hierarchy: Hierarchy | None) -> Cell:
    """A group may name labels of the hierarchy; their leaves are meant."""
    if hierarchy is None or not isinstance(cell, Group):
        return cell
    leaves = {leaf for member in cell.members for leaf in hierarchy.groups.get(member, ())}
    return Group(cell.members - hierarchy.groups.keys() | leaves, cell.parts, cell.others) if leaves else cell


def unexplained(name: str, text: str, kind: Kind) -> UnexplainedCellError:
    what = "no value of the original" if kind == "text" else f"no {kind}"
    return UnexplainedCellError(
        f"the masked column '{name}' holds '{text}', which is {what} and no cell of the grammar; say what it stands for in the "
        "policy's cells section, keep the file's .cells.yaml beside it, or give the attribute its hierarchy"
    )


def interval_of(cell: Cell) -> Interval | None:
    """The cell where it is one interval."""
    return cell if isinstance(cell, Interval) else None
