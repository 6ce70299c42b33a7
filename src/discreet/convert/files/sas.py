"""SAS files: .sas7bdat is read, .xpt (the transport format of SAS) is read and written.

No maintained library writes .sas7bdat, whose layout SAS has not published; SAS itself opens .xpt. SAS stores value labels
in a separate catalog: ``name.sas7bcat`` next to ``name.sas7bdat`` is read with it. A transport file contains variable
labels but no value labels.
"""

from __future__ import annotations

import re
from pathlib import Path

from discreet.convert.files.labelled import frame_for_package, table_from_package
from discreet.convert.files.tables import Table
from discreet.model.policy import Policy

_LEGAL_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_MAX_NAME_BYTES = 32


def read(path: Path, policy: Policy) -> Table:
    """Read the table, with the value labels of the catalog next to it if there is one."""
    import pyreadstat

    frame, meta = pyreadstat.read_sas7bdat(str(path), output_format="polars", encoding=policy.read.encoding)
    catalog = path.with_suffix(".sas7bcat")
    if catalog.is_file():
        _, catalog_labels = pyreadstat.read_sas7bcat(str(catalog))
        meta.variable_value_labels = {
            name: catalog_labels.value_labels[label]
            for name, label in meta.variable_to_label.items()
            if label in catalog_labels.value_labels
        }
    return table_from_package(frame, meta)


def write(_table: Table, _path: Path) -> None:
    """Raise ValueError and name the format to write instead."""
    raise ValueError("files of this format can be read but not written; write .xpt instead, which SAS opens")


def read_transport(path: Path, policy: Policy) -> Table:
    """Read a transport file."""
    import pyreadstat

    return table_from_package(*pyreadstat.read_xport(str(path), output_format="polars", encoding=policy.read.encoding))


def write_transport(table: Table, path: Path) -> None:
    """Write a transport file, version 8 (long names)."""
    import pyreadstat

    frame, variable_labels, _ = frame_for_package(table, _LEGAL_NAME, _MAX_NAME_BYTES)
    for name, dtype in frame.schema.items():
        if dtype.is_float() and bool(frame[name].is_infinite().any()):
            raise ValueError(f"the column '{name}' holds infinity, which SAS cannot represent")
    pyreadstat.write_xport(frame, str(path), column_labels=variable_labels)
    # the library does not report a full disk, so the size of the file is checked
    _, meta = pyreadstat.read_xport(str(path), metadataonly=True)
    if path.stat().st_size < frame.height * sum(meta.variable_storage_width.values()):
        raise OSError("the disk is full, or the file exceeds a size limit")
