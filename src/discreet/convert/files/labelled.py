"""What the files of SPSS, Stata and SAS share: codes with labels, blanks for missing text, doubles for whole numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from discreet.convert.files.column_names import unique
from discreet.convert.files.normalise import printable
from discreet.convert.files.tables import Table

EXACT = 2**53


def from_package(frame: pl.DataFrame, meta: Any) -> Table:
    """A table as pyreadstat read it: whole doubles become integers, blank text is missing, labels stay."""
    changes = []
    for name, dtype in frame.schema.items():
        if dtype.is_float():
            values = frame[name].fill_nan(None).drop_nulls()
            if len(values) and bool((values == values.floor()).all()) and float(values.abs().max()) <= EXACT:  # type: ignore[arg-type]
                changes.append(pl.col(name).fill_nan(None).cast(pl.Int64))
        elif dtype == pl.String:
            changes.append(pl.col(name).replace("", None))
        elif dtype in (pl.Null, pl.Object):
            changes.append(pl.col(name).cast(pl.String))
    labels = {
        name: {_code(code): str(label) for code, label in given.items()}
        for name, given in (meta.variable_value_labels or {}).items()
        if given and name in frame.columns
    }
    told = {name: str(label) for name, label in (meta.column_names_to_labels or {}).items() if label}
    return Table(frame.with_columns(changes), labels, told)


def for_package(
    table: Table, legal: re.Pattern[str], longest: int
) -> tuple[pl.DataFrame, dict[str, str], dict[str, dict[Any, str]]]:
    """Frame, variable labels and value labels that the package's format can hold.

    A name that the package does not allow is spelt with underscores, and the name itself goes into the variable's
    label. Whole numbers that a double cannot hold are written as text, truth values as 0 and 1.
    """
    frame = table.frame.with_columns(printable(table.frame.schema))
    changes = []
    for name, dtype in frame.schema.items():
        if dtype.is_integer() and bool((frame[name].drop_nulls().cast(pl.Int128).abs() > EXACT).any()):
            changes.append(pl.col(name).cast(pl.String))
        elif dtype == pl.Boolean:
            changes.append(pl.col(name).cast(pl.Int8))
        elif dtype.is_integer():
            changes.append(pl.col(name).cast(pl.Int64))
        elif isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
            changes.append(pl.col(name).dt.convert_time_zone("UTC").dt.replace_time_zone(None))
    frame = frame.with_columns(changes)
    names = dict(zip(frame.columns, _legal_names(frame.columns, legal, longest), strict=True))
    told = {
        names[name]: table.variable_labels.get(name, name)
        for name in names
        if name in table.variable_labels or names[name] != name
    }
    labels = {names[name]: fitting for name in names if (fitting := _fitting(table.labels.get(name, {}), frame.schema[name]))}
    return frame.rename(names), told, labels


def _fitting(labels: Mapping[Any, str], dtype: pl.DataType) -> dict[Any, str]:
    """The labels whose code is of the column's type: a masked column may have turned to text."""
    wanted = str if dtype == pl.String else int | float if dtype.is_numeric() else ()
    return {code: label for code, label in labels.items() if isinstance(code, wanted)}


def _legal_names(names: list[str], legal: re.Pattern[str], longest: int) -> list[str]:
    made = []
    for name in names:
        if legal.fullmatch(name) and len(name.encode()) <= longest:
            made.append(name)
            continue
        spelt = re.sub(r"\W", "_", name, flags=legal.flags & re.ASCII)
        spelt = spelt if re.match(r"[^\W\d_]", spelt) else f"v_{spelt}"
        made.append(spelt.encode()[: longest - 4].decode(errors="ignore"))
    return _apart(made)


def _apart(names: list[str]) -> list[str]:
    """No two names that differ in case alone, for SPSS and SAS take them for one."""
    lower = unique(name.lower() for name in names)
    return [
        name if name.lower() == apart else name + apart[len(name.lower()) :] for name, apart in zip(names, lower, strict=True)
    ]


def _code(code: Any) -> Any:
    return int(code) if isinstance(code, float) and code.is_integer() else code
