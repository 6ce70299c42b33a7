"""Frames of other libraries: pandas, Polars, PyArrow, and anything with the Arrow PyCapsule interface."""

from __future__ import annotations

from typing import Any

import polars as pl

from discreet.convert.errors import convert_errors
from discreet.convert.files.column_names import unique_names
from discreet.convert.files.reading_notes import add_note
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
    """Convert the columns by position, because labels may repeat; an index that is more than row numbers becomes columns."""
    if _index_holds_data(source):
        levels = source.index.names
        if source.index.nlevels == 1:
            labels = [levels[0] if levels[0] is not None else "index"]
        else:
            labels = [f"level_{position}" if label is None else label for position, label in enumerate(levels)]
        add_note(f"the index of the pandas frame was read as {', '.join(repr(str(label)) for label in labels)}")
        index = source.index.to_frame(index=False).set_axis(labels, axis=1)
        parts = [index.iloc[:, position] for position in range(index.shape[1])]
        parts += [source.iloc[:, position] for position in range(source.shape[1])]
        names = unique_names([*labels, *source.columns])
    else:
        parts = [source.iloc[:, position] for position in range(source.shape[1])]
        names = unique_names(source.columns)
    return pl.DataFrame([_series(name, part) for name, part in zip(names, parts, strict=True)])


def _index_holds_data(source: Any) -> bool:
    """Whether the index is anything but the row numbers, in any order: a name, text, dates, or several levels."""
    index = source.index
    if index.nlevels > 1 or index.names[0] is not None:
        return True
    kind = getattr(index.dtype, "kind", "O")
    return kind not in "iu"


def ordered_categories(source: Any) -> dict[str, tuple[str, ...]]:
    """The order of each ordered categorical column of a pandas frame."""
    if type(source).__module__.partition(".")[0] != "pandas" or not hasattr(source, "columns"):
        return {}
    orders = {}
    shift = source.index.nlevels if _index_holds_data(source) else 0
    labels = [*range(shift), *source.columns]
    for position, name in enumerate(unique_names(labels)):
        dtype = source.iloc[:, position - shift].dtype if position >= shift else None
        if dtype is not None and getattr(dtype, "ordered", False) and hasattr(dtype, "categories"):
            orders[name] = tuple(str(category) for category in dtype.categories)
    return orders


def _series(name: str, column: Any) -> pl.Series:
    if column.dtype == object:  # mixed types, decimals, big integers: any Python objects
        values = [None if value is None or value != value else value for value in column.tolist()]  # noqa: PLR0124 - NaN
        try:
            return pl.Series(name, values, strict=True)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)
    return pl.from_pandas(column.reset_index(drop=True).rename(name).to_frame()).to_series().alias(name)
