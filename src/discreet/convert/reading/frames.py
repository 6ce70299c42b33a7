"""Frames of other libraries: pandas, Polars, PyArrow, and anything with the Arrow PyCapsule interface."""

from __future__ import annotations

from typing import Any

import polars as pl

from discreet.convert.errors import convert_errors
from discreet.convert.files.column_names import unique_names
from discreet.errors import SourceError


def lazy_from_frame(source: Any) -> tuple[pl.LazyFrame, str]:
    """The frame as a lazy table, and its name for messages."""
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
            return pl.DataFrame(source.rename_columns(unique_names(source.column_names))).lazy(), name
        if hasattr(source, "__arrow_c_stream__"):
            frame = pl.DataFrame(source)
            return frame.rename(dict(zip(frame.columns, unique_names(frame.columns), strict=True))).lazy(), name
    raise SourceError(
        f"{name} is not a table; give a file name, a database table as URL#table, or a frame of pandas, Polars or Arrow"
    )


def _from_pandas(source: Any) -> pl.DataFrame:
    """Convert the columns by position, because labels may repeat; the index is ignored."""
    names = unique_names(source.columns)
    return pl.DataFrame([_series(name, source.iloc[:, index]) for index, name in enumerate(names)])


def _series(name: str, column: Any) -> pl.Series:
    if column.dtype == object:  # mixed types, decimals, big integers: any Python objects
        values = [None if value is None or value != value else value for value in column.tolist()]  # noqa: PLR0124 - NaN
        try:
            return pl.Series(name, values, strict=True)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)
    return pl.from_pandas(column.reset_index(drop=True).rename(name).to_frame()).to_series().alias(name)
