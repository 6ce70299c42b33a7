"""Texts that a spreadsheet would take for formulas, made harmless in delimited files that go to strangers.

A CSV file has no types: a program that opens it runs ``=HYPERLINK(…)`` or ``-2+cmd|…``. An apostrophe before the text says
that it is text. Only what can be a formula is changed: ``-5``, ``+``, ``@name`` and ``-10..0`` stay as they are.
"""

from __future__ import annotations

import polars as pl

PATTERN = r"^[\s]*(?:=.|[+\-@].*[(|!])"
"""A formula: begins with =, or with + - @ and calls or refers to something."""


def unguarded(masked: pl.Series, original: pl.Series) -> pl.Series:
    """Texts of a released file without the apostrophe that :func:`harmless` put before them, where the original holds the rest.

    >>> unguarded(pl.Series(["'+1 (555)", "'a"]), pl.Series(["+1 (555)"])).to_list()
    ['+1 (555)', "'a"]
    """
    if masked.dtype != pl.String or original.dtype != pl.String:
        return masked
    bare = masked.str.strip_prefix("'")
    guarded = masked.str.starts_with("'") & bare.str.contains(f"(?s){PATTERN}") & bare.is_in(original.unique().implode())
    return bare.zip_with(guarded.fill_null(value=False), masked) if guarded.any() else masked


def harmless(frame: pl.DataFrame) -> pl.DataFrame:
    """A copy in which no text and no name can run.

    >>> harmless(pl.DataFrame({"a": ["=1+1", "-5", "@SUM(A1)", None]}))["a"].to_list()
    ["'=1+1", '-5', "'@SUM(A1)", None]
    """
    texts = [name for name, kind in frame.schema.items() if kind in (pl.String, pl.Categorical, pl.Enum)]
    guarded = frame.with_columns(
        pl.when(text.str.contains(f"(?s){PATTERN}")).then(pl.concat_str(pl.lit("'"), text)).otherwise(text).alias(name)
        for name in texts
        for text in (pl.col(name).cast(pl.String),)
    )
    names = pl.Series(guarded.columns, dtype=pl.String)
    runs = names.str.contains(f"(?s){PATTERN}")
    return guarded.rename({name: f"'{name}" for name, bad in zip(names, runs, strict=True) if bad})
