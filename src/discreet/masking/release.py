"""The table that is published: the masked table without anything that only the data controller may hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engine.encoding.record_links import link_table
from discreet.engine.encoding.release_order import shuffled_rows
from discreet.engine.runtime.dispatch import is_distributed
from discreet.model.cells import ColumnCells
from discreet.model.microdata import Microdata
from discreet.model.results import Release

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def release_table(release: Release) -> Microdata:
    """The table of a release as it is written to a file or a database.

    Its rows are in an order that depends on the release's key, not in the order of the source. Identifiers and person ids
    that no step masked are left out, and so are the labels of values that no longer occur. The plan's ``order: kept`` and
    ``identifiers: kept`` switch this off.
    """
    table, plan = release.masked, release.plan
    if left_out := withheld_columns(release):
        table = table.drop(left_out)
    if is_distributed(table):
        ordered = table.in_release_order(release.draw_key if plan.order == "shuffled" else None)
        table_with_cells: Microdata = ordered.with_cells(dict.fromkeys(ordered.cells)).with_cells(ordered.occurring_cells())
        return table_with_cells
    if (rows := _written_order(release)) is not None:
        table = table.take(rows)
    # a text column may share its buffer with rows that were dropped, and other libraries are handed the whole buffer
    frame = pl.DataFrame(table.frame.to_arrow(compat_level=pl.CompatLevel.oldest()))
    return Microdata(
        frame,
        table.policy,
        table.source,
        table.records,
        {name: used for name in table.columns if (used := _occurring_labels(table.labels.get(name, {}), table.frame[name]))},
        variable_labels={name: label for name, label in table.variable_labels.items() if name in table.columns},
        cells=released_cells(table),
    )


def _written_order(release: Release) -> NDArray[np.int64] | None:
    """The rows of the masked table in the order in which they are written; None where that is their own order."""
    return shuffled_rows(release.masked.records, release.draw_key) if release.plan.order == "shuffled" else None


def released_records(release: Release) -> NDArray[np.int64]:
    """The record number of each row as it is written, without the columns, whose rearrangement takes far longer."""
    rows = _written_order(release)
    return release.masked.records if rows is None else release.masked.records[rows]


def released_cells(table: Microdata) -> dict[str, ColumnCells]:
    """The meaning of the labels that still occur, for text columns only: an unused label would disclose a removed value."""
    released = {}
    for name, cells in table.cells.items():
        if name in table.columns and table.frame.schema[name] == pl.String:
            occurring = set(table.frame[name].unique().to_list())
            used = {label: cell for label, cell in cells.labels.items() if label in occurring}
            released[name] = ColumnCells(kind=cells.kind, labels=used)
    return released


def release_link(release: Release) -> Microdata:
    """The original record number of each released row, in the order of the release. Only the data controller may hold it."""
    if is_distributed(release.masked):
        numbers: Microdata = release_table(release).link()  # type: ignore[attr-defined]
        return numbers
    return Microdata(link_table(released_records(release)), source="the link")


def withheld_columns(release: Release) -> list[str]:
    """Unmasked identifiers and person ids that are left out of what is written."""
    return unmasked_identifiers(release) if release.plan.identifiers == "removed" else []


def unmasked_identifiers(release: Release) -> list[str]:
    """Identifiers and person ids in the masked table that no step masked."""
    masked = {name for entry in release.log for name in entry.columns}
    return [name for name in release.exposed if name not in masked]


def _occurring_labels(labels: Mapping[Any, str], column: pl.Series) -> dict[Any, str]:
    """The value labels of the codes that occur in a column."""
    if not labels:
        return {}
    occurring = set(column.unique().to_list())
    return {code: label for code, label in labels.items() if code in occurring}
