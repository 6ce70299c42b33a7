"""Protection against formula injection in delimited files that are released.

A CSV file has no types: a spreadsheet program that opens it evaluates ``=HYPERLINK(…)`` or ``-2+cmd|…``. An apostrophe in
front marks the cell as text. Only what can be a formula is changed: ``-5``, ``+``, ``@name`` and ``-10..0`` are not.
"""

from __future__ import annotations

import polars as pl

FORMULA_PATTERN = r"^[\s]*(?:=.|[+\-@].*[(|!])"
"""A formula begins with =, or with + - @ followed by a call or a reference."""


def remove_formula_guards(masked: pl.Series, original: pl.Series) -> pl.Series:
    """Remove the apostrophe that :func:`guard_formulas` added, from texts whose remainder occurs in the original column.

    >>> remove_formula_guards(pl.Series(["'+1 (555)", "'a"]), pl.Series(["+1 (555)"])).to_list()
    ['+1 (555)', "'a"]
    """
    if masked.dtype != pl.String or original.dtype != pl.String:
        return masked
    stripped = masked.str.strip_prefix("'")
    guarded = (
        masked.str.starts_with("'")
        & stripped.str.contains(f"(?s){FORMULA_PATTERN}")
        & stripped.is_in(original.unique().implode())
    )
    return stripped.zip_with(guarded.fill_null(value=False), masked) if guarded.any() else masked


def guard_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before every text and column name that a spreadsheet would evaluate.

    >>> guard_formulas(pl.DataFrame({"a": ["=1+1", "-5", "@SUM(A1)", None]}))["a"].to_list()
    ["'=1+1", '-5', "'@SUM(A1)", None]
    """
    text_columns = [name for name, dtype in frame.schema.items() if dtype in (pl.String, pl.Categorical, pl.Enum)]
    guarded = frame.with_columns(
        pl.when(text.str.contains(f"(?s){FORMULA_PATTERN}")).then(pl.concat_str(pl.lit("'"), text)).otherwise(text).alias(name)
        for name in text_columns
        for text in (pl.col(name).cast(pl.String),)
    )
    names = pl.Series(guarded.columns, dtype=pl.String)
    is_formula = names.str.contains(f"(?s){FORMULA_PATTERN}")
    return guarded.rename({name: f"'{name}" for name, unsafe in zip(names, is_formula, strict=True) if unsafe})
