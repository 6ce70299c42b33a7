"""Full-domain generalization on Spark: the driver searches the lattice, and the workers recode the records.

The search needs only the number of records with each combination of keys (and sensitive values), so it finds the same optimum as
the local engine. The label of each value and the combinations of labels to suppress are sent to the workers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.cells.handover import describe_labels
from discreet.engine.cells.hierarchies import hierarchy_of
from discreet.engine.spark.batches import (
    Masked,
    ReplaceValues,
    build_local_table,
    change_columns,
    leave_unchanged,
    look_up_values,
)
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.gaps import refuse_quantile_hierarchies
from discreet.engine.spark.joins import COUNT, count_distinct_rows
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.masking.generalization.method import MAX_COMBINATIONS, TOO_MANY_COMBINATIONS
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engine.draws.draw import KeyedDraw


def generalization(plugin: Any, data: SparkMicrodata, columns: tuple[str, ...], _: KeyedDraw) -> Masked:
    """Find the node of least loss from the combinations that occur, then recode the records batch by batch."""
    plugin.check(data.shape, columns)
    names = tuple(dict.fromkeys((*columns, *plugin.protected(data.shape))))
    refuse_quantile_hierarchies(plugin, data, names)
    with translate_errors(data.source):
        combinations = pl.DataFrame(count_distinct_rows(data.frame, names).limit(MAX_COMBINATIONS + 1).toArrow())
    if len(combinations) > MAX_COMBINATIONS:
        TOO_MANY_COMBINATIONS.refuse(plugin, data.engine)
    if not len(combinations):
        return Masked(change_columns(data, leave_unchanged))
    rows, counts = build_local_table(data, {name: combinations[name] for name in names}), combinations[COUNT].to_numpy()
    optimum = plugin.search_full_domain(rows, columns, counts)
    labels, suppressed_rows = optimum.columns, optimum.suppressed
    generalized = rows.frame.select(columns).with_columns(labels.values())
    tables = {
        name: pl.DataFrame({"old": rows.frame[name], "new": generalized[name]}).unique(subset="old", maintain_order=True)
        for name in labels
    }
    suppressed = generalized.filter(pl.Series(suppressed_rows)).unique().with_columns(gone=pl.lit(True))
    stage = _Generalized(columns, ReplaceValues(tables), suppressed, blank=plugin.suppressed == "blank")
    types = {name: generalized.schema[name] for name in labels}
    cells = {name: describe_labels(rows, name, series, hierarchy=hierarchy_of(rows, name)) for name, series in labels.items()}
    if plugin.suppressed == "blank" or not suppressed_rows.any():
        return Masked(change_columns(data, stage, types).with_cells(cells))
    return Masked(change_columns(data, stage, types, stage.keep).with_cells(cells), int(counts[suppressed_rows].sum()))


@dataclass(frozen=True)
class _Generalized:
    """New labels for the keys, and nulls where their combination is suppressed."""

    columns: tuple[str, ...]
    labels: ReplaceValues
    suppressed: pl.DataFrame
    blank: bool

    def __call__(self, data: Microdata) -> Mapping[str, pl.Series]:
        new_values = dict(self.labels(data))
        if self.blank and len(self.suppressed):
            flags = pl.Series(~self.keep(data))
            new_values = {name: new_values.get(name, data.frame[name]).set(flags, None) for name in self.columns}
        return new_values

    def keep(self, data: Microdata) -> NDArray[np.bool_]:
        """Records whose labels are not suppressed."""
        if not len(self.suppressed):
            return np.ones(len(data), dtype=np.bool_)
        labels = self.labels(data)
        frame = pl.DataFrame([labels.get(name, data.frame[name]).alias(name) for name in self.columns])
        return look_up_values(frame, self.suppressed)["gone"].is_null().to_numpy()
