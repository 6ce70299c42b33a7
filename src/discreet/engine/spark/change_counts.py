"""How many values each step of a plan changed: counted in hidden columns that the steps fill, in one pass at the end.

Where a step removes records, the counts of the earlier steps are added up before it, so that removed records are counted too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.hidden_columns import CHANGED
from discreet.engine.spark.joins import col

if TYPE_CHECKING:
    from discreet.engine.spark.batches import Masked
    from discreet.engine.spark.microdata import SparkMicrodata


class ChangeCounts:
    """The counts of the steps so far: ``totals`` by step, and the steps in ``pending`` whose columns are not added up yet."""

    def __init__(self) -> None:
        self.totals: dict[int, int] = {}
        self.pending: list[int] = []

    def after(self, before: SparkMicrodata, masked: Masked, step: int) -> SparkMicrodata:
        """The table after a step, with the step's counts in a column of its own."""
        frame = masked.table.frame.withColumnRenamed(CHANGED, _column_name(step))
        if masked.removed and self.pending:
            self._add_up(before)
            frame = frame.drop(*map(_column_name, self.pending))
            self.pending = []
        self.pending.append(step)
        return masked.table.replace(frame)

    def finish(self, table: SparkMicrodata) -> tuple[SparkMicrodata, dict[int, int]]:
        """The table without hidden counts, its size known, and how many values each step changed."""
        size = self._add_up(table)
        final = table.replace(table.frame.drop(*map(_column_name, self.pending)))
        final.__dict__["size"] = size
        return final, self.totals

    def _add_up(self, table: SparkMicrodata) -> int:
        """Add up the pending columns; returns the number of records."""
        from pyspark.sql import functions as f

        with translate_errors(table.source):
            sums = [f.sum(col(_column_name(step))) for step in self.pending]
            size, *counts = table.frame.agg(f.count(f.lit(1)), *sums).collect()[0]
        self.totals |= {step: int(count or 0) for step, count in zip(self.pending, counts, strict=True)}
        return int(size)


def _column_name(step: int) -> str:
    return f"{CHANGED} {step}"
