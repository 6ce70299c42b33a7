"""What leaves the house: the masked table without anything that only its owner may hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from discreet.engine.encoding.record_links import link_of
from discreet.engine.encoding.release_order import shuffled_rows
from discreet.engine.runtime.dispatch import is_distributed
from discreet.model.cells import ColumnCells
from discreet.model.microdata import Microdata
from discreet.model.results import Release


def released(release: Release) -> Microdata:
    """The table of a release as it is written.

    The rows stand in an order that the release's key decides, not in that of the source. Identifiers and person ids that
    no step worked on are left out, and so are the labels of values that do not occur any more. The plan's ``order: kept``
    and ``identifiers: kept`` say otherwise.
    """
    table, plan = release.masked, release.plan
    if left_out := withheld(release):
        table = table.drop(left_out)
    if is_distributed(table):
        ordered = table.in_release_order(release.draw_key if plan.order == "shuffled" else None)
        made: Microdata = ordered.with_cells(dict.fromkeys(ordered.cells)).with_cells(ordered.occurring_cells())
        return made
    if plan.order == "shuffled":
        table = table.take(shuffled_rows(table.records, release.draw_key))
    # a text column may share its buffer with rows that were dropped, and other libraries are handed the whole buffer
    frame = pl.DataFrame(table.frame.to_arrow(compat_level=pl.CompatLevel.oldest()))
    return Microdata(
        frame,
        table.policy,
        table.source,
        table.records,
        {name: used for name in table.columns if (used := _occurring(table.labels.get(name, {}), table.frame[name]))},
        variable_labels={name: label for name, label in table.variable_labels.items() if name in table.columns},
        cells=released_cells(table),
    )


def released_cells(table: Microdata) -> dict[str, ColumnCells]:
    """What the labels that occur stand for: columns of text alone, and no label of which nothing is left."""
    made = {}
    for name, cells in table.cells.items():
        if name in table.columns and table.frame.schema[name] == pl.String:
            held = set(table.frame[name].unique().to_list())
            used = {label: cell for label, cell in cells.labels.items() if label in held}
            made[name] = ColumnCells(kind=cells.kind, labels=used)
    return made


def link(release: Release) -> Microdata:
    """For each row as it is written the number of its original: what only the owner may hold."""
    table = released(release)
    if is_distributed(table):
        numbers: Microdata = table.link()
        return numbers
    return Microdata(link_of(table), source="the link")


def withheld(release: Release) -> list[str]:
    """Identifiers and person ids that are in the masked table as they were, and are not written."""
    return untouched(release) if release.plan.identifiers == "removed" else []


def untouched(release: Release) -> list[str]:
    """Identifiers and person ids in the masked table that no step worked on."""
    worked_on = {name for entry in release.log for name in entry.columns}
    return [name for name in release.exposed if name not in worked_on]


def _occurring(labels: Mapping[Any, str], column: pl.Series) -> dict[Any, str]:
    held = set(column.unique().to_list())
    return {code: label for code, label in labels.items() if code in held}
