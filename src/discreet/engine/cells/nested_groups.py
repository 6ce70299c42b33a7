r"""Groups of groups, which a method publishes where an earlier step made groups of the same column, as one group of values."""

from __future__ import annotations

import polars as pl

from discreet.engine.cells.reader import meaning_of
from discreet.model.cells import ColumnCells, parse_group, union
from discreet.model.microdata import Microdata


def flatten_groups(data: Microdata, name: str, released: pl.Series) -> pl.Series:
    r"""The released labels of a column, with ``{single|\{divorced\|widowed\}}`` as ``{divorced|single|widowed}``.

    ``data`` is the table before the step: only labels of earlier steps are taken apart. A text of the original that looks like a
    group is a value.
    """
    cells = data.cells.get(name)
    if cells is None or released.dtype != pl.String:
        return released
    texts = released.unique().drop_nulls()
    nested = texts.filter(texts.str.contains(r"^\{(.*\|)?\\\{")).to_list()
    flat = {text: _flatten(text, cells) for text in nested}
    return released.replace(flat) if flat else released


def _flatten(text: str, cells: ColumnCells) -> str:
    group = parse_group(text)
    if group is None:
        return text
    return str(
        union(
            [meaning_of(member, cells.kind, cells) or member if member.startswith("{") else member for member in group.members],
            cells.kind,
        )
    )
