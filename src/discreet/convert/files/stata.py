"""Stata files (.dta), with value labels and variable labels; Stata labels whole numbers only."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from discreet.convert.files.labelled import for_package, from_package
from discreet.convert.files.tables import Table
from discreet.model.policy import Policy

_LEGAL = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_LONGEST = 32
_RESERVED = frozenset(
    (
        "_all", "_b", "byte", "_coef", "_cons", "double", "float", "if", "in", "int", "long",
        "_n", "_N", "_pi", "_pred", "_rc", "_skip", "str", "strL", "using", "with",
    )
)  # fmt: skip


def read(path: Path, policy: Policy) -> Table:
    """The file's table; all of Stata's missing values are missing."""
    import pyreadstat

    return from_package(*pyreadstat.read_dta(str(path), output_format="polars", encoding=policy.read.encoding))


def write(table: Table, path: Path) -> None:
    """Write a .dta file of version 118, which Stata 14 and later read."""
    import pyreadstat

    frame, told, labels = for_package(table, _LEGAL, _LONGEST)
    for name, dtype in frame.schema.items():
        if dtype.is_float() and bool(frame[name].is_infinite().any()):
            raise ValueError(f"the column '{name}' holds infinity, which Stata does not know")
    taken = {name: f"{name}_" for name in frame.columns if name in _RESERVED}
    frame = frame.rename(taken)
    whole = {
        taken.get(name, name): {code: label for code, label in given.items() if isinstance(code, int)}
        for name, given in labels.items()
        if frame.schema[taken.get(name, name)] != pl.String
    }
    named = {taken.get(name, name): label for name, label in told.items()}
    pyreadstat.write_dta(frame, str(path), column_labels=named, variable_value_labels={k: v for k, v in whole.items() if v})
