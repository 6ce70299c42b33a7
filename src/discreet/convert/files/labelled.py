"""Conversions shared by SPSS, Stata and SAS files: labelled codes, blanks for missing text, doubles for whole numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from discreet.convert.files.column_names import unique_names
from discreet.convert.files.normalise import durations_as_text
from discreet.convert.files.tables import Table

MAX_EXACT_INTEGER = 2**53


def table_from_package(frame: pl.DataFrame, meta: Any) -> Table:
    """Convert what pyreadstat read: whole doubles become integers, blank text becomes missing, labels are preserved."""
    conversions = []
    for name, dtype in frame.schema.items():
        if dtype.is_float():
            values = frame[name].fill_nan(None).drop_nulls()
            if len(values) and bool((values == values.floor()).all()) and float(values.abs().max()) <= MAX_EXACT_INTEGER:  # type: ignore[arg-type]
                conversions.append(pl.col(name).fill_nan(None).cast(pl.Int64))
        elif dtype == pl.String:
            conversions.append(pl.col(name).replace("", None))
        elif dtype in (pl.Null, pl.Object):
            conversions.append(pl.col(name).cast(pl.String))
    labels = {
        name: {_integer_if_whole(code): str(label) for code, label in value_labels.items()}
        for name, value_labels in (meta.variable_value_labels or {}).items()
        if value_labels and name in frame.columns
    }
    variable_labels = {name: str(label) for name, label in (meta.column_names_to_labels or {}).items() if label}
    return Table(frame.with_columns(conversions), labels, variable_labels)


def frame_for_package(
    table: Table, legal: re.Pattern[str], max_bytes: int
) -> tuple[pl.DataFrame, dict[str, str], dict[str, dict[Any, str]]]:
    """Frame, variable labels and value labels that the package's format can represent.

    A name that the package does not allow is written with underscores, and the original name becomes the variable's label.
    Integers that a double cannot represent are written as text, booleans as 0 and 1.
    """
    frame = table.frame.with_columns(durations_as_text(table.frame.schema))
    conversions = []
    for name, dtype in frame.schema.items():
        if dtype.is_integer() and bool((frame[name].drop_nulls().cast(pl.Int128).abs() > MAX_EXACT_INTEGER).any()):
            conversions.append(pl.col(name).cast(pl.String))
        elif dtype == pl.Boolean:
            conversions.append(pl.col(name).cast(pl.Int8))
        elif dtype.is_integer():
            conversions.append(pl.col(name).cast(pl.Int64))
        elif isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
            conversions.append(pl.col(name).dt.convert_time_zone("UTC").dt.replace_time_zone(None))
    frame = frame.with_columns(conversions)
    names = dict(zip(frame.columns, _legal_names(frame.columns, legal, max_bytes), strict=True))
    variable_labels = {
        names[name]: table.variable_labels.get(name, name)
        for name in names
        if name in table.variable_labels or names[name] != name
    }
    labels = {
        names[name]: value_labels
        for name in names
        if (value_labels := _labels_of_column_type(table.labels.get(name, {}), frame.schema[name]))
    }
    return frame.rename(names), variable_labels, labels


def _labels_of_column_type(labels: Mapping[Any, str], dtype: pl.DataType) -> dict[Any, str]:
    """The labels whose code has the column's type: masking may have converted a column of codes to text."""
    code_type = str if dtype == pl.String else int | float if dtype.is_numeric() else ()
    return {code: label for code, label in labels.items() if isinstance(code, code_type)}


def _legal_names(names: list[str], legal: re.Pattern[str], max_bytes: int) -> list[str]:
    result = []
    for name in names:
        if legal.fullmatch(name) and len(name.encode()) <= max_bytes:
            result.append(name)
            continue
        replacement = re.sub(r"\W", "_", name, flags=legal.flags & re.ASCII)
        replacement = replacement if re.match(r"[^\W\d_]", replacement) else f"v_{replacement}"
        result.append(replacement.encode()[: max_bytes - 4].decode(errors="ignore"))
    return _distinct_ignoring_case(result)


def _distinct_ignoring_case(names: list[str]) -> list[str]:
    """Number names that differ only in case, because SPSS and SAS do not distinguish them."""
    lower = unique_names(name.lower() for name in names)
    return [
        name if name.lower() == distinct else name + distinct[len(name.lower()) :]
        for name, distinct in zip(names, lower, strict=True)
    ]


def _integer_if_whole(code: Any) -> Any:
    return int(code) if isinstance(code, float) and code.is_integer() else code
