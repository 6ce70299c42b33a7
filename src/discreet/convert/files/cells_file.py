"""The file beside a release that says what its labels stand for: ``<file>.cells.yaml``.

It holds the policy's section ``cells`` and nothing else, with only the labels that occur in the release. It is meant to be
published with the release: without it, a reader has to guess what a label means.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl
import yaml

from discreet.convert.writing.atomic import write_text
from discreet.engine.cells.reader import printed_texts
from discreet.errors import PolicyError, SourceError, nearest
from discreet.model.cells import ColumnCells
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy, parse_policy

SUFFIX = ".cells.yaml"
_ABOUT = "# What the labels of {name} stand for; see the page 'What a cell stands for' of discreet's documentation.\n"


def cells_file(path: Path) -> Path:
    """Where the cells of a file are described."""
    return path.with_name(path.name + SUFFIX)


def write_cells(path: Path, cells: Mapping[str, ColumnCells], *, private: bool) -> None:
    """Describe the labels of a file that has just been written; nothing is left of an older description."""
    place = cells_file(path)
    if not cells:
        remove_cells(path)
        return
    content = {name: one.model_dump(mode="json", exclude_defaults=True) for name, one in cells.items()}
    text = yaml.safe_dump({"cells": content}, sort_keys=False, allow_unicode=True, width=120)
    write_text(place, _ABOUT.format(name=path.name) + text, private=private)


def remove_cells(path: Path) -> None:
    """Remove a description that does not belong to the file any more."""
    try:
        cells_file(path).unlink(missing_ok=True)
    except OSError as error:
        raise SourceError(f"{cells_file(path)}: cannot be removed: {error.strerror}") from None


def read_cells(path: Path) -> dict[str, ColumnCells]:
    """What the file beside a table says of its labels; nothing where there is no such file."""
    place = cells_file(path)
    if not place.is_file():
        return {}
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{place}: cannot be read as UTF-8 text: {error}") from None
    try:
        found = parse_policy(text, origin=str(place))
    except PolicyError as error:
        raise SourceError(f"{error}; it must hold a section 'cells' as discreet writes it beside {path.name}") from None
    if others := sorted(found.model_fields_set - {"cells"}):
        raise SourceError(f"{place}: holds '{others[0]}', but only the section 'cells' belongs beside a table")
    return found.cells


def reading_labels_as_text(policy: Policy, cells: Mapping[str, ColumnCells]) -> Policy:
    """A policy that reads described columns as text, whatever they look like."""
    names = [name for name in cells if name not in policy.read.text]
    if not names:
        return policy
    return policy.with_(read=policy.read.model_copy(update={"text": (*policy.read.text, *names)}))


def check_columns(path: Path, cells: Mapping[str, ColumnCells], columns: list[str]) -> None:
    """A description must belong to its table."""
    for name in cells:
        if name not in columns:
            raise SourceError(
                f"{cells_file(path)}: describes the column '{name}', which {path.name} does not have; {nearest(name, columns)}; "
                "remove the file if it belongs to another table"
            )


def with_labels(data: Microdata, cells: Mapping[str, ColumnCells]) -> Microdata:
    """A table whose described columns hold their labels as text."""
    texts = {
        name: printed_texts(data.frame[name]) for name in cells if name in data.columns and data.frame.schema[name] != pl.String
    }
    made = data.with_columns(texts) if texts else data
    return made.with_cells({**made.cells, **cells})
