"""Released cells beside the original values of the same records: which of them contain the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.cells.containment import Containment, read_containment
from discreet.engine.cells.hierarchies import hierarchy_of
from discreet.engine.encoding.columns import Column, encode, encode_series
from discreet.engine.encoding.record_links import original_rows
from discreet.model.attribute import Level
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class LinkedRows:
    """The masked rows that have an original record, and the row of each of these originals."""

    masked: NDArray[np.int64]
    original: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.masked)


@dataclass(frozen=True)
class CellComparison:
    """One attribute of linked records; all arrays have one entry per linked record.

    ``old`` and ``new`` are the codes of the original value and of the released cell, ``known`` says where the original is not
    null, ``same`` where the released value is the original one, ``contained`` where the cell contains it.
    """

    containment: Containment
    old: NDArray[np.int64]
    new: NDArray[np.int64]
    known: NDArray[np.bool_]
    same: NDArray[np.bool_]
    contained: NDArray[np.bool_]

    @property
    def false(self) -> NDArray[np.bool_]:
        """Where the released cell neither is nor contains the original value."""
        return self.known & ~self.contained & ~self.same


def link_rows(original: Microdata, masked: Microdata) -> LinkedRows | None:
    """The rows that belong together; None where nothing links the tables.

    Two tables read from files have the record numbers 0, 1, 2, …: they are linked row by row if they have the same length.
    """
    positions = original_rows(masked, original)
    if positions is None:
        return None
    rows = np.flatnonzero(positions >= 0)
    return LinkedRows(rows, positions[rows])


def is_unchanged(original: Microdata, masked: Microdata, name: str, rows: LinkedRows) -> bool:
    """Whether a released column is the original one, row by row, so that nothing needs to be read."""
    if not (len(rows) == len(original) == len(masked) and original.is_initial and masked.is_initial):
        return False
    before, after = original.frame[name], masked.frame[name]
    return before is after or (before.dtype == after.dtype and before.equals(after))


def compare_cells(original: Microdata, masked: Microdata, name: str, rows: LinkedRows) -> CellComparison:
    """Read one attribute that both tables have.

    In a search, whose tables remember what is derived from a column, several losses compare the same column.
    """
    known = masked.derived(name) if len(rows) == len(original) == len(masked) else None
    if known is None:
        return _compare_cells(original, masked, name, rows)
    if known.get("compared with") is not original:
        known["comparison"], known["compared with"] = _compare_cells(original, masked, name, rows), original
    comparison: CellComparison = known["comparison"]
    return comparison


def _compare_cells(original: Microdata, masked: Microdata, name: str, rows: LinkedRows) -> CellComparison:
    (before,) = encode(original, [name])
    after = _masked_column(masked, name)
    hierarchy = hierarchy_of(original, name) if original.attribute(name).hierarchy is not None else None
    numeric = original.level(name) in (Level.NUMERIC, Level.DATE)
    containment = read_containment(before, after, hierarchy, numeric=numeric, cells=masked.cells.get(name))
    old, new = before.codes[rows.original].astype(np.int64), after.codes[rows.masked].astype(np.int64)
    contained = containment.contains(new, old)
    # a label may read like an original value for which it does not stand
    same = (_equal_values(before, after)[new] == old) & contained
    return CellComparison(containment, old, new, ~before.is_null[rows.original], same, contained)


def _masked_column(masked: Microdata, name: str) -> Column:
    """The masked column in its own order, because the owner's order lists original values only."""
    if masked.attribute(name).order is None:
        return encode(masked, [name])[0]
    return encode_series(masked.frame[name])


def _equal_values(before: Column, after: Column) -> NDArray[np.int64]:
    """For each masked code the original code of the very same value, or -1."""
    codes = np.full(after.cardinality, -1, dtype=np.int64)
    if before.values.dtype == after.values.dtype:
        code_of = {value: code for code, value in enumerate(before.values.to_list())}
        codes[: len(after.values)] = [code_of.get(value, -1) for value in after.values.to_list()]
    else:
        code_of = {str(value): code for code, value in enumerate(before.values.to_list())}
        codes[: len(after.values)] = [code_of.get(str(value), -1) for value in after.values.to_list()]
    return codes
