"""The score of a table of many records: the same numbers with little kept per record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from discreet.engine.encoding.columns import encode
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.summary import QUANTILES, quantiles
from discreet.engine.known_sets.sums import attributes, family_of
from discreet.engine.runtime.memory import PROGRAM, check_memory
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.known_sets.finer import can_sum_rows
from discreet.risks.known_sets.large import sums as large
from discreet.risks.known_sets.record_tables import list_riskiest, tabulate_records

if TYPE_CHECKING:
    from discreet.risks.known_sets.large.record_sums import LargeSums
    from discreet.risks.known_sets.measure import KnownSets


def measure_large(plugin: KnownSets, data: Microdata) -> Score | None:
    """The same numbers with little kept per record; none where that cannot be."""
    names = attributes(data)
    tree = family_of(data, names, plugin.epsilon, plugin.max_sets, plugin.knowledge)
    if not can_sum_rows(data, names, plugin.missing):
        return None
    sums = large.large_sums(data, names, tree)
    if sums is None:
        return None
    summary = sums.summarize(plugin.threshold, plugin.alpha)
    middle = sums.median_size()
    bounds = summary.bounds(len(data), middle)
    sums.forget_bounds()
    sums.risk *= plugin.alpha
    return Score(
        plugin.name,
        summary.fields(len(tree), len(data), quantiles(sums.risk, len(data), QUANTILES), middle),
        lambda: _tabulate_all(plugin, data),
        notes=summary.notes(len(data), bounds),
        riskiest=lambda number: _list_riskiest(plugin, data, sums, names, tree, number),
        bounds=bounds,
    )


def _tabulate_all(plugin: KnownSets, data: Microdata) -> pl.DataFrame:
    """One row per record of a large table, of which only the risks were kept."""
    codes = sum(column.codes.nbytes for column in encode(data, attributes(data)))
    need = PROGRAM + codes + plugin.working_bytes(data, len(data), by_record=True)
    check_memory(need, f"a row of known_sets for each of {len(data):,} records", "ask for the summary alone")
    sums = plugin.sums_of(data, None, everyone=True)
    return tabulate_records(plugin, data, sums, sums.per_record.lower * plugin.alpha, sums.per_record.upper * plugin.alpha, None)


def _list_riskiest(
    plugin: KnownSets, data: Microdata, sums: LargeSums, names: list[str], tree: Family, number: int
) -> pl.DataFrame:
    largest = large.sums_of_rows(data, names, tree, sums.rows(sums.largest(number)))
    return list_riskiest(plugin, largest, largest.per_record.risk * plugin.alpha, number)
