"""Frames of other libraries: pandas, Polars, PyArrow, and whatever speaks the Arrow PyCapsule interface."""

from __future__ import annotations

from typing import Any

import polars as pl

from discreet.convert.errors import convert_errors
from discreet.convert.files.column_names import unique
from discreet.errors import SourceError


def from_frame(source: Any) -> tuple[pl.LazyFrame, str]:
    """The frame as a lazy table, and its name for people."""
    if isinstance(source, pl.LazyFrame):
        return source, "the lazy frame"
    if isinstance(source, pl.DataFrame):
        return source.lazy(), "the frame"
    library = type(source).__module__.partition(".")[0]
    name = f"the {library} {type(source).__name__}"
    with convert_errors(name, "cannot be read"):
        if library == "pandas" and hasattr(source, "columns"):
            return _from_pandas(source).lazy(), name
        if library == "pyarrow" and hasattr(source, "rename_columns"):
            return pl.DataFrame(source.rename_columns(unique(source.column_names))).lazy(), name
        if hasattr(source, "__arrow_c_stream__"):
            made = pl.DataFrame(source)
            return made.rename(dict(zip(made.columns, unique(made.columns), strict=True))).lazy(), name
    raise SourceError(
        f"{name} is no table; give a file name, a database table as URL#table, or a frame of pandas, Polars or Arrow"
    )


def _from_pandas(source: Any) -> pl.DataFrame:
    """The columns by position, for labels may repeat; the index is not data."""
    names = unique(source.columns)
    return pl.DataFrame([_series(name, source.iloc[:, place]) for place, name in enumerate(names)])


def _series(name: str, column: Any) -> pl.Series:
    if column.dtype == object:  # numbers beside words, decimals, big integers: whatever Python holds
        values = [None if value is None or value != value else value for value in column.tolist()]  # noqa: PLR0124 - NaN
        try:
            return pl.Series(name, values, strict=True)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)
    return pl.from_pandas(column.reset_index(drop=True).rename(name).to_frame()).to_series().alias(name)
