"""The sensitivity of coarse cells: the largest weight of a value that the cell may stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.cells.reader import meaning_of, printed_texts
from discreet.engine.encoding.columns import Column, value_weights
from discreet.model.attribute import Attribute
from discreet.model.cells import EVERYTHING, Cell, ColumnCells, Interval, Kind, Prefix, parse_value

if TYPE_CHECKING:
    from numpy.typing import NDArray


def cell_weights(column: Column, attribute: Attribute, cells: ColumnCells | None) -> NDArray[np.float64]:
    """W(A) x W(value) for every code of the column (Orooji & Knapp 2018a, eq. 4), null last, where some cells are coarse."""
    weights = value_weights(column, attribute)
    if cells is None or not attribute.values:
        return weights
    for code, text in enumerate(printed_texts(column.values).to_list()):
        meaning = meaning_of(text, cells.kind, cells)
        if meaning is not None and meaning != EVERYTHING:
            weights[code] = attribute.sensitivity * largest_weight(meaning, attribute, cells.kind)
    return weights


def largest_weight(cell: Cell | str, attribute: Attribute, kind: Kind) -> float:
    """The largest weight of a value that a cell may stand for."""
    if isinstance(cell, str):
        value = parse_value(cell, kind)
        return max(attribute.value_weight(cell), attribute.value_weight(value) if kind == "number" else 0.0)
    listed = [(text, weight) for text, weight in attribute.values.items()]
    if isinstance(cell, Prefix):
        return max([attribute.unlisted, *(weight for text, weight in listed if text in cell)])
    if isinstance(cell, Interval):
        inside = [weight for text, weight in listed if (value := parse_value(text, kind)) is not None and value in cell]
        across = [weight for other, weight in attribute.intervals() if kind == "number" and other.overlaps(cell)]
        return max([attribute.unlisted, *inside, *across])
    if cell.others:
        return max([attribute.unlisted, *(weight for _, weight in listed)])
    return max([*(largest_weight(member, attribute, kind) for member in (*cell.members, *cell.parts)), 0.0])
