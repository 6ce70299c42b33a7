"""SPSS files (.sav, .zsav), with value labels and variable labels."""

from __future__ import annotations

import re
from pathlib import Path

from discreet.convert.files.labelled import for_package, from_package
from discreet.convert.files.tables import Table
from discreet.model.policy import Policy

_LEGAL = re.compile(r"[^\W\d_][\w.@#$]*(?<![._])")
_LONGEST = 64


def read(path: Path, policy: Policy) -> Table:
    """The file's table; values that the file itself calls missing are missing."""
    import pyreadstat

    return from_package(*pyreadstat.read_sav(str(path), output_format="polars", encoding=policy.read.encoding))


def write(table: Table, path: Path) -> None:
    """Write a .sav file; .zsav is its compressed form."""
    import pyreadstat

    frame, told, labels = for_package(table, _LEGAL, _LONGEST)
    whole = {name: "F20.0" for name, dtype in frame.schema.items() if dtype.is_integer()}
    pyreadstat.write_sav(
        frame,
        str(path),
        column_labels=told,
        variable_value_labels=labels,
        variable_format=whole,
        compress=path.suffix.lower() == ".zsav",
    )
