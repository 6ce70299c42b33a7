"""SPSS files (.sav, .zsav), with value labels and variable labels."""

from __future__ import annotations

import re
from pathlib import Path

from discreet.convert.files.labelled import frame_for_package, table_from_package
from discreet.convert.files.tables import Table
from discreet.model.policy import Policy

_LEGAL_NAME = re.compile(r"[^\W\d_][\w.@#$]*(?<![._])")
_MAX_NAME_BYTES = 64


def read(path: Path, policy: Policy) -> Table:
    """Read the table; values that the file declares as missing become missing."""
    import pyreadstat

    return table_from_package(*pyreadstat.read_sav(str(path), output_format="polars", encoding=policy.read.encoding))


def write(table: Table, path: Path) -> None:
    """Write a .sav file, or a compressed .zsav file."""
    import pyreadstat

    frame, variable_labels, value_labels = frame_for_package(table, _LEGAL_NAME, _MAX_NAME_BYTES)
    integer_formats = {name: "F20.0" for name, dtype in frame.schema.items() if dtype.is_integer()}
    pyreadstat.write_sav(
        frame,
        str(path),
        column_labels=variable_labels,
        variable_value_labels=value_labels,
        variable_format=integer_formats,
        compress=path.suffix.lower() == ".zsav",
    )
