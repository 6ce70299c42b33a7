"""The description of a release's labels, written next to it as ``<file>.cells.yaml``.

It contains only the policy's section ``cells``, with the labels that occur in the release. It is meant to be published with
the release: without it, a user of the data has to guess what a label means.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from discreet.convert.writing.atomic import write_text
from discreet.engine.cells.reader import printed_texts
from discreet.errors import PolicyError, SourceError, nearest
from discreet.model.cells import ColumnCells
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy, parse_policy
from discreet.model.yaml_text import dump_yaml

SUFFIX = ".cells.yaml"
_HEADER = "# What the labels of {name} stand for; see the page 'What a cell stands for' of discreet's documentation.\n"


def cells_path(path: Path) -> Path:
    """The path of the description that belongs to a file."""
    return path.with_name(path.name + SUFFIX)


def write_cells(path: Path, cells: Mapping[str, ColumnCells], *, private: bool) -> None:
    """Write the description of a file's labels, replacing or removing an older one."""
    description_path = cells_path(path)
    if not cells:
        remove_cells(path)
        return
    content = {name: column_cells.model_dump(mode="json", exclude_defaults=True) for name, column_cells in cells.items()}
    text = dump_yaml({"cells": content})
    write_text(description_path, _HEADER.format(name=path.name) + text, private=private)


def remove_cells(path: Path) -> None:
    """Remove a description that no longer belongs to the file."""
    try:
        cells_path(path).unlink(missing_ok=True)
    except OSError as error:
        raise SourceError(f"{cells_path(path)}: cannot be removed: {error.strerror}") from None


def read_cells(path: Path) -> dict[str, ColumnCells]:
    """Read the description next to a table; empty if there is none."""
    description_path = cells_path(path)
    if not description_path.is_file():
        return {}
    try:
        text = description_path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{description_path}: cannot be read as UTF-8 text: {error}") from None
    try:
        description = parse_policy(text, origin=str(description_path))
    except PolicyError as error:
        raise SourceError(f"{error}; it must contain a section 'cells' as discreet writes it for {path.name}") from None
    if other_sections := sorted(description.model_fields_set - {"cells"}):
        raise SourceError(f"{description_path}: contains '{other_sections[0]}', but only the section 'cells' is allowed in it")
    return description.cells


def policy_with_labels_as_text(policy: Policy, cells: Mapping[str, ColumnCells]) -> Policy:
    """A copy of the policy that reads the described columns as text, even where their labels look like numbers."""
    names = [name for name in cells if name not in policy.read.text]
    if not names:
        return policy
    return policy.with_(read=policy.read.model_copy(update={"text": (*policy.read.text, *names)}))


def check_described_columns(path: Path, cells: Mapping[str, ColumnCells], columns: list[str]) -> None:
    """Raise SourceError if the description names a column that the table does not have."""
    for name in cells:
        if name not in columns:
            raise SourceError(
                f"{cells_path(path)}: describes the column '{name}', which {path.name} does not have; {nearest(name, columns)}; "
                "remove the file if it belongs to another table"
            )


def apply_cells(data: Microdata, cells: Mapping[str, ColumnCells]) -> Microdata:
    """Attach descriptions to a table; the described columns are converted to text."""
    texts = {
        name: printed_texts(data.frame[name]) for name in cells if name in data.columns and data.frame.schema[name] != pl.String
    }
    labelled = data.with_columns(texts) if texts else data
    return labelled.with_cells({**labelled.cells, **cells})
