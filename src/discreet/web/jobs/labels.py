"""Value and variable labels of SPSS, Stata and SAS files, stored beside a Parquet file, which cannot hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from discreet.convert import read_source
from discreet.convert.files.cells_file import apply_cells, read_cells
from discreet.convert.writing.atomic import write_text
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy


def read_with_labels(table: Path, policy: Policy) -> Microdata:
    """Read a table under a policy, with its labels if it has any, and with what the cells of a release stand for."""
    data = read_source(table, _without_unknown_columns(policy, table)).with_policy(policy)
    if cells := read_cells(table):
        data = apply_cells(data, cells)
    labels_file = _labels_path(table)
    if not labels_file.is_file():
        return data
    labels = json.loads(labels_file.read_text(encoding="utf-8"))
    return replace(
        data,
        labels={name: dict(pairs) for name, pairs in labels["values"].items() if name in data.columns},
        variable_labels={name: label for name, label in labels["variables"].items() if name in data.columns},
    )


def _without_unknown_columns(policy: Policy, table: Path) -> Policy:
    """The policy without reading options of columns that the table lacks: they were set for another table of the project."""
    reading = policy.read
    if not reading.dates and not reading.text:
        return policy
    columns = set(pl.scan_parquet(table, glob=False, hive_partitioning=False).collect_schema().names())
    dates = {name: form for name, form in reading.dates.items() if name in columns}
    text = tuple(name for name in reading.text if name in columns)
    return policy.with_(read=reading.model_copy(update={"dates": dates, "text": text}))


def write_labels(table: Path, labels: Mapping[str, Mapping[Any, str]], variables: Mapping[str, str]) -> None:
    """Store labels beside a table; without labels, delete a stored file."""
    if labels or variables:
        values = {name: list(pairs.items()) for name, pairs in labels.items()}
        write_text(_labels_path(table), json.dumps({"values": values, "variables": dict(variables)}, default=str), private=True)
    else:
        _labels_path(table).unlink(missing_ok=True)


def has_labels(table: Path) -> bool:
    """Whether labels are stored beside a table."""
    return _labels_path(table).is_file()


def _labels_path(table: Path) -> Path:
    return table.with_suffix(".labels.json")
