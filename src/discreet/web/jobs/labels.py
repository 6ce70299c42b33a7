"""The words for codes, as files of SPSS, Stata and SAS hold them, kept beside a Parquet file that cannot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.convert import read_source
from discreet.convert.files.cells_file import read_cells, with_labels
from discreet.convert.writing.atomic import write_text
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy


def read_with_labels(table: Path, policy: Policy) -> Microdata:
    """The table under a policy, with its labels where it has any, and what the cells of a release stand for."""
    data = read_source(table, policy)
    if cells := read_cells(table):
        data = with_labels(data, cells)
    place = _beside(table)
    if not place.is_file():
        return data
    held = json.loads(place.read_text(encoding="utf-8"))
    return replace(
        data,
        labels={name: dict(pairs) for name, pairs in held["values"].items() if name in data.columns},
        variable_labels={name: label for name, label in held["variables"].items() if name in data.columns},
    )


def keep_labels(table: Path, labels: Mapping[str, Mapping[Any, str]], variables: Mapping[str, str]) -> None:
    """Keep labels beside a table; nothing where there are none."""
    if labels or variables:
        values = {name: list(pairs.items()) for name, pairs in labels.items()}
        write_text(_beside(table), json.dumps({"values": values, "variables": dict(variables)}, default=str), private=True)
    else:
        _beside(table).unlink(missing_ok=True)


def has_labels(table: Path) -> bool:
    """Whether labels are kept beside a table."""
    return _beside(table).is_file()


def _beside(table: Path) -> Path:
    return table.with_suffix(".labels.json")
