"""Whether every label of a masked table can be explained: checked before anything is measured."""

from __future__ import annotations

from discreet.engine.cells.atoms import read_sides
from discreet.engine.cells.hierarchies import usable_hierarchy
from discreet.engine.encoding.columns import encode
from discreet.errors import UnexplainedCellError
from discreet.model.microdata import Microdata


def check_explained(original: Microdata, masked: Microdata) -> None:
    """Raise UnexplainedCellError, naming table, column and label, where a masked cell is no value and nobody says what it means.

    Numbers and dates are always values of their kind, whether the original holds them or not. A text is one where the
    original holds it, where it is a leaf of the attribute's hierarchy, or where the column is declared: a ``cells`` entry says
    that whatever is no label is a value (a pseudonym, for example).
    """
    for name in masked.columns:
        if name not in original.columns:
            continue
        before, after = original.frame[name], masked.frame[name]
        if before is after or (before.dtype == after.dtype and before.dtype.is_numeric() and name not in masked.cells):
            continue
        (true_column,), (masked_column,) = encode(original, [name]), encode(masked, [name])
        sides = [(true_column, original.cells.get(name)), (masked_column, masked.cells.get(name))]
        try:
            read_sides(sides, hierarchy=usable_hierarchy(original, name), reference=0, strict=True)
        except UnexplainedCellError as error:
            raise UnexplainedCellError(f"{masked.source}: {error}") from None
