"""SAS files: .sas7bdat is read, .xpt (the transport format of SAS) is read and written.

No maintained library writes .sas7bdat, whose layout SAS has not published; SAS itself opens .xpt. Value labels of SAS
live in a catalog beside the table: ``name.sas7bcat`` next to ``name.sas7bdat`` is read with it. A transport file holds
variable labels, and no value labels.
"""

from __future__ import annotations

import re
from pathlib import Path

from discreet.convert.files.labelled import for_package, from_package
from discreet.convert.files.tables import Table
from discreet.model.policy import Policy

_LEGAL = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_LONGEST = 32


def read(path: Path, policy: Policy) -> Table:
    """The table, with the labels of the catalog beside it where there is one."""
    import pyreadstat

    frame, meta = pyreadstat.read_sas7bdat(str(path), output_format="polars", encoding=policy.read.encoding)
    catalog = path.with_suffix(".sas7bcat")
    if catalog.is_file():
        _, words = pyreadstat.read_sas7bcat(str(catalog))
        meta.variable_value_labels = {
            name: words.value_labels[label] for name, label in meta.variable_to_label.items() if label in words.value_labels
        }
    return from_package(frame, meta)


def write(_table: Table, _path: Path) -> None:
    """Say what can be written instead."""
    raise ValueError("files of this kind can be read but not written; write .xpt, which SAS opens, instead")


def read_transport(path: Path, policy: Policy) -> Table:
    """A transport file."""
    import pyreadstat

    return from_package(*pyreadstat.read_xport(str(path), output_format="polars", encoding=policy.read.encoding))


def write_transport(table: Table, path: Path) -> None:
    """Write a transport file of version 8 (long names)."""
    import pyreadstat

    frame, told, _ = for_package(table, _LEGAL, _LONGEST)
    for name, dtype in frame.schema.items():
        if dtype.is_float() and bool(frame[name].is_infinite().any()):
            raise ValueError(f"the column '{name}' holds infinity, which SAS does not know")
    pyreadstat.write_xport(frame, str(path), column_labels=told)
    # the library does not notice a disk that is full, so its work is measured
    _, meta = pyreadstat.read_xport(str(path), metadataonly=True)
    if path.stat().st_size < frame.height * sum(meta.variable_storage_width.values()):
        raise OSError("the disk is full, or a file may not be that large")
