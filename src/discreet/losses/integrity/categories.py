"""Cells as categories: equal values are the same category, however a file spells them."""

from __future__ import annotations

import polars as pl

from discreet.engine.cells.positions import kind_of
from discreet.engine.encoding.shared_codes import as_text
from discreet.model.cells import ColumnCells, parse_cell, parse_value, value_text


def as_categories(original: pl.Series, masked: pl.Series, cells: ColumnCells | None) -> tuple[pl.Series, pl.Series]:
    """Both columns with equal values in the same spelling; labels and coarse cells are categories of their own."""
    kind = kind_of(original.dtype)
    if masked.dtype != pl.String or kind in ("text", "number"):
        return original, masked
    labels = cells.labels if cells is not None else {}
    texts = masked.unique().drop_nulls().to_list()
    known = original.unique().drop_nulls()
    normalised = [
        text
        if text in labels or parse_cell(text, kind) is not None or (value := parse_value(text, kind)) is None
        else value_text(value)
        for text in texts
    ]
    known_texts = [value_text(parse_value(text, kind)) for text in as_text(known).to_list()]
    return (
        original.replace_strict(known, known_texts, return_dtype=pl.String, default=None),
        masked.replace_strict(texts, normalised, return_dtype=pl.String, default=None),
    )
