"""Stata files (.dta), with value labels and variable labels; Stata labels whole numbers only."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from discreet.convert.files.labelled import frame_for_package, table_from_package
from discreet.convert.files.tables import Table
from discreet.model.policy import Policy

_LEGAL_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_MAX_NAME_BYTES = 32
_RESERVED_NAMES = frozenset(
    (
        "_all", "_b", "byte", "_coef", "_cons", "double", "float", "if", "in", "int", "long",
        "_n", "_N", "_pi", "_pred", "_rc", "_skip", "str", "strL", "using", "with",
    )
)  # fmt: skip


def read(path: Path, policy: Policy) -> Table:
    """Read the table; all of Stata's missing values become missing."""
    import pyreadstat

    return table_from_package(*pyreadstat.read_dta(str(path), output_format="polars", encoding=policy.read.encoding))


def write(table: Table, path: Path) -> None:
    """Write a .dta file, version 118, which Stata 14 and later read."""
    import pyreadstat

    frame, variable_labels, value_labels = frame_for_package(table, _LEGAL_NAME, _MAX_NAME_BYTES)
    for name, dtype in frame.schema.items():
        if dtype.is_float() and bool(frame[name].is_infinite().any()):
            raise ValueError(f"the column '{name}' holds infinity, which Stata cannot represent")
    renamed = {name: f"{name}_" for name in frame.columns if name in _RESERVED_NAMES}
    frame = frame.rename(renamed)
    integer_labels = {
        renamed.get(name, name): {code: label for code, label in column_labels.items() if isinstance(code, int)}
        for name, column_labels in value_labels.items()
        if frame.schema[renamed.get(name, name)] != pl.String
    }
    renamed_labels = {renamed.get(name, name): label for name, label in variable_labels.items()}
    pyreadstat.write_dta(
        frame, str(path), column_labels=renamed_labels, variable_value_labels={k: v for k, v in integer_labels.items() if v}
    )
